// The verifier's verdicts about many changed files stay the same: for each model file that fuzzers begin with,
// verdicts.txt has the number of changes tried, the number of files that opened all the same, and a hash of every
// verdict. A check that is weakened, removed or out of order changes a row; so does a change of the schema or of the
// files that `bantam convert` writes. BANTAM_VERDICTS=write writes the rows anew; BANTAM_VERDICTS=FILE writes each
// verdict of the chosen tests to FILE, so that the verdicts of two builds can be compared.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>
#include <map>
#include <sstream>
#include <string>
#include <tuple>
#include <vector>

#include "bantam/model.h"
#include "tests/fuzz/bytes_of.h"
#include "tests/fuzz/model_mutator.h"
#include "tests/fuzz/model_tree.h"

namespace bantam::fuzz {
namespace {

namespace fs = std::filesystem;

using Bytes = std::vector<uint8_t>;

const fs::path kTable = BANTAM_SOURCE_DIR "/tests/fuzz/verdicts.txt";
const fs::path kSeeds = BANTAM_FUZZ_SEEDS;
constexpr size_t kLargest = size_t{1} << 20;
constexpr uint64_t kPairs = 2000;     // files with two or three numbers changed
constexpr uint64_t kTrees = 400;      // files changed by the schema
constexpr size_t kAlike = 4;          // equal numbers of a field that are changed one by one
constexpr size_t kWordsOfTable = 48;  // of data, from the first of a blob

struct Row {
  uint64_t tried = 0, opened = 0;
  uint64_t hash = 0xCBF29CE484222325U;
};

/// The rows of verdicts.txt: NAME TRIED OPENED HASH.
std::map<std::string, Row> read_table() {
  std::map<std::string, Row> rows;
  std::ifstream file(kTable);
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::string name;
    Row row;
    if (words >> name >> row.tried >> row.opened >> std::hex >> row.hash) rows[name] = row;
  }
  return rows;
}

void write_table(const std::map<std::string, Row>& rows) {
  std::ofstream file(kTable);
  for (const auto& [name, row] : rows) {
    char line[200];
    std::snprintf(line, sizeof(line), "%s %llu %llu %016llx\n", name.c_str(),
                  static_cast<unsigned long long>(row.tried), static_cast<unsigned long long>(row.opened),
                  static_cast<unsigned long long>(row.hash));
    file << line;
  }
}

const char* wish() { return std::getenv("BANTAM_VERDICTS"); }
bool writes_table() { return wish() != nullptr && std::string(wish()) == "write"; }

/// Numbers that a number of this kind may become: near it, and what sizes, counts and places are seldom ready for.
std::vector<uint64_t> odd_numbers(const Slot& slot, uint64_t number) {
  std::vector<uint64_t> all;
  const auto add_float = [&](double value) {
    uint64_t bits = 0;
    if (slot.base == reflection::Float) {
      const auto single = static_cast<float>(value);
      std::memcpy(&bits, &single, sizeof(single));
    } else {
      std::memcpy(&bits, &value, sizeof(value));
    }
    all.push_back(bits);
  };
  if (slot.base == reflection::Float || slot.base == reflection::Double) {
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    for (const double value : {0.0, -1.0, 1.0, 1e-30, 2e6, -2e6, 1e30, 3e38, kInfinity, -kInfinity, std::nan("")})
      add_float(value);
  } else if (slot.index >= 0) {
    const auto& values = *schema().enums()->Get(static_cast<flatbuffers::uoffset_t>(slot.index))->values();
    for (uint64_t value = 0; value < values.size() + 1; ++value) all.push_back(value);
  } else if (slot.base == reflection::Bool) {
    all = {number ^ 1, 2};
  } else {
    all = {
        0,     1,       2,          number + 1, number - 1, number * 2, number / 2,       number + 16, number ^ 1 << 16,
        66312, 1 << 22, 0x7FFFFFFF, 0x80000000, 0xFFFFFFF0, UINT64_MAX, uint64_t{1} << 40};
  }
  return all;
}

/// Changes one file, opens it after each change, and puts back what was there.
class Judge {
 public:
  Judge(const Bytes& seed, const Bytes& other) : file_(seed), other_(other), seed_(seed) {
    if (wish() != nullptr && !writes_table()) log_.open(wish(), std::ios::app);
  }

  Row run() {
    FileHeader header;
    const uint8_t* graph = graph_of(file_, &header);
    if (graph == nullptr) return row_;
    graph_ = static_cast<size_t>(header.graph_offset);
    data_ = static_cast<size_t>(header.data_offset);
    slots_ = slots_of(graph);
    change_header();
    change_numbers();
    change_equal_numbers();
    change_layout(layout_of(graph));
    change_words_of_data();
    change_pairs();
    change_trees();
    return row_;
  }

