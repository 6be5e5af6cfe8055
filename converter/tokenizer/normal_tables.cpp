#include "tokenizer/normal_tables.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <map>

#include "text/charsmap.h"
#include "text/code_table.h"
#include "text/normal_sequence.h"
#include "text/unicode/unicode.h"
#include "text/utf8.h"
#include "tokenizer/unicode/code_set.h"
#include "tokenizer/unicode/form_tables.h"

namespace bantam::convert {
namespace {

using StageKind = fb::NormalizerKind;

/// A table under construction: the replacement of each code point, and its class.
class Table {
 public:
  void become(const std::vector<uint32_t>& mapping) {
    for (size_t i = 0; i < mapping.size(); i += 2 + mapping[i + 1]) {
      const auto first = mapping.begin() + static_cast<std::ptrdiff_t>(i) + 2;
      parts_[mapping[i]] = {true, {first, first + static_cast<std::ptrdiff_t>(mapping[i + 1])}};
    }
  }
  void set_class(uint32_t code, uint32_t bits) { classes_[code] |= bits; }
  void set_classes(const std::vector<uint32_t>& ranges, uint32_t bits) {
    for (size_t i = 0; i < ranges.size(); i += 2) {
      for (uint32_t code = ranges[i]; code < ranges[i + 1]; ++code) set_class(code, bits);
    }
  }
  uint32_t class_of(uint32_t code) const {
    const auto found = classes_.find(code);
    return found == classes_.end() ? 0 : found->second;
  }
  void compose(const std::vector<uint32_t>& pairs) {
    for (size_t i = 0; i < pairs.size(); i += 3) pairs_.push_back({pairs[i], pairs[i + 1], pairs[i + 2]});
    std::sort(pairs_.begin(), pairs_.end());
  }
  bool changes(uint32_t code) const { return parts_.find(code) != parts_.end(); }

  std::vector<uint32_t> words() const {
    std::vector<uint32_t> codes;
    std::vector<uint32_t> entries = {text::kStaysItself << 8};
    std::map<uint32_t, uint16_t> numbers = {{entries[0], 0}};
    std::map<uint32_t, uint16_t> of_code;
    const auto enter = [&](uint32_t code, uint32_t entry) {
      const auto [place, is_new] = numbers.emplace(entry, static_cast<uint16_t>(entries.size()));
      if (is_new) entries.push_back(entry);
      of_code[code] = place->second;
    };
    for (const auto& [code, bits] : classes_) {
      if (!changes(code)) enter(code, text::kStaysItself << 8 | bits);
    }
    const bool large = parts_.size() > kLargeTable;
    for (const auto& [code, part] : parts_) {
      const auto place = large && part.second.empty() ? 0 : static_cast<uint32_t>(codes.size());
      codes.insert(codes.end(), part.second.begin(), part.second.end());
      enter(code, class_of(code) | static_cast<uint32_t>(part.second.size()) << 8 | place << 13);
    }
    std::vector<uint32_t> tops(text::kCodeTop, 0);
    std::vector<std::array<uint16_t, 256>> blocks = {{}};
    for (const auto& [code, number] : of_code) {
      uint32_t& block = tops[code >> 8];
      if (block == 0) {
        block = static_cast<uint32_t>(blocks.size());
        blocks.emplace_back();
      }
      blocks[block][code & 255] = number;
    }
    if (large) share(tops, blocks);
    const std::vector<uint8_t> top(tops.begin(), tops.end());
    std::vector<uint32_t> words = {static_cast<uint32_t>(blocks.size()), static_cast<uint32_t>(entries.size()),
                                   static_cast<uint32_t>(codes.size()), static_cast<uint32_t>(pairs_.size())};
    append(words, top.data(), top.size());
    for (const auto& block : blocks) append(words, block.data(), sizeof(block));
    append(words, entries.data(), 4 * entries.size());
    append(words, codes.data(), 4 * codes.size());
    for (const auto& pair : pairs_) append(words, pair.data(), sizeof(pair));
    return words;
  }

 private:
  /// Number of changed code points above which equal blocks are stored once.
  static constexpr size_t kLargeTable = 100000;

  static void share(std::vector<uint32_t>& tops, std::vector<std::array<uint16_t, 256>>& blocks) {
    std::map<std::array<uint16_t, 256>, uint32_t> known;
    std::vector<uint32_t> places;
    std::vector<std::array<uint16_t, 256>> kept;
    for (const auto& block : blocks) {
      const auto [found, is_new] = known.emplace(block, static_cast<uint32_t>(kept.size()));
      if (is_new) kept.push_back(block);
      places.push_back(found->second);
    }
    for (uint32_t& top : tops) top = places[top];
    blocks = std::move(kept);
  }

