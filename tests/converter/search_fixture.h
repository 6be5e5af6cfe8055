// Indexes for tests of the search: opened from bytes, and records with ids, fields and chunks.
#ifndef BANTAM_TESTS_CONVERTER_SEARCH_FIXTURE_H_
#define BANTAM_TESTS_CONVERTER_SEARCH_FIXTURE_H_

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "search/index_file.h"

namespace bantam::convert::test {

inline std::vector<float> random_vector(std::mt19937& random, uint32_t width) {
  std::normal_distribution<float> normal;
  std::vector<float> vector(width);
  for (float& v : vector) v = normal(random);
  return vector;
}

/// An index over bytes with the alignment of a mapped file.
class OpenedIndex {
 public:
  explicit OpenedIndex(const std::vector<uint8_t>& bytes)
      : bytes_(static_cast<uint8_t*>(std::aligned_alloc(64, (bytes.size() + 64) / 64 * 64)), &std::free) {
    if (!bytes.empty()) std::memcpy(bytes_.get(), bytes.data(), bytes.size());
    index_ = std::make_unique<SearchIndex>(bytes_.get(), bytes.size(), "an index");
  }
  const SearchIndex& operator*() const { return *index_; }
  const SearchIndex* operator->() const { return index_.get(); }

 private:
  std::unique_ptr<uint8_t, decltype(&std::free)> bytes_;
  std::unique_ptr<SearchIndex> index_;
};

/// Records of 1 to 4 chunks with the ids "r0", "r1", ..., the field "team" (one of "red", "blue" and a list of both; the
/// fourth has none) and the field "number" (0, 1, 2, ...). Record number 2 has been removed.
inline IndexContents some_records(uint32_t seed, uint32_t count, uint32_t width) {
  std::mt19937 random(seed);
  IndexContents contents;
  contents.model = "0123";
  contents.model_name = "a.bantam";
  contents.width = width;
  contents.fields = {"team", "number"};
  contents.settings.text_field = "body";
  contents.settings.id_field = "key";
  contents.settings.stride = 3;
  const char* const teams[] = {"\"red\"", "\"blue\"", "[\"red\",\"blue\"]", ""};
  for (uint32_t i = 0; i < count; ++i) {
    IndexedRecord& record = contents.append();
    record.id = "r" + std::to_string(i);
    record.values = {teams[i % 4], std::to_string(i)};
    for (uint32_t chunk = 0; chunk <= i % 4; ++chunk) {
      record.texts.push_back(
          round_vector(record.id + " chunk " + std::to_string(chunk), random_vector(random, width), false));
    }
  }
  contents.records.erase(contents.records.begin() + 1);
  return contents;
}

}  // namespace bantam::convert::test

#endif  // BANTAM_TESTS_CONVERTER_SEARCH_FIXTURE_H_