 private:
  void add(uint64_t number) {
    row_.hash = (row_.hash ^ number) * 0x9E3779B97F4A7C15U;
    row_.hash ^= row_.hash >> 32;
  }
  void judge(const Bytes& file, const char* how, size_t at) {
    Model model;
    Fault fault;
    const Status status = Model::open(file.data(), file.size(), &model, &fault);
    ++row_.tried;
    row_.opened += status == Status::kOk ? 1 : 0;
    add(static_cast<uint64_t>(status));
    const char* what = status == Status::kOk ? "" : fault.what;
    for (const char* c = what; *c != '\0'; ++c) add(static_cast<uint8_t>(*c));
    if (log_.is_open())
      log_ << row_.tried << ' ' << how << ' ' << at << ' ' << static_cast<int>(status) << ' ' << what << '\n';
  }

  void put(size_t at, uint64_t number, size_t size) {
    if (at + size <= file_.size()) std::memcpy(file_.data() + at, &number, size);
  }
  void put_back() { file_ = seed_; }
  void put_back(size_t at, size_t size) {
    if (at + size <= file_.size()) std::memcpy(file_.data() + at, seed_.data() + at, size);
  }
  uint64_t number_at(size_t at, size_t size) const {
    uint64_t number = 0;
    if (at + size <= seed_.size()) std::memcpy(&number, seed_.data() + at, size);
    return number;
  }
  void change(const char* how, size_t at, uint64_t number, size_t size) {
    put(at, number, size);
    judge(file_, how, at);
    put_back(at, size);
  }

  void change_header() {
    for (size_t at = 0; at < kFileAlignment; at += 4) {
      const uint64_t word = number_at(at, 4);
      for (const uint64_t number : {uint64_t{0}, word + 1, word - 1, word + 64, word * 2, uint64_t{0xFFFFFFFF}})
        change("header", at, number, 4);
    }
    for (const size_t size : {size_t{0}, size_t{63}, size_t{64}, graph_, data_, file_.size() - 1, file_.size() - 64})
      judge(Bytes(seed_.begin(), seed_.begin() + static_cast<std::ptrdiff_t>(size)), "size", size);
  }

  void change_numbers() {
    std::map<std::pair<const reflection::Field*, uint64_t>, size_t> alike;  // layers repeat what others have
    for (const Slot& slot : slots_) {
      const size_t at = graph_ + slot.at, size = flatbuffers::GetTypeSize(slot.base);
      if (++alike[{slot.field, number_at(at, size)}] > kAlike) continue;
      for (const uint64_t number : odd_numbers(slot, number_at(at, size))) change("number", at, number, size);
    }
  }

  /// All numbers of a field that are equal become another: widths, types, places.
  void change_equal_numbers() {
    std::map<std::tuple<size_t, uint64_t>, std::vector<size_t>> equal;  // by the first slot of the field
    std::map<const reflection::Field*, size_t> first;
    for (const Slot& slot : slots_) first.emplace(slot.field, slot.at);
    for (size_t i = 0; i < slots_.size(); ++i) {
      const uint64_t number = number_at(graph_ + slots_[i].at, flatbuffers::GetTypeSize(slots_[i].base));
      equal[{first[slots_[i].field], number}].push_back(i);
    }
    for (const auto& [key, places] : equal) {
      if (places.size() < 2) continue;
      const Slot& slot = slots_[places[0]];
      const size_t size = flatbuffers::GetTypeSize(slot.base);
      for (const uint64_t number : odd_numbers(slot, std::get<1>(key))) {
        for (const size_t place : places) put(graph_ + slots_[place].at, number, size);
        judge(file_, "equal numbers", slot.at);
        for (const size_t place : places) put_back(graph_ + slots_[place].at, size);
      }
    }
  }

  /// Fields are absent; vectors have other counts, and elements twice or in another order.
  void change_layout(const Layout& layout) {
    constexpr size_t kOffset = sizeof(flatbuffers::uoffset_t);
    for (const size_t entry : layout.fields) change("no field", graph_ + entry, 0, sizeof(uint16_t));
    for (size_t i = 0; i < layout.vectors.size(); ++i) {
      const size_t at = graph_ + layout.vectors[i];
      const uint64_t count = number_at(at, kOffset);
      for (const uint64_t number : {uint64_t{0}, uint64_t{1}, count - 1, count / 2, count + 1, uint64_t{0x40000000}})
        change("count", at, number, kOffset);
      for (uint64_t element = 1; layout.offsets[i] && element < std::min<uint64_t>(count, 64); ++element) {
        const size_t here = at + kOffset * (1 + element), before = here - kOffset;
        const uint64_t own = number_at(here, kOffset), others = number_at(before, kOffset);
        change("twice", here, others - kOffset, kOffset);
        put(before, own + kOffset, kOffset);
        change("order", here, others - kOffset, kOffset);
        put_back(before, kOffset);
      }
    }
  }

