// Tags to entities, for every scheme, compared with a naive definition.
#include "tasks/entities.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <string>
#include <vector>

#include "tests/tasks/fake_run.h"

namespace bantam::tests {
namespace {

using Tags = std::vector<std::string>;

struct Found {
  std::string name;
  uint32_t begin, end;
  bool operator==(const Found& other) const { return name == other.name && begin == other.begin && end == other.end; }
};

std::ostream& operator<<(std::ostream& stream, const Found& found) {
  return stream << found.name << "[" << found.begin << "," << found.end << ")";
}

/// Word i has bytes [i, i + 1); `parse` splits a tag.
template <typename Parse>
std::vector<Found> decode_with(const Tags& tags, const Parse& parse) {
  std::vector<Found> list;
  tasks::EntityDecoder decoder;
  Entity done;
  const auto put = [&] {
    list.push_back({std::string(done.name.data, done.name.size), done.span.begin, done.span.end});
  };
  for (uint32_t i = 0; i < tags.size(); ++i) {
    if (decoder.push({i, i + 1}, parse(Text{tags[i].data(), tags[i].size()}), {}, &done)) put();
  }
  if (decoder.finish(&done)) put();
  return list;
}

std::vector<Found> decode(const Tags& tags, fb::TagScheme scheme) {
  return decode_with(tags, [scheme](Text tag) { return tasks::parse_tag(tag, scheme); });
}

std::vector<Found> decode(const Tags& tags, Aggregation aggregation) {
  return decode_with(tags, [aggregation](Text tag) { return tasks::parse_tag(tag, aggregation); });
}

using List = std::vector<Found>;

TEST(Entities, Iob2) {
  const auto iob2 = fb::TagScheme::iob2;
  EXPECT_EQ(decode({"B-a", "I-a", "O", "B-b"}, iob2), (List{{"a", 0, 2}, {"b", 3, 4}}));
  EXPECT_EQ(decode({"B-a", "B-a"}, iob2), (List{{"a", 0, 1}, {"a", 1, 2}}));
  EXPECT_EQ(decode({"O", "O"}, iob2), List{});
  EXPECT_EQ(decode({}, iob2), List{});
}

TEST(Entities, InsideAfterAnythingElseStarts) {
  for (const auto scheme : {fb::TagScheme::iob1, fb::TagScheme::iob2, fb::TagScheme::bioes}) {
    EXPECT_EQ(decode({"I-a", "I-a"}, scheme), (List{{"a", 0, 2}}));
    EXPECT_EQ(decode({"O", "I-a"}, scheme), (List{{"a", 1, 2}}));
    EXPECT_EQ(decode({"B-a", "I-b", "I-b"}, scheme), (List{{"a", 0, 1}, {"b", 1, 3}}));
  }
}

TEST(Entities, Iob1SplitsNeighboursWithB) {
  EXPECT_EQ(decode({"I-a", "B-a", "I-a"}, fb::TagScheme::iob1), (List{{"a", 0, 1}, {"a", 1, 3}}));
}

TEST(Entities, Bioes) {
  const auto bioes = fb::TagScheme::bioes;
  EXPECT_EQ(decode({"B-a", "I-a", "E-a"}, bioes), (List{{"a", 0, 3}}));
  EXPECT_EQ(decode({"S-a", "S-a"}, bioes), (List{{"a", 0, 1}, {"a", 1, 2}}));
  EXPECT_EQ(decode({"B-a", "E-a", "I-a"}, bioes), (List{{"a", 0, 2}, {"a", 2, 3}}));
  EXPECT_EQ(decode({"E-a", "E-a"}, bioes), (List{{"a", 0, 1}, {"a", 1, 2}}));
  EXPECT_EQ(decode({"S-a", "I-a"}, bioes), (List{{"a", 0, 1}, {"a", 1, 2}}));
  EXPECT_EQ(decode({"B-a", "L-a", "U-b"}, bioes), (List{{"a", 0, 2}, {"b", 2, 3}}));
}

TEST(Entities, PlainJoinsEqualNeighbours) {
  const auto plain = fb::TagScheme::plain;
  EXPECT_EQ(decode({"PER", "PER", "O", "LOC", "PER"}, plain), (List{{"PER", 0, 2}, {"LOC", 3, 4}, {"PER", 4, 5}}));
  EXPECT_EQ(decode({"B-a", "I-a"}, plain), (List{{"B-a", 0, 1}, {"I-a", 1, 2}}));
}

TEST(Entities, OddLabels) {
  const auto iob2 = fb::TagScheme::iob2;
  EXPECT_EQ(decode({"B", "I", "O", "I"}, iob2), (List{{"", 0, 2}, {"", 3, 4}}));
  EXPECT_EQ(decode({"", "X-a", "S-a", "Bob"}, iob2), List{});
  EXPECT_EQ(decode({"B-", "I-"}, iob2), (List{{"", 0, 2}}));
  EXPECT_EQ(decode({"B-a-b", "I-a-b"}, iob2), (List{{"a-b", 0, 2}}));
}

TEST(Entities, OfStrategiesGroupAsTransformersDoes) {
  const auto simple = Aggregation::kSimple;
  EXPECT_EQ(decode({"B-a", "I-a", "O", "I-b", "B-b"}, simple), (List{{"a", 0, 2}, {"b", 3, 4}, {"b", 4, 5}}));
  EXPECT_EQ(decode({"B-a", "I-b", "I-a"}, simple), (List{{"a", 0, 1}, {"b", 1, 2}, {"a", 2, 3}}));
  // A label without a prefix continues an entity. Its name is the part after its first "-".
  EXPECT_EQ(decode({"PER", "PER", "B-PER", "PER", "I-PER"}, simple), (List{{"PER", 0, 2}, {"PER", 2, 5}}));
  EXPECT_EQ(decode({"S-a", "S-a", "E-a", "small-town-x"}, simple), (List{{"a", 0, 2}, {"a", 2, 3}, {"town-x", 3, 4}}));
  // A token labeled "O" is not part of an entity, but it separates others.
  EXPECT_EQ(decode({"B-a", "B-O", "I-a", "x-O", "I-a"}, simple), (List{{"a", 0, 1}, {"a", 2, 3}, {"a", 4, 5}}));
  EXPECT_EQ(decode({"B", "I", ""}, simple), (List{{"B", 0, 1}, {"I", 1, 2}, {"", 2, 3}}));
}

TEST(Entities, WithoutStrategyAreSingleTokensOfTheirLabels) {
  EXPECT_EQ(decode({"B-a", "I-a", "O", "PER", "B-O"}, Aggregation::kNone),
            (List{{"B-a", 0, 1}, {"I-a", 1, 2}, {"PER", 3, 4}, {"B-O", 4, 5}}));
}

/// The definition, word by word: returns true if word i continues the entity of word i - 1.
bool continues(const std::string& before, const std::string& tag) {
  if (before == "O" || tag == "O" || before.substr(2) != tag.substr(2)) return false;
  return (tag[0] == 'I' || tag[0] == 'E') && (before[0] == 'B' || before[0] == 'I');
}

RC_GTEST_PROP(Entities, AgreeWithTheDefinition, ()) {
  const Tags all = {"O", "B-a", "I-a", "E-a", "S-a", "B-b", "I-b", "E-b", "S-b"};
  const Tags tags = *rc::gen::container<Tags>(rc::gen::elementOf(all));
  List wanted;
  for (uint32_t i = 0; i < tags.size(); ++i) {
    if (tags[i] == "O") continue;
    if (i > 0 && continues(tags[i - 1], tags[i])) {
      wanted.back().end = i + 1;
    } else {
      wanted.push_back({tags[i].substr(2), i, i + 1});
    }
  }
  RC_ASSERT(decode(tags, fb::TagScheme::bioes) == wanted);
}

TEST(Entities, ScoreIsTheSmallestAndBuffersMayBeTooSmall) {
  FakeRun run;
  run.task().kind = fb::TaskKind::tag;
  run.add_labels(0, {"O", "B-x", "I-x"}, fb::TagScheme::iob2);
  const Model& model = run.model();
  const Offset words[] = {{0, 2}, {3, 5}, {6, 9}, {10, 12}};
  const LabelScore labels[] = {{1, 0.9f}, {2, 0.4f}, {0, 0.1f}, {1, 0.7f}};
  Entity found[2];
  uint32_t count = 0;
  ASSERT_EQ(entities(model, 0, words, labels, 4, found, 2, &count), Status::kOk);
  ASSERT_EQ(count, 2u);
  EXPECT_EQ(found[0].span.begin, 0u);
  EXPECT_EQ(found[0].span.end, 5u);
  EXPECT_EQ(found[0].score, 0.4f);
  EXPECT_EQ(found[0].label, 1u);
  ASSERT_EQ(entities(model, 0, words, labels, 4, found, 2, &count, Aggregation::kFirst), Status::kOk);
  EXPECT_FLOAT_EQ(found[0].score, 0.65f);  // the mean of both
  EXPECT_EQ(entities(model, 0, words, labels, 4, found, 1, &count), Status::kBufferTooSmall);
  EXPECT_EQ(count, 2u);
  EXPECT_EQ(entities(model, 1, words, labels, 4, found, 2, &count), Status::kNoSuchTask);
  const LabelScore wrong[] = {{3, 0.5f}};
  EXPECT_EQ(entities(model, 0, words, wrong, 1, found, 2, &count), Status::kIndexOutOfRange);
}

}  // namespace
}  // namespace bantam::tests
