// The built-in texts that are chosen for several vocabularies.
#include "data/choose_texts.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "text/utf8.h"

namespace bantam::convert {
namespace {

struct Character {
  size_t begin = 0, end = 0;
  uint32_t code = 0;
};

std::vector<Character> characters_of(const std::string& text) {
  std::vector<Character> characters;
  const auto* bytes = reinterpret_cast<const uint8_t*>(text.data());
  for (size_t at = 0; at < text.size();) {
    const text::CodePoint point = text::decode_utf8(bytes + at, static_cast<uint32_t>(text.size() - at));
    characters.push_back({at, at + point.size, point.code});
    at += point.size;
  }
  return characters;
}

bool is_word(uint32_t code) { return code > ' ' && code != '.' && code != ',' && code != '?' && code != 0x3002; }

/// A vocabulary with whole words of some languages; other words are split into characters of known alphabets, or are
/// unknown.
struct Vocabulary {
  std::set<std::string> words;
  uint32_t first_unknown = 0x110000;  // code points from here on are in no token
  size_t letters = 1;                 // number of letters in each piece of a word that is not a token

  void learn(const std::string& language) {
    std::vector<BuiltInGroup> groups = english_texts();
    const std::vector<BuiltInGroup> others = texts_of_other_languages();
    groups.insert(groups.end(), others.begin(), others.end());
    for (const BuiltInGroup& group : groups) {
      if (language != group.language || group.kind == TextKind::kOdd) continue;
      for (size_t i = 0; i < group.count; ++i)
        each_word(group.texts[i], [&](const std::string& w, size_t, size_t) { words.insert(w); });
    }
  }

  template <typename F>
  static void each_word(const std::string& text, const F& use) {
    size_t begin = 0, end = 0;
    for (const Character& c : characters_of(text + " ")) {
      if (is_word(c.code)) {
        if (begin == end) begin = c.begin;
        end = c.end;
        continue;
      }
      if (end > begin) use(text.substr(begin, end - begin), begin, end);
      begin = end = c.end;
    }
  }

