// Reads the normalizer of a tokenizer.json as a sequence of stages, unless it is BERT's.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "text/normal_sequence.h"
#include "text/utf8.h"
#include "tokenizer/normal_tables.h"
#include "tokenizer/tokenizer.h"
#include "tokenizer/tokenizer_source.h"

namespace bantam::convert {
namespace {

using RuleKind = fb::NormalizerKind;

struct Named {
  const char* type;
  RuleKind kind;
  CodeMap map;
  bool compose;
};
constexpr std::array<Named, 7> kTables = {{{"NFC", RuleKind::form, CodeMap::kCanonical, true},
                                           {"NFD", RuleKind::form, CodeMap::kCanonical, false},
                                           {"NFKC", RuleKind::form, CodeMap::kCompatible, true},
                                           {"NFKD", RuleKind::form, CodeMap::kCompatible, false},
                                           {"Lowercase", RuleKind::map, CodeMap::kLowercase, false},
                                           {"StripAccents", RuleKind::map, CodeMap::kStripAccents, false},
                                           {"Nmt", RuleKind::map, CodeMap::kNmt, false}}};

std::string text_of(const Json& json) { return json.is_string() ? json.get<std::string>() : std::string(); }

size_t code_points(const std::string& text) {
  const auto starts = [](char c) { return !text::goes_on_code(static_cast<uint8_t>(c)); };
  return static_cast<size_t>(std::count_if(text.begin(), text.end(), starts));
}

/// Decodes base64; returns false if the text is not base64.
bool decode_base64(const std::string& text, std::string* bytes) {
  uint32_t bits = 0;
  uint32_t held = 0;
  for (const char c : text) {
    const std::string_view digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    if (c == '=') continue;
    const size_t digit = digits.find(c);
    if (digit == std::string_view::npos) return false;
    bits = bits << 6 | static_cast<uint32_t>(digit);
    held += 6;
    if (held < 8) continue;
    held -= 8;
    bytes->push_back(static_cast<char>(bits >> held & 0xFF));
  }
  return true;
}

/// The control character for a backslash followed by `letter`; 0: none.
char escaped_white(char letter) {
  constexpr std::string_view kLetters = "nrtfv";
  constexpr std::string_view kWhite = "\n\r\t\f\v";
  const size_t at = kLetters.find(letter);
  return at == std::string_view::npos ? '\0' : kWhite[at];
}

/// The characters of a class of escaped white space, "[\n\r\t]"; "" for any other text.
std::string white_class(const std::string& regex) {
  std::string white;
  if (regex.size() < 4 || regex.front() != '[' || regex.back() != ']' || regex.size() % 2 != 0) return "";
  for (size_t at = 1; at + 1 < regex.size(); at += 2) {
    const char escaped = escaped_white(regex[at + 1]);
    if (regex[at] != '\\' || escaped == 0) return "";
    white += escaped;
  }
  return white;
}

/// Reads a regular expression that is a literal text, or runs of one code point or of white space: "ab", " {2,}",
/// "\s+", "\n"; or such runs before a code point: " +a".
bool read_simple_pattern(const std::string& regex, fb::NormalizerT* rule) {
  std::string text;
  size_t at = 0;
  bool white = false;
  while (at < regex.size()) {
    const char c = regex[at];
    if (c == '\\' && at + 1 < regex.size()) {
      const char next = regex[at + 1];
      if (next == 's' && text.empty()) {
        white = true;
      } else if (const char control = escaped_white(next); control != 0) {
        text += control;
      } else if (std::string_view("\\.^$|?*+()[]{}/-").find(next) != std::string_view::npos) {
        text += next;
      } else {
        return false;
      }
      at += 2;
      if (white) break;
    } else if (std::string_view(".^$|?*+()[]{}").find(c) != std::string_view::npos) {
      break;
    } else {
      text += c;
      ++at;
    }
  }
  rule->text = text;
  const std::string tail = regex.substr(at);
  if (tail.empty()) {
    rule->least = 0;
    return !white && !text.empty();
  }
  if (!white && code_points(text) != 1) return false;
  if (tail == "+") {
    rule->least = 1;
  } else if (fb::NormalizerT behind; !white && tail[0] == '+' && read_simple_pattern(tail.substr(1), &behind) &&
                                     behind.least == 0 && code_points(behind.text) == 1) {
    rule->text += behind.text;
    rule->least = 1;
  } else if (tail.size() == 4 && tail[0] == '{' && tail[1] >= '1' && tail[1] <= '4' && tail.substr(2) == ",}") {
    rule->least = static_cast<uint32_t>(tail[1] - '0');
  } else {
    return false;
  }
  return true;
}

/// Converts a regular expression to stages with the rule's content, one per alternative. Runs of white space are
/// replaced first, so that the later stages find single characters, unless the content brings some back. Returns false
/// if it is not supported.
bool read_pattern(const std::string& regex, const fb::NormalizerT& rule, std::vector<NormalStage>* stages) {
  const auto add = [&](std::string text, uint32_t least) {
    NormalStage stage;
    stage.rule = rule;
    stage.rule.text = std::move(text);
    stage.rule.least = least;
    stages->push_back(std::move(stage));
  };
  fb::NormalizerT simple = rule;
  if (read_simple_pattern(regex, &simple)) {
    add(simple.text, simple.least);
    return true;
  }
  if (regex.size() > 2 && regex.front() == '^' && regex.back() == '$') {
    const bool run = read_simple_pattern(regex.substr(1, regex.size() - 2), &simple);
    if (!run || simple.least != 1 || code_points(simple.text) != 1 || !rule.content.empty()) return false;
    add(simple.text, simple.least);
    stages->back().rule.left = stages->back().rule.right = true;
    return true;
  }
  const size_t bar = regex.find('|');
  const std::string white = white_class(bar == std::string::npos ? regex : regex.substr(bar + 1));
  if (white.empty() || rule.content.find_first_of(white) != std::string::npos) return false;
  if (bar != std::string::npos) {
    if (!read_simple_pattern(regex.substr(0, bar), &simple) || !simple.text.empty() || simple.least == 0) return false;
    add(simple.text, simple.least);
  }
  for (const char c : white) add(std::string(1, c), 0);
  return true;
}

/// Runs before a code point stay if another code point follows. A stage with such runs keeps them up to the length that
/// the next stage, which must have the same runs, distinguishes. Returns false if there is no such stage.
bool limit_runs(std::vector<NormalStage>& stages) {
  const auto is_run = [](const fb::NormalizerT& rule, size_t size) {
    return rule.kind == RuleKind::replace && rule.least > 0 && code_points(rule.text) == size;
  };
  for (size_t i = 0; i < stages.size(); ++i) {
    fb::NormalizerT& rule = stages[i].rule;
    if (!is_run(rule, 2)) continue;
    size_t behind = i + 1;
    while (behind < stages.size() && stages[behind].rule.left && is_run(stages[behind].rule, 1)) ++behind;
    if (behind == stages.size() || !is_run(stages[behind].rule, 1)) return false;
    const fb::NormalizerT& next = stages[behind].rule;
    if (rule.text.compare(0, next.text.size(), next.text) != 0) return false;
    rule.least = next.least;
  }
  return true;
}

/// Returns true if the stages leave no line feed, so that lines begin and end only with the text.
bool leave_no_lines(const std::vector<NormalStage>& stages) {
  return std::any_of(stages.begin(), stages.end(), [](const NormalStage& stage) {
    const fb::NormalizerT& rule = stage.rule;
    const bool every = rule.text == "\n" ? rule.least < 2 : rule.text.empty() && rule.least == 1;
    return rule.kind == RuleKind::replace && every && rule.content.find('\n') == std::string::npos;
  });
}

}  // namespace

void read_bert_normalizer(const Json& normalizer, TokenizerSource& source) {
  const auto flag = [&normalizer](const char* key, bool otherwise) {
    const Json& value = member(normalizer, key);
    return value.is_boolean() ? value.get<bool>() : otherwise;
  };
  const auto add = [&source](RuleKind kind, CodeMap map) {
    NormalStage stage;
    stage.rule.kind = kind;
    stage.map = map;
    source.stages.push_back(std::move(stage));
  };
  const bool lowercase = flag("lowercase", true);
  if (flag("clean_text", true)) add(RuleKind::map, CodeMap::kBertText);
  if (flag("handle_chinese_chars", true)) add(RuleKind::ideographs, CodeMap::kNone);
  if (flag("strip_accents", lowercase)) {
    add(RuleKind::form, CodeMap::kCanonical);
    add(RuleKind::map, CodeMap::kBertAccents);
  }
  if (lowercase) add(RuleKind::map, CodeMap::kLowercase);
}

void read_normalizers(const std::vector<const Json*>& parts, TokenizerSource& source, ProblemList& problems) {
  const auto problem = [&](const std::string& field, const std::string& what) {
    problems.push_back(fmt::format("{}: normalizer.{}: {}", source.file, field, what));
  };
  const auto unsupported = [&](const std::string& field, const std::string& what) {
    ++source.unsupported;
    problem(field, fmt::format("{}; {}", what, kWithoutTokenizer));
  };
  for (const Json* json : parts) {
    const std::string type = text_of(member(*json, "type"));
    NormalStage stage;
    fb::NormalizerT& rule = stage.rule;
    const auto* named = std::find_if(kTables.begin(), kTables.end(), [&](const Named& n) { return type == n.type; });
    if (type == "BertNormalizer") {
      read_bert_normalizer(*json, source);
      continue;
    }
    if (named != kTables.end()) {
      rule.kind = named->kind;
      rule.compose = named->compose;
      stage.map = named->map;
    } else if (type == "Precompiled") {
      const Json& map = member(*json, "precompiled_charsmap");
      if (map.is_null() || (map.is_string() && text_of(map).empty())) continue;
      rule.kind = RuleKind::charsmap;
      if (!source.charsmap.empty()) unsupported("type", "two steps Precompiled are not supported");
      if (!map.is_string() || !decode_base64(text_of(map), &source.charsmap) || !is_charsmap(source.charsmap)) {
        problem("precompiled_charsmap",
                "should be base64 of SentencePiece's table, whose size its first four bytes say");
      }
    } else if (type == "Strip") {
      rule.kind = RuleKind::strip;
      const Json& left = member(*json, "strip_left");
      const Json& right = member(*json, "strip_right");
      rule.left = !left.is_boolean() || left.get<bool>();
      rule.right = !right.is_boolean() || right.get<bool>();
    } else if (type == "Prepend") {
      rule.kind = RuleKind::prepend;
      rule.content = text_of(member(*json, "prepend"));
    } else if (type == "Replace") {
      rule.kind = RuleKind::replace;
      rule.content = text_of(member(*json, "content"));
      const Json& pattern = member(*json, "pattern");
      const std::string text = pattern.is_object() ? text_of(member(pattern, "String")) : "";
      const std::string regex = pattern.is_object() ? text_of(member(pattern, "Regex")) : "";
      rule.text = text;
      if (text.empty()) {
        std::vector<NormalStage> stages;
        if (read_pattern(regex, rule, &stages) && (!stages.back().rule.left || leave_no_lines(source.stages))) {
          stage = std::move(stages.back());
          stages.pop_back();
          for (NormalStage& before : stages) source.stages.push_back(std::move(before));
        } else {
          unsupported(
              "pattern",
              fmt::format("{} is not supported; this version takes a text, one code point or \\s with + or "
                          "{{n,}}, behind these a class of white space such as [\\n\\t], one code point with + and "
                          "one behind it, and runs that are whole texts without line feeds, as ^a+$",
                          pattern.dump(-1, ' ', true, Json::error_handler_t::replace)));
        }
      }
      if (code_points(rule.text) > text::kMaxReplaced) {
        unsupported("pattern",
                    fmt::format("is longer than the {} code points that this version takes", text::kMaxReplaced));
      }
    } else {
      unsupported("type",
                  fmt::format("\"{}\" is not supported; this version takes BertNormalizer, NFC, NFD, NFKC, NFKD, "
                              "Lowercase, StripAccents, Nmt, Precompiled, Replace, Strip and Prepend",
                              type));
      continue;
    }
    if (code_points(rule.content) > text::kMaxContent) {
      unsupported("content",
                  fmt::format("is longer than the {} code points that this version takes", text::kMaxContent));
    }
    source.stages.push_back(std::move(stage));
  }
  if (!limit_runs(source.stages)) {
    unsupported("pattern", "runs in front of a code point are supported in front of a step for the same runs only");
  }
  if (source.stages.size() > text::kMaxNormalizers) {
    unsupported("normalizers", fmt::format("are more than the {} that this version takes", text::kMaxNormalizers));
  }
}

}  // namespace bantam::convert
