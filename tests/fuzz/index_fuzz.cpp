// An untrusted search index: it is refused by an Error, or searched without reading outside its arrays.
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "base/error.h"
#include "search/hits.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  // As aligned as a mapped file.
  const std::unique_ptr<uint8_t, decltype(&std::free)> bytes(
      static_cast<uint8_t*>(std::aligned_alloc(64, (size + 64) / 64 * 64)), &std::free);
  if (size != 0) std::memcpy(bytes.get(), data, size);
  try {
    const bantam::convert::SearchIndex index(bytes.get(), size, "index");
    const std::vector<float> query(index.of_terms() ? 0 : index.width(), 0.5F);
    size_t letters = 0;
    const std::vector<bantam::Candidate> terms = {{0, 1.0F}, {1, 2.0F}, {70000, 1.0F}};
    const auto nearest = index.of_terms() ? find_by_terms(index, terms, 3) : find_nearest(index, query, 3);
    for (const bantam::convert::Found& found : nearest) letters += index.text(found.entry).size();
    const bantam::convert::IndexContents contents = index.contents();
    if (contents.records.size() != index.records() || letters > 3 * size) std::abort();
    if (index.field_count() > 0) {
      const std::string name(index.field(0));
      const auto allowed = bantam::convert::entries_where(index, "index", "where", {{name, "red"}, {name, "3"}});
      if (allowed.size() != index.count()) std::abort();
    }
    bantam::convert::hits_json(index, "index", "query", nearest);
  } catch (const bantam::convert::Error&) {  // refused
    return 0;
  }
  return 0;
}
