// Records of an index: numbers, ids, fields, chunks, and conditions on fields.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>

#include "base/error.h"
#include "search/hits.h"
#include "tests/converter/search_fixture.h"

namespace bantam::convert {
namespace {

using test::OpenedIndex;
using test::random_vector;
using test::some_records;

TEST(SearchRecords, AreReadBackAsWritten) {
  const IndexContents contents = some_records(1, 30, 12);
  const std::vector<uint8_t> bytes = index_bytes(contents);
  const OpenedIndex index(bytes);
  EXPECT_EQ(index_bytes(index->contents()), bytes);
  EXPECT_EQ(index->records(), 29U);
  EXPECT_TRUE(index->has_chunks());
  EXPECT_EQ(index->contents().last_record, 30U);
  EXPECT_EQ(index->settings().text_field, "body");
  EXPECT_EQ(index->settings().id_field, "key");
  EXPECT_EQ(index->settings().stride, 3U);
  uint32_t entry = 0;
  for (uint32_t r = 0; r < index->records(); ++r) {
    const IndexedRecord& record = contents.records[r];
    for (const IndexedText& text : record.texts) {
      EXPECT_EQ(index->place(entry), r);
      EXPECT_EQ(index->number(entry), record.number);
      EXPECT_EQ(index->id(r), record.id);
      EXPECT_EQ(index->text(entry), text.text);
      const auto fields = stored_fields(*index, "an index", entry++);
      ASSERT_EQ(fields.size(), record.values[0].empty() ? 1U : 2U);
      EXPECT_EQ(fields.back(), std::make_pair(std::string("number"), record.values[1]));
      EXPECT_EQ(fields.front().second, record.values[fields.size() == 2 ? 0 : 1]);
    }
  }
  EXPECT_EQ(entry, index->count());
}

TEST(SearchRecords, PlainTextsNeedNoNumbers) {
  IndexContents contents = {"0123", "a.bantam", 4, false, {}};
  for (int i = 0; i < 3; ++i) contents.append(round_vector("text", {1, 0, 0, 0}, false));
  EXPECT_EQ(OpenedIndex(index_bytes(contents))->contents().last_record, 3U);
  contents.records.pop_back();
  contents.append(round_vector("text", {1, 0, 0, 0}, false));
  const OpenedIndex changed(index_bytes(contents));
  EXPECT_EQ(changed->number(2), 4U);  // a number is never given twice
  EXPECT_EQ(changed->contents().last_record, 4U);
  EXPECT_FALSE(changed->has_chunks());
}

/// Files of bantam 0.9 (tests/fuzz/corpus) have no part about records.
TEST(SearchRecords, OlderFilesOpen) {
  for (const char* name : {"small", "compact"}) {
    const SearchIndex index(std::string(BANTAM_SOURCE_DIR) + "/tests/fuzz/corpus/index/" + name);
    EXPECT_GT(index.count(), 0U);
    EXPECT_EQ(index.records(), index.count());
    EXPECT_EQ(index.number(index.count() - 1), index.count());
    EXPECT_FALSE(index.has_ids());
    EXPECT_EQ(index.field_count(), 0U);
    EXPECT_EQ(index.contents().last_record, index.count());
    EXPECT_FALSE(find_nearest(index, std::vector<float>(index.width(), 1.0F), 3).empty());
  }
}

TEST(SearchRecords, NumbersEnd) {
  IndexContents contents = some_records(1, 3, 4);
  contents.last_record = UINT32_MAX;
  EXPECT_THROW(contents.append(), Error);
}

/// Returns the best score of each record, by its number, of those that `allowed` has.
std::map<uint32_t, float> best_of_records(const SearchIndex& index, const std::vector<float>& query,
                                          const Allowed& allowed) {
  std::map<uint32_t, float> best;
  // Every entry is a candidate of a search for as many.
  IndexContents apart = index.contents();
  IndexContents flat = {"0123", "a.bantam", index.width(), false, {}};
  for (IndexedRecord& record : apart.records) {
    for (IndexedText& text : record.texts) flat.append(std::move(text));
  }
  const OpenedIndex opened(index_bytes(flat));
  for (const Found& found : find_nearest(*opened, query, opened->count())) {
    if (!allowed.empty() && allowed[found.entry] == 0) continue;
    best.emplace(index.number(found.entry), found.score);  // the first is the best
  }
  return best;
}

TEST(SearchRecords, AHitIsTheBestChunkOfARecord) {
  const OpenedIndex index(index_bytes(some_records(4, 400, 24)));
  std::mt19937 random(3);
  for (int q = 0; q < 20; ++q) {
    const std::vector<float> query = random_vector(random, 24);
    const bool filtered = q % 2 == 1;
    const Allowed allowed = filtered ? entries_where(*index, "an index", "--where", {{"team", "blue"}}) : Allowed();
    std::vector<std::pair<float, uint32_t>> wanted;
    for (const auto& [number, score] : best_of_records(*index, query, allowed)) wanted.emplace_back(-score, number);
    std::sort(wanted.begin(), wanted.end());
    for (const uint32_t top : {1U, 10U, 1000U}) {
      const std::vector<Found> found = find_nearest(*index, query, top, Isa::kAuto, Length::kDivided, allowed);
      ASSERT_EQ(found.size(), std::min<size_t>(top, wanted.size()));
      for (size_t i = 0; i < found.size(); ++i) {
        EXPECT_EQ(index->number(found[i].entry), wanted[i].second) << i;
        EXPECT_EQ(found[i].score, -wanted[i].first);
      }
    }
  }
}

/// One record has almost all chunks that are near: there are candidates of others all the same.
TEST(SearchRecords, ManyChunksOfOneRecordHideNoOther) {
  IndexContents contents = {"0123", "a.bantam", 4, false, {}};
  for (uint32_t r = 0; r < 60; ++r) {
    IndexedRecord& record = contents.append();
    for (uint32_t chunk = 0; chunk < (r == 7 ? 1000U : 1U); ++chunk) {
      const float away = r == 7 ? 0.0001F * static_cast<float>(chunk) : 1 + 0.1F * static_cast<float>(r);
      record.texts.push_back(round_vector("text", {1, away, 0, 0}, false));
    }
  }
  const OpenedIndex index(index_bytes(contents));
  const std::vector<Found> found = find_nearest(*index, {1, 0, 0, 0}, 3);
  ASSERT_EQ(found.size(), 3U);
  EXPECT_EQ(index->number(found[0].entry), 8U);
  EXPECT_EQ(index->number(found[1].entry), 1U);
  EXPECT_EQ(index->number(found[2].entry), 2U);
}

std::vector<std::string> ids_where(const SearchIndex& index, const std::vector<Condition>& conditions) {
  const Allowed allowed = entries_where(index, "an index", "--where", conditions);
  std::vector<std::string> ids;
  for (uint32_t i = 0; i < index.count(); ++i) {
    const std::string id(index.id(index.place(i)));
    if (allowed[i] != 0 && (ids.empty() || ids.back() != id)) ids.push_back(id);
  }
  return ids;
}

TEST(SearchRecords, ConditionsHoldTogether) {
  IndexContents contents = some_records(1, 9, 4);
  contents.fields.push_back("flag");
  for (size_t i = 0; i < contents.records.size(); ++i)
    contents.records[i].values.push_back(i % 2 == 0 ? "true" : "2.5");
  const OpenedIndex index(index_bytes(contents));
  using Ids = std::vector<std::string>;
  EXPECT_EQ(ids_where(*index, {{"team", "red"}}), (Ids{"r0", "r2", "r4", "r6", "r8"}));
  EXPECT_EQ(ids_where(*index, {{"team", "blue"}}), (Ids{"r2", "r5", "r6"}));
  EXPECT_EQ(ids_where(*index, {{"team", "blue"}, {"number", "6"}}), (Ids{"r6"}));
  EXPECT_EQ(ids_where(*index, {{"number", "6.0"}}), (Ids{"r6"}));
  EXPECT_EQ(ids_where(*index, {{"flag", "2.5"}}), (Ids{"r2", "r4", "r6", "r8"}));
  EXPECT_EQ(ids_where(*index, {{"flag", "true"}}), (Ids{"r0", "r3", "r5", "r7"}));
  EXPECT_EQ(ids_where(*index, {{"flag", "1"}}), Ids{});
  EXPECT_EQ(ids_where(*index, {{"team", "green"}}), Ids{});
  EXPECT_EQ(ids_where(*index, {{"team", "\"red\""}}), Ids{});
  EXPECT_TRUE(entries_where(*index, "an index", "--where", {}).empty());
  EXPECT_THROW(entries_where(*index, "an index", "--where", {{"tean", "red"}}), Error);
}

TEST(SearchRecords, ConditionsAreParsed) {
  const std::vector<Condition> parsed = parse_conditions({"a=b=c", "d="});
  ASSERT_EQ(parsed.size(), 2U);
  EXPECT_EQ(parsed[0].field, "a");
  EXPECT_EQ(parsed[0].value, "b=c");
  EXPECT_EQ(parsed[1].value, "");
  EXPECT_THROW(parse_conditions({"a"}), Error);
  EXPECT_THROW(parse_conditions({"=a"}), Error);
  const std::vector<Condition> read = read_conditions(Json{{"a", "x"}, {"b", 3}, {"c", false}}, "where");
  ASSERT_EQ(read.size(), 3U);
  EXPECT_EQ(read[0].value, "x");
  EXPECT_EQ(read[1].value, "3");
  EXPECT_EQ(read[2].value, "false");
  EXPECT_THROW(read_conditions(Json{{"a", {1}}}, "where"), Error);
  EXPECT_THROW(read_conditions(Json::array(), "where"), Error);
}

TEST(SearchRecords, ValuesThatAreNoJsonAreRefused) {
  IndexContents contents = some_records(1, 3, 4);
  contents.records[0].values[0] = "{\"a\"";
  const OpenedIndex index(index_bytes(contents));
  EXPECT_THROW(stored_fields(*index, "an index", 0), Error);
  EXPECT_THROW(entries_where(*index, "an index", "--where", {{"team", "red"}}), Error);
  EXPECT_THROW(hits_json(*index, "an index", "query", {{0, 1.0F}}), Error);
}

/// Wrong descriptions of records, each in a file of its own.
TEST(SearchRecords, WrongRecordsAreRefused) {
  const auto refused = [](const IndexContents& contents) { EXPECT_THROW(OpenedIndex(index_bytes(contents)), Error); };
  const IndexContents good = some_records(1, 5, 4);
  EXPECT_NO_THROW(OpenedIndex(index_bytes(good)));
  IndexContents bad = good;
  bad.records[0].number = 0;
  refused(bad);
  bad = good;
  std::swap(bad.records[1].number, bad.records[2].number);
  refused(bad);
  bad = good;
  bad.last_record = 2;
  refused(bad);
  bad = good;
  bad.records[1].id = "";
  refused(bad);
  bad = good;
  bad.fields[1] = "team";
  refused(bad);
}

}  // namespace
}  // namespace bantam::convert