  /// `size` is a multiple of 4.
  static void append(std::vector<uint32_t>& words, const void* bytes, size_t size) {
    const size_t at = words.size();
    words.resize(at + size / 4);
    if (size > 0) std::memcpy(words.data() + at, bytes, size);
  }

  std::map<uint32_t, std::pair<bool, std::vector<uint32_t>>> parts_;
  std::map<uint32_t, uint32_t> classes_;
  std::vector<std::array<uint32_t, 3>> pairs_;
};

Table starts() {
  Table table;
  table.set_classes(extending_ranges(), text::kExtends | text::kGoesOn);
  table.set_classes(lone_ranges(), text::kAlone | text::kGoesOn);
  table.set_classes({0x1161, 0x1176, 0x11A8, 0x11C3}, text::kGoesOn);  // vowels and final consonants of Hangul
  const auto& classes = combining_classes();
  std::map<uint32_t, bool> marks;
  for (size_t i = 0; i < classes.size(); i += 2) marks[classes[i]] = true;
  for (const auto& [code, is_mark] : marks) table.set_class(code, text::kGoesOn);
  for (size_t i = 0; i < compositions().size(); i += 3) table.set_class(compositions()[i + 1], text::kGoesOn);
  for (const auto* parts : {&canonical_parts(), &compatible_parts()}) {
    for (size_t i = 0; i < parts->size(); i += 2 + (*parts)[i + 1]) {
      const uint32_t first = (*parts)[i + 2];
      if (marks.count(first) > 0 || (table.class_of(first) & text::kGoesOn) != 0) {
        table.set_class((*parts)[i], text::kGoesOn);
      }
    }
  }
  return table;
}

/// The changes that the runtime's BERT normalizer makes to code points.
std::vector<uint32_t> bert_changes(CodeMap map) {
  std::vector<uint32_t> changes;
  for (uint32_t code = 0; code < kCodePoints; ++code) {
    const uint32_t bits = text::character_class(code);
    const uint32_t left_out = map == CodeMap::kBertText ? text::kControl : text::kMark;
    if ((bits & left_out) != 0) {
      changes.insert(changes.end(), {code, 0});
    } else if (map == CodeMap::kBertText && (bits & text::kSpace) != 0 && code != ' ') {
      changes.insert(changes.end(), {code, 1, ' '});
    }
  }
  return changes;
}

Table table_of(CodeMap map) {
  Table table;
  switch (map) {
    case CodeMap::kNone:
      break;
    case CodeMap::kCanonical:
    case CodeMap::kCompatible:
      table.become(map == CodeMap::kCanonical ? canonical_parts() : compatible_parts());
      for (size_t i = 0; i < combining_classes().size(); i += 2) {
        table.set_class(combining_classes()[i], combining_classes()[i + 1]);
      }
      table.compose(compositions());
      break;
    case CodeMap::kLowercase:
      table.become(lower_cases());
      break;
    case CodeMap::kStripAccents:
      table.become(stripped_accents());
      break;
    case CodeMap::kNmt:
      table.become(nmt_changes());
      break;
    case CodeMap::kBertText:
    case CodeMap::kBertAccents:
      table.become(bert_changes(map));
      break;
    case CodeMap::kNoPunctuation:
      for (uint32_t code = 0x21; code < 0x7F; ++code) {
        const bool letter = (code | 0x20) >= 'a' && (code | 0x20) <= 'z', digit = code >= '0' && code <= '9';
        if (!letter && !digit) table.become({code, 0});
      }
      break;
    case CodeMap::kBlanks:
      for (const CodeRange& range : matched_by_blank()) {
        for (uint32_t code = range.begin; code < range.end; ++code) {
          if (code != ' ' && code != '\n') table.become({code, 1, ' '});
        }
      }
      break;
  }
  return table;
}

bool leaves(const NormalStage& stage, const Table& table, const text::Charsmap& charsmap, uint8_t byte) {
  const fb::NormalizerT& rule = stage.rule;
  if (rule.kind == StageKind::map || rule.kind == StageKind::form) return !table.changes(byte);
  if (rule.kind == StageKind::charsmap) return charsmap.find(&byte, 1).text == nullptr;
  if (rule.kind != StageKind::replace) return true;
  const bool white = rule.text.empty() && byte == ' ';
  return !white && rule.text.find(static_cast<char>(byte)) == std::string::npos;
}

}  // namespace

bool is_charsmap(const std::string& bytes) {
  uint32_t size = 0;
  if (bytes.size() < sizeof(size)) return false;
  std::memcpy(&size, bytes.data(), sizeof(size));
  return size % 4 == 0 && size >= 4 && size <= bytes.size() - sizeof(size);
}

std::vector<uint8_t> build_forms(std::vector<NormalStage>& stages, const std::string& charsmap) {
  std::vector<std::vector<uint32_t>> tables = {starts().words()};
  std::map<CodeMap, uint32_t> numbers;
  std::array<uint32_t, 4> plain{};
  for (uint32_t c = 0x20; c < 0x7F; ++c) plain.at(c / 32) |= 1u << (c % 32);
  std::vector<uint32_t> aligned((charsmap.size() + 3) / 4);
  if (!charsmap.empty()) std::memcpy(aligned.data(), charsmap.data(), charsmap.size());
  text::Charsmap map = {};
  if (is_charsmap(charsmap)) {
    map = {reinterpret_cast<const uint8_t*>(aligned.data()), static_cast<uint32_t>(charsmap.size())};
  }
  for (NormalStage& stage : stages) {
    const Table table = table_of(stage.map);
    if (stage.map != CodeMap::kNone) {
      const auto [place, is_new] = numbers.emplace(stage.map, static_cast<uint32_t>(tables.size()));
      if (is_new) tables.push_back(table.words());
      stage.rule.table = place->second;
    }
    for (uint32_t c = 0x20; c < 0x7F; ++c) {
      if (!leaves(stage, table, map, static_cast<uint8_t>(c))) plain.at(c / 32) &= ~(1u << (c % 32));
    }
  }
  const auto loses_blanks = [](const NormalStage& stage) {
    const fb::NormalizerT& rule = stage.rule;
    if (rule.kind != StageKind::replace || (rule.text.find(' ') == std::string::npos && !rule.text.empty()))
      return false;
    return rule.least < 2 && rule.content != " " && rule.content != "\u2581";
  };
  std::vector<uint32_t> words = {text::kFormsVersion,
                                 std::none_of(stages.begin(), stages.end(), loses_blanks) ? 1u : 0u};
  words.insert(words.end(), plain.begin(), plain.end());
  words.push_back(static_cast<uint32_t>(tables.size()));
  auto offset = static_cast<uint32_t>(4 * (words.size() + tables.size()));
  for (const auto& table : tables) {
    words.push_back(offset);
    offset += static_cast<uint32_t>(4 * table.size());
  }
  for (const auto& table : tables) words.insert(words.end(), table.begin(), table.end());
  std::vector<uint8_t> bytes(4 * words.size());
  std::memcpy(bytes.data(), words.data(), bytes.size());
  return bytes;
}

std::string normalize_in_row(const std::vector<NormalStage>& stages, const std::vector<uint8_t>& forms,
                             const std::string& charsmap, const std::string& text) {
  fb::TokenizerT tokenizer;
  std::vector<uint32_t> data((forms.size() + 3) / 4 + (charsmap.size() + 3) / 4);
  const size_t at = (forms.size() + 3) / 4 * 4;
  std::memcpy(data.data(), forms.data(), forms.size());
  if (!charsmap.empty()) std::memcpy(reinterpret_cast<char*>(data.data()) + at, charsmap.data(), charsmap.size());
  for (const NormalStage& stage : stages)
    tokenizer.normalizers.push_back(std::make_unique<fb::NormalizerT>(stage.rule));
  const auto store = [&](fb::BlobName name, uint64_t offset, uint64_t size) {
    tokenizer.blobs.push_back(std::make_unique<fb::TokenizerBlobT>());
    tokenizer.blobs.back()->name = name;
    tokenizer.blobs.back()->data = std::make_unique<fb::Blob>(offset, size, 0, 0);
  };
  store(fb::BlobName::forms, 0, forms.size());
  store(fb::BlobName::charsmap, at, charsmap.size());
  flatbuffers::FlatBufferBuilder builder;
  builder.Finish(fb::Tokenizer::Pack(builder, &tokenizer));
  const auto& packed = *flatbuffers::GetRoot<fb::Tokenizer>(builder.GetBufferPointer());
  const auto rules = text::NormalSequence::of(packed, reinterpret_cast<const uint8_t*>(data.data()));
  const auto* bytes = reinterpret_cast<const uint8_t*>(text.data());
  const uint32_t end = text::SequenceStream::stripped_end(rules, bytes, 0, static_cast<uint32_t>(text.size()));
  text::SequenceStream stream(rules, bytes, 0, end, false);
  std::string result;
  for (text::NormalChar c{}; stream.next(&c);) {
    std::array<uint8_t, 4> utf8{};
    const uint32_t size = text::encode_utf8(c.code, utf8.data());
    result.append(reinterpret_cast<const char*>(utf8.data()), size);
  }
  return result;
}

}  // namespace bantam::convert
