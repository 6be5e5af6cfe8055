// Reads the splitter of a tokenizer.json as a sequence of rules, unless it is BERT's with WordPiece, or Metaspace.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "text/unicode/unicode.h"
#include "text/utf8.h"
#include "tokenizer/split_pattern.h"
#include "tokenizer/tokenizer.h"
#include "tokenizer/tokenizer_source.h"

namespace bantam::convert {
namespace {

constexpr uint32_t kRuns = PatternNode::kEndless;

std::string plain_text_of(const Json& json) { return json.is_string() ? json.get<std::string>() : std::string(); }

/// The code points that the runtime assigns to one of these classes.
CodeSet of_class(uint32_t bits) {
  CodeSet set;
  for (uint32_t code = 0; code < kCodePoints;) {
    const uint32_t first = code;
    const auto is_in = [bits](uint32_t c) { return (text::character_class(c) & bits) != 0; };
    while (code < kCodePoints && is_in(code) == is_in(first)) ++code;
    if (is_in(first)) set.add(first, code);
  }
  return set;
}

CodeSet others_than(CodeSet set) {
  set.complement();
  return set;
}

/// "\w+|[^\w\s]+" with the library's own character tables.
std::vector<SplitSet> words_and_others() {
  CodeSet letters(matched_by_word());
  CodeSet rest = of_class(text::kSpace);
  rest.add(letters);
  return {{letters, kRuns}, {others_than(rest), kRuns}};
}

/// BERT's words: runs of characters that are not white space, with each punctuation character separate.
std::vector<SplitSet> bert_words() {
  CodeSet marks = of_class(text::kPunctuation);
  CodeSet rest = of_class(text::kSpace);
  rest.add(marks);
  return {{marks}, {others_than(rest), kRuns}};
}

/// Hugging Face's UnicodeScripts: runs of each script, together with code points that fit every script.
SplitRule script_runs() {
  SplitRule rule;
  for (const std::vector<CodeRange>& script : scripts()) rule.sets.push_back({CodeSet(script)});
  rule.joins = rule.sets.front().set;
  rule.sets.erase(rule.sets.begin());
  return rule;
}

class SplitterReader {
 public:
  SplitterReader(TokenizerSource& source, ProblemList& problems) : source_(source), problems_(problems) {}

  /// Reads the splitters; returns true if they turn words into bytes.
  bool read(const std::vector<const Json*>& parts) {
    bool bytes = false;
    for (const Json* part : parts) {
      const std::string type = plain_text_of(member(*part, "type"));
      if (bytes)
        unsupported("type", fmt::format("ByteLevel before {} is not supported; this version takes it last", type));
      if (type == "ByteLevel") {
        read_byte_level(*part, parts.size() == 1);
        bytes = true;
      } else {
        read_one(*part, type);
      }
    }
    if (source_.rules.empty()) source_.rules.push_back({kWholeTextPattern, {}, SplitBehaviour::kIsolated, false});
    return bytes;
  }

 private:
  void unsupported(const std::string& field, const std::string& what) {
    ++source_.unsupported;
    problems_.push_back(fmt::format("{}: pre_tokenizer.{}: {}; {}", source_.file, field, what, kWithoutTokenizer));
  }

  bool flag(const Json& json, const char* key, bool otherwise) {
    const Json& value = member(json, key);
    if (value.is_null()) return otherwise;
    if (value.is_boolean()) return value.get<bool>();
    problems_.push_back(fmt::format("{}: pre_tokenizer.{}: should be true or false", source_.file, key));
    return otherwise;
  }

  SplitBehaviour behaviour(const Json& json, SplitBehaviour otherwise) {
    struct NamedBehaviour {
      const char* name;
      const char* old_name;
      SplitBehaviour behaviour;
    };
    constexpr std::array<NamedBehaviour, 5> kNames = {{
        {"Isolated", "isolated", SplitBehaviour::kIsolated},
        {"Removed", "removed", SplitBehaviour::kRemoved},
        {"MergedWithPrevious", "merged_with_previous", SplitBehaviour::kMergedWithPrevious},
        {"MergedWithNext", "merged_with_next", SplitBehaviour::kMergedWithNext},
        {"Contiguous", "contiguous", SplitBehaviour::kContiguous},
    }};
    const Json& value = member(json, "behavior");
    if (value.is_null()) return otherwise;
    for (const NamedBehaviour& named : kNames) {
      if (value == named.name || value == named.old_name) return named.behaviour;
    }
    problems_.push_back(fmt::format(
        "{}: pre_tokenizer.behavior: should be Isolated, Removed, MergedWithPrevious, MergedWithNext or Contiguous",
        source_.file));
    return otherwise;
  }