  /// False for most weights: no change of the blob's first words changes the verdict.
  bool is_read(size_t place) {
    const uint64_t opened = row_.opened, tried = row_.tried;
    for (size_t at = place; at < place + 32 && at + 4 <= file_.size(); at += 4) change("data", at, 0xFFFFFFFF, 4);
    return row_.opened - opened != row_.tried - tried;
  }

  /// The first words of every blob: tables of tokenizers say there what follows.
  void change_words_of_data() {
    std::vector<size_t> places;
    for (const Slot& slot : slots_) {
      if (slot.base == reflection::ULong) places.push_back(data_ + number_at(graph_ + slot.at, sizeof(uint64_t)));
    }
    std::sort(places.begin(), places.end());
    places.erase(std::unique(places.begin(), places.end()), places.end());
    for (const size_t place : places) {
      if (!is_read(place)) continue;
      for (size_t at = place; at < place + 4 * kWordsOfTable && at + 4 <= file_.size(); at += 4) {
        const uint64_t word = number_at(at, 4);
        for (const uint64_t number : {uint64_t{0}, word + 1, word - 1, word ^ 1 << 16, word ^ 0x80000000, word * 2,
                                      uint64_t{66312}, uint64_t{0xFFFFFFFF}})
          change("data", at, number, 4);
      }
    }
  }

  void change_pairs() {
    std::mt19937_64 random(1);
    for (uint64_t i = 0; i < kPairs; ++i) {
      for (uint64_t n = 2 + random() % 2; n > 0; --n) {
        const Slot& slot = slots_[random() % slots_.size()];
        change_number(file_.data() + graph_ + slot.at, slot.base, slot.index, random);
        changed_.push_back(graph_ + slot.at);
      }
      judge(file_, "pair", static_cast<size_t>(i));
      for (const size_t at : changed_) put_back(at, sizeof(uint64_t));
      changed_.clear();
    }
  }

  void change_trees() {
    for (uint64_t i = 0; i < kTrees; ++i) {
      const auto made = mutate_model(seed_, other_, i, kLargest);
      if (made) judge(*made, "tree", static_cast<size_t>(i));
    }
  }

  Bytes file_;
  const Bytes& other_;
  const Bytes& seed_;
  size_t graph_ = 0, data_ = 0;
  std::vector<Slot> slots_;
  std::vector<size_t> changed_;
  std::ofstream log_;
  Row row_;
};

std::vector<std::string> names() {
  std::vector<std::string> all;
  if (writes_table()) {
    for (const auto& entry : fs::directory_iterator(kSeeds)) all.push_back(entry.path().filename().string());
    std::sort(all.begin(), all.end());
  } else {
    for (const auto& row : read_table()) all.push_back(row.first);
  }
  return all;
}

std::string test_name(const testing::TestParamInfo<std::string>& info) {
  std::string name = info.param;
  std::replace_if(
      name.begin(), name.end(), [](char c) { return std::isalnum(static_cast<unsigned char>(c)) == 0; }, '_');
  return name;
}

class Verdicts : public testing::TestWithParam<std::string> {};

TEST_P(Verdicts, AreWhatTheyWere) {
  const std::vector<std::string> all = names();
  const auto place = static_cast<size_t>(std::find(all.begin(), all.end(), GetParam()) - all.begin());
  const Bytes seed = bytes_of(kSeeds / GetParam()), other = bytes_of(kSeeds / all[(place + 1) % all.size()]);
  ASSERT_FALSE(seed.empty() || other.empty()) << kSeeds << ": a file is missing; ctest -R fuzz_seed makes them";
  const Row row = Judge(seed, other).run();
  std::map<std::string, Row> rows = read_table();
  if (writes_table()) {
    rows[GetParam()] = row;
    write_table(rows);
  }
  const Row& wanted = rows[GetParam()];
  EXPECT_EQ(row.tried, wanted.tried);
  EXPECT_EQ(row.opened, wanted.opened);
  EXPECT_EQ(row.hash, wanted.hash) << "if the verifier is to judge so: BANTAM_VERDICTS=write, and look at the counts";
}
INSTANTIATE_TEST_SUITE_P(Seeds, Verdicts, testing::ValuesIn(names()), test_name);

TEST(VerdictsTable, HasEverySeed) {
  const std::map<std::string, Row> rows = read_table();
  for (const auto& entry : fs::directory_iterator(kSeeds)) {
    EXPECT_EQ(rows.count(entry.path().filename().string()), 1U) << entry.path() << " has no row in " << kTable;
  }
}

}  // namespace
}  // namespace bantam::fuzz
