// The verifier's verdicts on many changed files stay the same. For each seed file of the fuzzers, verdicts.txt has the
// number of changes tried, the number of changed files that opened, and a hash of all verdicts. A check that is
// weakened, removed or reordered changes a row; so does a change of the schema or of the files that `bantam convert`
// writes. BANTAM_VERDICTS=write rewrites the rows. BANTAM_VERDICTS=FILE writes each verdict of the selected tests to
// FILE, to compare the verdicts of two builds.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "bantam/model.h"
#include "tests/fuzz/bytes_of.h"
#include "tests/fuzz/file_changes.h"

namespace bantam::fuzz {
namespace {

namespace fs = std::filesystem;

using Bytes = std::vector<uint8_t>;

const fs::path kTable = BANTAM_SOURCE_DIR "/tests/fuzz/verdicts.txt";
const std::string kChosen = BANTAM_SOURCE_DIR "/tests/fuzz/chosen.txt";
const fs::path kSeeds = BANTAM_FUZZ_SEEDS;

struct Row {
  uint64_t tried = 0, opened = 0;
  uint64_t hash = 0xCBF29CE484222325U;
};

/// Reads the rows of verdicts.txt: NAME TRIED OPENED HASH.
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

/// Records the verdict on every change of a file.
class Verdict {
 public:
  Verdict() {
    if (wish() != nullptr && !writes_table()) log_.open(wish(), std::ios::app);
  }

  Row of(const std::string& name, const Bytes& seed, const Bytes& other) {
    FileChanges changes(seed, other, [this](const Bytes& file, const char* kind, uint64_t number) {
      return judge(file, kind, number);
    });
    changes.try_tested(kChosen, name);
    return row_;
  }

 private:
  void add(uint64_t number) {
    row_.hash = (row_.hash ^ number) * 0x9E3779B97F4A7C15U;
    row_.hash ^= row_.hash >> 32;
  }

  bool judge(const Bytes& file, const char* kind, uint64_t number) {
    Model model;
    Fault fault;
    const Status status = Model::open(file.data(), file.size(), &model, &fault);
    ++row_.tried;
    row_.opened += status == Status::kOk ? 1 : 0;
    add(static_cast<uint64_t>(status));
    const char* what = status == Status::kOk ? "" : fault.what;
    for (const char* c = what; *c != '\0'; ++c) add(static_cast<uint8_t>(*c));
    if (log_.is_open())
      log_ << row_.tried << ' ' << kind << ' ' << number << ' ' << static_cast<int>(status) << ' ' << what << '\n';
    return status == Status::kOk;
  }

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
  const Row row = Verdict().of(GetParam(), seed, other);
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