  std::vector<Piece> operator()(const std::string& text) const {
    std::vector<Piece> pieces;
    each_word(text, [&](const std::string& word, size_t begin, size_t end) {
      if (words.count(word) > 0) {
        pieces.push_back({begin, end, false});
        return;
      }
      const std::vector<Character> characters = characters_of(word);
      const bool strange = std::any_of(characters.begin(), characters.end(),
                                       [&](const Character& c) { return c.code >= first_unknown; });
      if (strange) pieces.push_back({begin, end, true});
      for (size_t i = 0; i < characters.size() && !strange; i += letters) {
        const size_t last = std::min(i + letters, characters.size()) - 1;
        pieces.push_back({begin + characters[i].begin, begin + characters[last].end, false});
      }
    });
    return pieces;
  }
};

using NameList = std::vector<std::string>;

TEST(ChooseTexts, EnglishIsNotJudgedByPolishOrGreek) {
  Vocabulary english;  // the letters of every alphabet, as in BERT's vocabulary, but no ideographs
  english.learn("en");
  english.first_unknown = 0x3000;
  const ChosenTexts chosen = choose_texts(english, std::nullopt);
  EXPECT_EQ(chosen.languages, NameList{"en"});
  EXPECT_TRUE(chosen.fit);
  EXPECT_GE(chosen.texts.size(), 120u);
  EXPECT_EQ(std::count(chosen.texts.begin(), chosen.texts.end(), "!!!"), 0);
  EXPECT_EQ(std::count(chosen.odd.begin(), chosen.odd.end(), "!!!"), 1);
}

TEST(ChooseTexts, ManyLanguagesAreJudgedByAll) {
  Vocabulary many;
  const NameList languages = {"en", "de", "pl", "el", "hi", "zh", "ko"};
  for (const std::string& language : languages) many.learn(language);
  const ChosenTexts chosen = choose_texts(many, std::nullopt);
  for (const std::string& language : languages)
    EXPECT_EQ(std::count(chosen.languages.begin(), chosen.languages.end(), language), 1) << language;
  EXPECT_EQ(std::count(chosen.languages.begin(), chosen.languages.end(), "ru"), 0);
}

TEST(ChooseTexts, GreekIsJudgedByGreekAlone) {
  Vocabulary greek;
  greek.learn("el");
  greek.first_unknown = 0x2E80;  // ideographs are in no token
  EXPECT_EQ(choose_texts(greek, TextKind::kCommand).languages, NameList{"el"});
}

TEST(ChooseTexts, ChineseTakesACharacterAtATimeAndBytesAreNoCharacters) {
  Vocabulary chinese;
  chinese.learn("en");
  EXPECT_EQ(choose_texts(chinese, std::nullopt).languages, (NameList{"en", "zh"}));
  const Tokenize bytes = [](const std::string& text) {
    std::vector<Piece> pieces;
    for (size_t i = 0; i < text.size(); ++i) pieces.push_back({i, i + 1, false});
    return pieces;
  };
  const ChosenTexts chosen = choose_texts(bytes, std::nullopt);
  EXPECT_FALSE(chosen.fit);  // it covers no language; one is chosen anyway
  EXPECT_EQ(chosen.languages.size(), 1u);
  EXPECT_FALSE(chosen.texts.empty());
}

TEST(ChooseTexts, SubwordsOfAnAlphabetAreEnough) {
  Vocabulary cyrillic;
  cyrillic.learn("en");
  cyrillic.letters = 3;
  const NameList languages = choose_texts(cyrillic, std::nullopt).languages;
  EXPECT_EQ(std::count(languages.begin(), languages.end(), "ru"), 1);
  EXPECT_EQ(std::count(languages.begin(), languages.end(), "de"), 0);  // all of its letters are plain Latin letters
}

TEST(ChooseTexts, DomainChoosesAmongEnglishTexts) {
  Vocabulary english;
  english.learn("en");
  english.first_unknown = 0x3000;
  const ChosenTexts commands = choose_texts(english, TextKind::kCommand);
  const ChosenTexts opinions = choose_texts(english, TextKind::kOpinion);
  EXPECT_GE(commands.texts.size(), 40u);
  EXPECT_GE(opinions.texts.size(), 40u);
  EXPECT_EQ(commands.texts.front(), "turn on the lights in the kitchen");
  for (const std::string& text : opinions.texts)
    EXPECT_EQ(std::count(commands.texts.begin(), commands.texts.end(), text), 0) << text;
}

TEST(ChooseTexts, LowerCaseVocabulariesGetLowerCaseTexts) {
  Vocabulary english;
  english.learn("en");
  english.first_unknown = 0x3000;
  EXPECT_FALSE(choose_texts(english, std::nullopt).lower_case);
  Vocabulary small;
  for (std::string word : english.words) {
    std::transform(word.begin(), word.end(), word.begin(),
                   [](char c) { return c >= 'A' && c <= 'Z' ? char(c + 32) : c; });
    small.words.insert(word);
  }
  small.first_unknown = 0x3000;
  const ChosenTexts chosen = choose_texts(small, std::nullopt);
  EXPECT_TRUE(chosen.lower_case);
  EXPECT_EQ(std::count(chosen.texts.begin(), chosen.texts.end(), "dogs bark; cats, on the whole, do not."), 1);
}

TEST(ChooseTexts, LabelsSayTheDomain) {
  fb::ModelT model;
  EXPECT_FALSE(domain_of(model).has_value());
  model.task = std::make_unique<fb::TaskT>();
  model.task->kind = fb::TaskKind::classify;
  model.task->label_sets.push_back(std::make_unique<fb::LabelSetT>());
  model.task->label_sets[0]->labels = {"NEGATIVE", "POSITIVE"};
  EXPECT_EQ(domain_of(model), TextKind::kOpinion);
  model.task->label_sets[0]->labels = {"card_arrival", "exchange_rate"};
  EXPECT_FALSE(domain_of(model).has_value());
  model.task->kind = fb::TaskKind::joint;
  EXPECT_EQ(domain_of(model), TextKind::kCommand);
}

TEST(ChooseTexts, CalibrationTextsStay) {
  EXPECT_EQ(calibration_texts().size(), 69u);
  EXPECT_EQ(calibration_texts()[40], "Flight LH 2037 from Munich to Rotterdam, gate B12");
  EXPECT_EQ(calibration_texts()[67], "😀 great job 🎉");
  EXPECT_GE(all_texts().texts.size(), 300u);
}

}  // namespace
}  // namespace bantam::convert
