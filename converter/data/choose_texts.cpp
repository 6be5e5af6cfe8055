#include "data/choose_texts.h"

#include <algorithm>
#include <map>
#include <memory>
#include <utility>

#include "bantam/tokenizer.h"
#include "base/error.h"
#include "model/task_traits.h"
#include "text/utf8.h"

namespace bantam::convert {
namespace {

/// Thresholds for deciding that a vocabulary covers a language, measured on English vocabularies and a multilingual
/// one. Of words of four letters or more, English vocabularies know 30 % in French, 20 % in Spanish and none in Polish;
/// the multilingual one knows between 35 % (Polish) and 97 % (Vietnamese). In other alphabets, English vocabularies
/// have one letter per token, and the multilingual one has 2.6 to 5.
constexpr double kMostUnknown = 0.05;
constexpr double kWholeWords = 0.33;
constexpr double kLettersOfAlphabets = 2.0;
constexpr double kLettersOfSyllables = 1.1;
constexpr double kLettersOfIdeographs = 0.9;  // below this, tokens are bytes
constexpr size_t kLongWord = 4;
/// A vocabulary counts as lower-case if lower-casing reduces the number of its tokens to this fraction.
constexpr double kLowerCaseGain = 0.97;
/// If this many texts have no unknown words, texts with unknown words are left out.
constexpr size_t kEnough = 20;

bool is_letter(uint32_t code) {
  if (code < 0x80) return (code >= 'a' && code <= 'z') || (code >= 'A' && code <= 'Z');
  if (code < 0xC0) return false;                                      // Latin-1 signs
  if (code == 0x60C || code == 0x61B || code == 0x61F) return false;  // Arabic punctuation
  if (code == 0x964 || code == 0x965 || code == 0x37E) return false;  // danda, Greek question mark
  if (code >= 0x2000 && code <= 0x2BFF) return false;                 // punctuation, symbols
  if (code >= 0x3000 && code <= 0x303F) return false;                 // ideographic punctuation
  return code < 0xFF00;                                               // full-width forms, emoji
}

double ratio(size_t part, size_t whole) {
  return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
}

std::string lower(std::string text) {
  for (char& c : text) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return text;
}

void append(const BuiltInGroup& group, std::vector<std::string>& texts) {
  texts.insert(texts.end(), group.texts, group.texts + group.count);
}

std::vector<BuiltInGroup> all_groups() {
  std::vector<BuiltInGroup> groups = english_texts();
  const std::vector<BuiltInGroup> others = texts_of_other_languages();
  groups.insert(groups.end(), others.begin(), others.end());
  return groups;
}

/// Returns the language that the vocabulary covers best, for a vocabulary that covers none well.
std::string nearest(const std::vector<std::pair<std::string, LanguageCoverage>>& languages) {
  const auto worse = [](const auto& a, const auto& b) {
    const double unknown_a = ratio(a.second.unknown, a.second.words),
                 unknown_b = ratio(b.second.unknown, b.second.words);
    if (unknown_a != unknown_b) return unknown_a > unknown_b;
    return ratio(a.second.letters, a.second.pieces) < ratio(b.second.letters, b.second.pieces);
  };
  return std::max_element(languages.begin(), languages.end(), worse)->first;
}

bool prefers_lower_case(const std::vector<std::string>& texts, const Tokenize& tokenize) {
  size_t as_written = 0, lowered = 0, unknown_as_written = 0, unknown_lowered = 0;
  const auto count = [&](const std::string& text, size_t& pieces, size_t& unknown) {
    for (const Piece& piece : tokenize(text)) {
      ++pieces;
      unknown += piece.unknown ? 1 : 0;
    }
  };
  for (const std::string& text : texts) {
    count(text, as_written, unknown_as_written);
    count(lower(text), lowered, unknown_lowered);
  }
  if (unknown_lowered != unknown_as_written) return unknown_lowered < unknown_as_written;
  return static_cast<double>(lowered) < kLowerCaseGain * static_cast<double>(as_written);
}

std::vector<std::string> known_ones(const std::vector<std::string>& texts, const Tokenize& tokenize) {
  std::vector<std::string> known;
  for (const std::string& text : texts) {
    LanguageCoverage coverage;
    coverage.add(text, tokenize);
    if (coverage.unknown == 0) known.push_back(text);
  }
  return known.size() >= kEnough ? known : texts;
}

}  // namespace

const std::vector<std::string>& calibration_texts() {
  static const std::vector<std::string> texts = [] {
    std::vector<std::string> result;
    const std::vector<BuiltInGroup> english = english_texts(), others = texts_of_other_languages();
    const auto find = [](const std::vector<BuiltInGroup>& groups, const std::string& language) {
      return std::find_if(groups.begin(), groups.end(), [&](const auto& group) { return language == group.language; });
    };
    for (size_t i = 0; i < 4; ++i) append(english[i], result);
    for (const char* language : {"de", "fr", "es", "pt", "pl", "ru", "el", "ja", "zh", "ko", "ar", "hi", "vi"})
      result.emplace_back(find(others, language)->texts[0]);
    for (size_t i = 4; i < 6; ++i) append(english[i], result);
    return result;
  }();
  return texts;
}

Tokenize tokenize_as(const Model& model) {
  Tokenizer tokenizer;
  if (Tokenizer::open(model, 0, &tokenizer) != Status::kOk)
    throw Error(ExitCode::kInvalid, "the model has no tokenizer; add tokenizer.json or vocab.txt");
  return [tokenizer](const std::string& text) {
    EncodeOptions options;
    options.add_special = false;
    options.truncation = TruncationSide::kNone;
    std::vector<int32_t> ids(text.size() + 8);  // at most one token per byte, except with n-grams
    std::vector<Offset> offsets;
    EncodeResult result;
    std::vector<Piece> pieces;
    for (Status status = Status::kBufferTooSmall; status == Status::kBufferTooSmall;) {
      offsets.resize(ids.size());
      TokenBuffer buffer;
      buffer.ids = ids.data();
      buffer.offsets = offsets.data();
      buffer.capacity = options.max_tokens = static_cast<uint32_t>(ids.size());
      status = tokenizer.encode({text.data(), text.size()}, {}, options, buffer, &result);
      if (status == Status::kOk) break;
      if (status != Status::kBufferTooSmall || result.content[0] <= ids.size()) return pieces;
      ids.resize(result.content[0]);
    }
    for (uint32_t i = 0; i < result.count; ++i) {
      const Offset where = offsets[i];
      const bool gram = static_cast<uint32_t>(ids[i]) >= tokenizer.vocab_size();
      if (gram && text.find(' ', where.begin) < where.end) continue;  // an n-gram of words
      // N-grams within a word make the word known; they are joined into one piece.
      if (gram && !pieces.empty() && where.begin <= pieces.back().end && where.end >= pieces.back().begin) {
        pieces.back().begin = std::min<size_t>(pieces.back().begin, where.begin);
        pieces.back().end = std::max<size_t>(pieces.back().end, where.end);
        continue;
      }
      pieces.push_back({where.begin, where.end, ids[i] == tokenizer.unknown_id()});
    }
    return pieces;
  };
}

void LanguageCoverage::add(const std::string& text, const Tokenize& tokenize) {
  const std::vector<Piece> tokens = tokenize(text);
  const auto* bytes = reinterpret_cast<const uint8_t*>(text.data());
  const auto finish = [&](size_t begin, size_t end, size_t length) {
    if (length == 0) return;
    size_t count = 0;
    bool strange = false;
    for (const Piece& piece : tokens) {
      if (piece.end <= begin || piece.begin >= end) continue;
      ++count;
      strange = strange || piece.unknown;
    }
    ++words;
    if (strange || count == 0) {
      ++unknown;
      return;
    }
    letters += length;
    pieces += count;
    if (length < kLongWord) return;
    ++long_words;
    whole_words += count == 1 ? 1 : 0;
  };
  size_t begin = 0, length = 0, at = 0;
  while (at < text.size()) {
    const text::CodePoint point = text::decode_utf8(bytes + at, static_cast<uint32_t>(text.size() - at));
    if (is_letter(point.code)) {
      if (length++ == 0) begin = at;
    } else {
      finish(begin, at, length);
      length = 0;
    }
    at += point.size;
  }
  finish(begin, at, length);
}

bool LanguageCoverage::fits(Script script) const {
  if (words == 0 || ratio(unknown, words) > kMostUnknown) return false;
  switch (script) {
    case Script::kLatin:
      return ratio(whole_words, long_words) >= kWholeWords;
    case Script::kAlphabet:
      return ratio(letters, pieces) >= kLettersOfAlphabets;
    case Script::kSyllables:
      return ratio(letters, pieces) >= kLettersOfSyllables;
    case Script::kIdeographs:
      return ratio(letters, pieces) >= kLettersOfIdeographs;
  }
  return false;
}

std::optional<TextKind> domain_of(const fb::ModelT& model) {
  if (!model.task) return std::nullopt;
  const TaskTraits task = traits(model.task->kind);
  if (task.parts == (kLabelsPart | kWordsPart)) return TextKind::kCommand;
  const bool classifies = task.parts == kLabelsPart && task.scores != kUnscored;
  if (!classifies || model.task->label_sets.empty()) return std::nullopt;
  for (const std::string& label : model.task->label_sets.front()->labels) {
    const std::string word = lower(label);
    for (const char* opinion : {"positive", "negative", "pos", "neg", "5 stars"}) {
      if (word == opinion) return TextKind::kOpinion;
    }
  }
  return std::nullopt;
}

ChosenTexts choose_texts(const Tokenize& tokenize, std::optional<TextKind> domain) {
  const std::vector<BuiltInGroup> groups = all_groups();
  std::vector<std::pair<std::string, LanguageCoverage>> languages;
  std::map<std::string, Script> scripts;
  for (const BuiltInGroup& group : groups) {
    if (group.kind == TextKind::kOdd) continue;
    if (languages.empty() || languages.back().first != group.language) languages.push_back({group.language, {}});
    scripts[group.language] = group.script;
    for (size_t i = 0; i < group.count; ++i) languages.back().second.add(group.texts[i], tokenize);
  }
  ChosenTexts chosen;
  for (const auto& [language, coverage] : languages) {
    if (coverage.fits(scripts[language])) chosen.languages.push_back(language);
  }
  chosen.fit = !chosen.languages.empty();
  if (!chosen.fit) chosen.languages = {nearest(languages)};
  for (const BuiltInGroup& group : groups) {
    const auto& taken = chosen.languages;
    if (group.kind == TextKind::kOdd) {
      append(group, chosen.odd);
    } else if (std::find(taken.begin(), taken.end(), group.language) != taken.end()) {
      const bool english = std::string("en") == group.language;
      if (!english || !domain || group.kind == *domain) append(group, chosen.texts);
    }
  }
  chosen.lower_case = prefers_lower_case(chosen.texts, tokenize);
  if (chosen.lower_case) std::transform(chosen.texts.begin(), chosen.texts.end(), chosen.texts.begin(), lower);
  chosen.texts = known_ones(chosen.texts, tokenize);
  return chosen;
}

ChosenTexts all_texts() {
  ChosenTexts chosen;
  for (const BuiltInGroup& group : all_groups()) {
    append(group, chosen.texts);
    if (chosen.languages.empty() || chosen.languages.back() != group.language)
      chosen.languages.emplace_back(group.language);
  }
  return chosen;
}

}  // namespace bantam::convert
