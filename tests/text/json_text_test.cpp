// JSON as a constraint: the automaton compared with nlohmann's reader, and texts of random tokens, which are JSON
// however short they must be.
#include <gtest/gtest.h>

#include <random>
#include <regex>

#include "bantam/constraint.h"
#include "tasks/json_automaton.h"
#include "tests/text/bpe_vocabulary.h"

namespace bantam::tests {
namespace {

using Json = nlohmann::json;
using tasks::JsonAutomaton;

uint32_t draw(std::mt19937* random, uint32_t limit) { return static_cast<uint32_t>((*random)() % limit); }

Json random_value(std::mt19937* random, uint32_t depth) {
  static const std::vector<Json> leaves = {
      nullptr, true, false, 0, -1, 17, 1.5, -2.25e-7, 3e20, "", "a b", "\"\\/\b\n\u0001", "caf\u00e9"};
  const uint32_t kind = draw(random, depth == 0 ? 3 : 5);
  if (kind < 3) return leaves[draw(random, static_cast<uint32_t>(leaves.size()))];
  Json value = kind == 3 ? Json::array() : Json::object();
  for (uint32_t i = draw(random, 4); i > 0; --i) {
    if (kind == 3) {
      value.push_back(random_value(random, depth - 1));
    } else {
      value["k" + std::to_string(i)] = random_value(random, depth - 1);
    }
  }
  return value;
}

/// Returns true if the automaton accepts the whole text; leaves it in the state that it reached.
bool reads(const std::string& text, JsonAutomaton* automaton) {
  for (const char c : text) {
    if (!automaton->push(static_cast<uint8_t>(c))) return false;
  }
  return true;
}
bool is_json(const std::string& text) {
  JsonAutomaton automaton;
  return reads(text, &automaton) && automaton.is_complete();
}

TEST(JsonAutomaton, AcceptsWhatAReaderAccepts) {
  std::mt19937 random(1);
  const std::string letters = "{}[]\",:\\/ 0123456789-+.eEtrufalsn\x01x\n";
  const std::regex kLongExponent("[eE][-+]?[0-9]{3}");
  uint32_t refused = 0;
  for (uint32_t round = 0; round < 20000; ++round) {
    std::string text = random_value(&random, 3).dump(static_cast<int>(draw(&random, 4)) - 1, ' ', true);
    for (uint32_t i = draw(&random, 3); i > 0; --i) {
      const size_t at = draw(&random, static_cast<uint32_t>(text.size()));
      const char letter = letters[draw(&random, static_cast<uint32_t>(letters.size()))];
      if (draw(&random, 2) == 0) {
        text[at] = letter;
      } else {
        text.insert(at, 1, letter);
      }
    }
    text.erase(text.find_last_not_of(" \n") + 1);  // nothing may follow a value
    if (std::regex_search(text, kLongExponent)) continue;
    const bool expected = Json::accept(text);
    refused += expected ? 0 : 1;
    EXPECT_EQ(is_json(text), expected) << text;
  }
  EXPECT_GT(refused, 3000u);
}

TEST(JsonAutomaton, LeavesOutWhatReadersStumbleOver) {
  EXPECT_TRUE(is_json("\"\\ud7ff\\uE000\""));
  EXPECT_FALSE(is_json("\"\\ud83d\\ude00\""));
  EXPECT_TRUE(is_json("[1e99,1.5E-07]"));
  EXPECT_FALSE(is_json("1e100"));
  EXPECT_TRUE(is_json("-" + std::string(64, '1') + "e+99"));
  EXPECT_FALSE(is_json(std::string(65, '1')));
  EXPECT_FALSE(is_json("0." + std::string(64, '1')));
  EXPECT_TRUE(is_json(std::string(32, ' ') + "[" + std::string(32, '\n') + "]"));
  EXPECT_FALSE(is_json(std::string(33, ' ') + "1"));
  EXPECT_TRUE(is_json(std::string(64, '[') + std::string(64, ']')));
  EXPECT_FALSE(is_json(std::string(65, '[') + std::string(65, ']')));
}

TEST(JsonAutomaton, ValuesAreOfTheirKind) {
  const std::vector<std::string> texts = {"\"a\"", "1.5", "17", "true", "null", "[1.5]", "{\"a\":1e3}"};
  const std::vector<JsonKind> kinds = {JsonKind::kString, JsonKind::kNumber, JsonKind::kInteger, JsonKind::kBoolean,
                                       JsonKind::kNull,   JsonKind::kArray,  JsonKind::kObject};
  for (size_t k = 0; k < kinds.size(); ++k) {
    for (size_t t = 0; t < texts.size(); ++t) {
      JsonAutomaton automaton(kinds[k], 4, true);
      const bool all = reads(texts[t], &automaton) && automaton.is_complete();
      EXPECT_EQ(all, k == t || (kinds[k] == JsonKind::kNumber && texts[t] == "17")) << texts[t];
    }
  }
  JsonAutomaton blank(JsonKind::kAny, 4, false);
  EXPECT_FALSE(blank.push(' '));
}

TEST(JsonAutomaton, TheFewestBytesThatEndAValueDo) {
  std::mt19937 random(2);
  for (uint32_t round = 0; round < 500; ++round) {
    const std::string text = random_value(&random, 3).dump(round % 2 == 0 ? -1 : 1, ' ', true);
    JsonAutomaton automaton;
    for (const char c : text) {
      JsonAutomaton short_one = automaton;
      for (uint32_t left = automaton.least(); left > 0; --left) {
        bool found = false;
        for (const char next : std::string("\"]}:0truefalsn")) {
          JsonAutomaton tried = short_one;
          found = tried.push(static_cast<uint8_t>(next)) && tried.least() == left - 1;
          if (!found) continue;
          short_one = tried;
          break;
        }
        ASSERT_TRUE(found) << text << " before " << c << ", " << left;
      }
      EXPECT_TRUE(short_one.is_complete()) << text;
      ASSERT_TRUE(automaton.push(static_cast<uint8_t>(c)));
    }
  }
}

/// Returns a text of random tokens that the constraint allows.
std::string by_chance(const Tokenizer& tokenizer, const Constraint& constraint, const std::vector<int32_t>& prompt,
                      uint32_t most, std::mt19937* random) {
  std::vector<int32_t> made;
  for (;;) {
    TextEnd end = TextEnd::kNo;
    const auto count = static_cast<uint32_t>(made.size());
    EXPECT_EQ(constraint.follow(constraint.state, made.data(), count, most - count, &end), Status::kOk);
    if (end == TextEnd::kMust || count == most || (end == TextEnd::kMay && draw(random, 3) == 0)) break;
    std::vector<int32_t> allowed;
    for (uint32_t id = 0; id < tokenizer.vocab_size(); ++id) {
      if (constraint.allows(constraint.state, static_cast<int32_t>(id))) allowed.push_back(static_cast<int32_t>(id));
    }
    if (allowed.empty() && end == TextEnd::kMay) break;
    EXPECT_FALSE(allowed.empty());
    if (allowed.empty()) break;
    made.push_back(allowed[draw(random, static_cast<uint32_t>(allowed.size()))]);
  }
  std::string text;
  const auto append = [](void* target, const char* bytes, size_t size) {
    static_cast<std::string*>(target)->append(bytes, size);
  };
  TextDecoder decoder;
  EXPECT_EQ(TextDecoder::open(tokenizer, true, append, &text, &decoder), Status::kOk);
  for (const int32_t id : prompt) decoder.add(id);
  const size_t begin = text.size();
  for (const int32_t id : made) decoder.add(id);
  decoder.finish();
  return text.substr(begin);
}

std::vector<Json> tokenizers() {
  return {
      bpe_json({{"{", "\""}, {"\"", ":"}, {"\"", "}"}, {" ", "\""}, {"t", "r"}, {"u", "e"}, {"[", "["}, {"a", "b"}}),
      pieces_json({"\u2581", "\u2581{\"", "\":", "\"}", "\u2581\"", "{", "}", "ab", "\u00e9"}, llama_decoder(1))};
}

TEST(JsonText, TextsByChanceAreJsonHoweverShort) {
  std::mt19937 random(3);
  for (const Json& json : tokenizers()) {
    SmallTokenizer small(json);
    ASSERT_TRUE(small.ok());
    const Tokenizer tokenizer = small.open();
    const std::vector<int32_t> prompt = {70};
    for (uint32_t round = 0; round < 150; ++round) {
      JsonOptions options;
      options.kind = static_cast<JsonKind>(round % 8);
      options.depth = 1 + round % 5;
      JsonText text;
      ASSERT_EQ(text.open(tokenizer, options, {}, prompt.data(), 1), Status::kOk);
      const uint32_t most = JsonAutomaton::least_of(options.kind) + draw(&random, 24);
      const std::string made = by_chance(tokenizer, text.constraint(), prompt, most, &random);
      ASSERT_TRUE(Json::accept(made)) << made;
      EXPECT_EQ(made.find("\ufffd"), std::string::npos);
      const Json value = Json::parse(made);
      const bool right[] = {true,
                            value.is_string(),
                            value.is_number(),
                            value.is_number_integer(),
                            value.is_boolean(),
                            value.is_null(),
                            value.is_array(),
                            value.is_object()};
      EXPECT_TRUE(right[round % 8]) << made;
    }
  }
}

TEST(JsonText, FieldsAreThoseAskedForInTheirOrder) {
  std::mt19937 random(4);
  const std::string names[] = {"name", "how old", "b"};
  const JsonField fields[] = {
      {view(names[0]), JsonKind::kString}, {view(names[1]), JsonKind::kInteger}, {view(names[2]), JsonKind::kAny}};
  constexpr uint32_t kLeast = 37;  // {"name": "", "how old": 0, "b": 0}
  for (const Json& json : tokenizers()) {
    SmallTokenizer small(json);
    ASSERT_TRUE(small.ok());
    const Tokenizer tokenizer = small.open();
    JsonOptions options;
    options.fields = fields;
    options.field_count = 3;
    JsonText text;
    ASSERT_EQ(text.open(tokenizer, options, {}, nullptr, 0), Status::kOk);
    TextEnd end = TextEnd::kNo;
    const Constraint constraint = text.constraint();
    EXPECT_EQ(constraint.follow(constraint.state, nullptr, 0, kLeast - 4, &end), Status::kTooManyTokens);
    for (uint32_t round = 0; round < 60; ++round) {
      const std::string made = by_chance(tokenizer, constraint, {}, kLeast + draw(&random, 20), &random);
      ASSERT_TRUE(Json::accept(made)) << made;
      const auto value = nlohmann::ordered_json::parse(made);
      ASSERT_EQ(value.size(), 3u) << made;
      EXPECT_EQ(made.rfind("{\"name\": \"", 0), 0u) << made;
      EXPECT_NE(made.find(", \"how old\": "), std::string::npos) << made;
      EXPECT_TRUE(value["name"].is_string() && value["how old"].is_number_integer() && value.contains("b")) << made;
    }
  }
}

TEST(JsonText, EndsWhereItMay) {
  SmallTokenizer small(bpe_json({}));
  const Tokenizer tokenizer = small.open();
  const int32_t end_id = 1;
  JsonText text;
  ASSERT_EQ(text.open(tokenizer, {}, {&end_id, 1}, nullptr, 0), Status::kOk);
  const Constraint constraint = text.constraint();
  const auto ends = [&](const std::string& bytes, TextEnd expected) {
    std::vector<int32_t> ids;
    for (const char c : bytes) ids.push_back(static_cast<uint8_t>(c) + 3);
    TextEnd end = TextEnd::kNo;
    EXPECT_EQ(constraint.follow(constraint.state, ids.data(), static_cast<uint32_t>(ids.size()), 20, &end),
              Status::kOk);
    EXPECT_EQ(end, expected) << bytes;
    EXPECT_EQ(constraint.allows(constraint.state, end_id), expected != TextEnd::kNo) << bytes;
    EXPECT_FALSE(constraint.allows(constraint.state, 0)) << "a special token";
  };
  ends("", TextEnd::kNo);
  ends("1", TextEnd::kMay);
  ends("{}", TextEnd::kMust);
  ends("{\"a\xC3", TextEnd::kNo);
  const int32_t wrong[] = {'}' + 3};
  TextEnd end = TextEnd::kNo;
  EXPECT_EQ(constraint.follow(constraint.state, wrong, 1, 20, &end), Status::kInvalidArgument);
}

TEST(JsonText, WhatCannotBeIsAStatus) {
  SmallTokenizer small(bpe_json({}));
  const Tokenizer tokenizer = small.open();
  JsonText text;
  const auto status = [&](const JsonOptions& options) { return text.open(tokenizer, options, {}, nullptr, 0); };
  EXPECT_EQ(status({}), Status::kOk);
  JsonOptions options;
  options.depth = 0;
  EXPECT_EQ(status(options), Status::kInvalidArgument);
  options.depth = 65;
  EXPECT_EQ(status(options), Status::kInvalidArgument);
  options = {};
  options.field_count = 1;
  EXPECT_EQ(status(options), Status::kInvalidArgument);
  for (const std::string name : {"a\"", "a\\", "a\n", "\u00e9"}) {
    const JsonField field = {view(name), JsonKind::kAny};
    options.fields = &field;
    EXPECT_EQ(status(options), Status::kInvalidArgument) << name;
  }
  const std::string name = "a";
  const JsonField field = {view(name), static_cast<JsonKind>(8)};
  options.fields = &field;
  EXPECT_EQ(status(options), Status::kInvalidArgument);
  EXPECT_EQ(text.open(tokenizer, {}, {}, nullptr, 1), Status::kInvalidArgument);
  EXPECT_EQ(text.open(Tokenizer(), {}, {}, nullptr, 0), Status::kNoTokenizer);
  // Words separated by blanks are not JSON, nor are tokens that depend on the next one.
  SmallTokenizer words(tokenizer_json({"{", "}", "true"}));
  EXPECT_EQ(text.open(words.open(), {}, {}, nullptr, 0), Status::kUnsupported);
}

}  // namespace
}  // namespace bantam::tests
