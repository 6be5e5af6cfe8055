// Keys that Fields records, the rows of the tables, and the list that a file stores.
#include "source/keys.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "base/error.h"
#include "source/fields.h"

namespace bantam::convert {
namespace {

TEST(Keys, FieldsKeepsWhatIsAskedFor) {
  const Json json = {{"a", 1}, {"b", {{"c", true}}}, {"list", {{{"d", "x"}}}}, {"unread", 1}};
  Problems problems;
  KeyReads reads;
  const Fields fields(json, "config.json", problems, &reads);
  fields.count("a", 9);
  fields.inside("b").flag("c", false);
  fields.inside("list", 0).text("d", "");
  fields.with(json).has("missing");
  EXPECT_EQ(reads, (KeyReads{"a", "b", "b.c", "list", "list[].d", "missing"}));
}

TEST(Keys, ListsAreStoredAndReadAgain) {
  const std::vector<SourceKey> keys = {{"config.json", "odd \"key\"\xff", "[1]", "it"}, {"f", "k", "v", "e"}};
  const std::vector<SourceKey> again = parse_source_keys(source_keys_json(keys));
  ASSERT_EQ(again.size(), 2U);
  EXPECT_EQ(again[0].key, "odd \"key\"\xEF\xBF\xBD");
  EXPECT_EQ(to_line(again[1]), "f: k: v: e");
  for (const char* damaged : {"", "{", "3", "[[]"}) EXPECT_TRUE(parse_source_keys(damaged).empty()) << damaged;
  EXPECT_EQ(parse_source_keys("[1,{\"file\":2}]").size(), 2U);
}

TEST(Keys, UnsupportedRowsNameAValueWithoutEffect) {
  for (const KeyRow& row : key_rows()) {
    EXPECT_NE(std::string(row.path), "");
    EXPECT_TRUE(row.state != KeyState::kUnsupported || *row.neutral != 0) << row.path;
  }
}

/// A directory with only a config.json.
class KeysOfSource : public ::testing::Test {
 protected:
  KeysOfSource() : directory_(std::filesystem::path(::testing::TempDir()) / "keys_test") {
    std::filesystem::create_directories(directory_);
    std::ofstream(directory_ / "config.json") << "{}";
    source_.files = std::make_shared<const Directory>(directory_);
  }
  ~KeysOfSource() override { std::filesystem::remove_all(directory_); }

  std::vector<SourceKey> keys_of(const Json& config) {
    source_.config = config;
    return unread_keys(source_, use_);
  }

  std::filesystem::path directory_;
  ModelSource source_;
  KeyUse use_;
};

TEST_F(KeysOfSource, ReadKeysAreSupportedWhateverTheRowSays) {
  const Json config = {{"pooler_act", "relu"}, {"odd", 1}};
  EXPECT_EQ(keys_of(config).size(), 2U);
  const KeyReads reads = {"pooler_act", "odd"};
  use_.reads = &reads;
  EXPECT_TRUE(keys_of(config).empty());
}

TEST_F(KeysOfSource, NumbersCompareByValue) {
  use_.generates = true;
  EXPECT_TRUE(keys_of({{"diversity_penalty", 0.0}, {"num_beam_groups", 1.0}}).empty());
  EXPECT_EQ(keys_of({{"diversity_penalty", 0.5}, {"num_beam_groups", 2}}).size(), 2U);
}

TEST_F(KeysOfSource, ManyAndLongKeysOfStrangersTakeLinearTime) {
  Json config = Json::object();
  for (int i = 0; i < 50000; ++i) config["odd" + std::to_string(i)] = i;
  config[std::string(1U << 20, 'a')] = std::string(1U << 20, 'b');
  const std::vector<SourceKey> keys = keys_of(config);
  ASSERT_EQ(keys.size(), kMostSourceKeys);
  EXPECT_EQ(keys.back().effect, "49938 further keys are left out of this list");
  for (const SourceKey& key : keys) EXPECT_LE(key.key.size() + key.value.size(), 200U);
}

}  // namespace
}  // namespace bantam::convert