  /// The length of FixedLength; 5 if the file does not state it.
  uint32_t length_of(const Json& json) {
    constexpr uint64_t kMost = 200;  // limited by the table's states
    const Json& length = member(json, "length");
    if (length.is_null()) return 5;
    const uint64_t value = length.is_number_unsigned() ? length.get<uint64_t>() : 0;
    if (value == 0) {
      problems_.push_back(fmt::format("{}: pre_tokenizer.length: should be a whole number above 0", source_.file));
      return 1;
    }
    if (value > kMost) {
      unsupported("length", fmt::format("{} is not supported; this version takes at most {}", value, kMost));
    }
    return static_cast<uint32_t>(std::min(value, kMost));
  }

  void read_byte_level(const Json& bytes, bool alone) {
    const bool prefix = flag(bytes, "add_prefix_space", true);
    const bool cuts = flag(bytes, "use_regex", true);
    source_.splitter.prefix_blank = prefix && alone;
    source_.prefix_words = prefix && !alone;
    if (!cuts && !source_.prefix_words) return;
    source_.rules.push_back({cuts ? kByteLevelPattern : kWholeTextPattern, {}, SplitBehaviour::kIsolated, false});
  }

  void read_one(const Json& json, const std::string& type) {
    const auto add = [this](std::vector<SplitSet> sets, SplitBehaviour behaviour, bool invert) {
      source_.rules.push_back({"", std::move(sets), behaviour, invert});
    };
    if (type == "Split") {
      read_split(json);
    } else if (type == "BertPreTokenizer") {
      add(bert_words(), SplitBehaviour::kRemoved, true);
    } else if (type == "Whitespace") {
      add(words_and_others(), SplitBehaviour::kRemoved, true);
    } else if (type == "WhitespaceSplit") {
      add({{of_class(text::kSpace)}}, SplitBehaviour::kRemoved, false);
    } else if (type == "Punctuation") {
      add({{of_class(text::kPunctuation)}}, behaviour(json, SplitBehaviour::kIsolated), false);
    } else if (type == "Digits") {
      const bool each = flag(json, "individual_digits", false);
      add({{CodeSet(numerals())}}, each ? SplitBehaviour::kIsolated : SplitBehaviour::kContiguous, false);
    } else if (type == "CharDelimiterSplit") {
      add_text(plain_text_of(member(json, "delimiter")), "delimiter", SplitBehaviour::kRemoved, false);
    } else if (type == "UnicodeScripts") {
      source_.rules.push_back(script_runs());
    } else if (type == "FixedLength") {
      CodeSet any;
      any.add(0, kCodePoints);
      add({{any, length_of(json)}}, SplitBehaviour::kIsolated, false);
    } else {
      unsupported("type", fmt::format("\"{}\" is not supported; this version takes BertPreTokenizer, ByteLevel, "
                                      "CharDelimiterSplit, Digits, FixedLength, Metaspace, Punctuation, Split, "
                                      "UnicodeScripts, Whitespace and WhitespaceSplit",
                                      type));
    }
  }

  void read_split(const Json& split) {
    const SplitBehaviour what = behaviour(split, SplitBehaviour::kIsolated);
    const bool invert = flag(split, "invert", false);
    const Json& pattern = member(split, "pattern");
    if (const Json& regex = member(pattern, "Regex"); regex.is_string() && !plain_text_of(regex).empty()) {
      source_.rules.push_back({plain_text_of(regex), {}, what, invert});
    } else {
      add_text(plain_text_of(member(pattern, "String")), "pattern", what, invert);
    }
  }

  /// Adds a rule that matches a literal text.
  void add_text(const std::string& text, const char* field, SplitBehaviour behaviour, bool invert) {
    if (text.empty()) {
      problems_.push_back(
          fmt::format("{}: pre_tokenizer.{}: should be a text or a regular expression", source_.file, field));
      return;
    }
    std::string pattern;
    size_t count = 0;
    for (const char c : text) {
      if (!text::goes_on_code(static_cast<uint8_t>(c))) ++count;
      if (std::string_view("\\.^$|?*+()[]{}-&").find(c) != std::string_view::npos) pattern += '\\';
      pattern += c;
    }
    if (count > 1 && std::string_view(field) == "delimiter") {
      problems_.push_back(fmt::format("{}: pre_tokenizer.delimiter: {} is more than one character", source_.file,
                                      Json(text).dump(-1, ' ', true, Json::error_handler_t::replace)));
      return;
    }
    source_.rules.push_back({pattern, {}, behaviour, invert});
  }

  TokenizerSource& source_;
  ProblemList& problems_;
};

}  // namespace

void read_splitters(const std::vector<const Json*>& parts, TokenizerSource& source, ProblemList& problems,
                    bool* bytes) {
  source.splitter.kind = fb::SplitterKind::pattern;
  *bytes = SplitterReader(source, problems).read(parts);
}

}  // namespace bantam::convert
