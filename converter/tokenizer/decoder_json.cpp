// Reads the decoder of a tokenizer.json: how tokens become text.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstring>
#include <vector>

#include "tokenizer/tokenizer_source.h"

namespace bantam::convert {
namespace {

constexpr size_t kMostSteps = 8;
constexpr uint64_t kMostStripped = 1u << 16;

std::string words_of(const Json& json) { return json.is_string() ? json.get<std::string>() : std::string(); }

bool flag_of(const Json& json, const char* key, bool otherwise) {
  const Json& value = member(json, key);
  return value.is_boolean() ? value.get<bool>() : otherwise;
}

/// Reads Replace, ByteFallback, Fuse and Strip, in this order and each at most once. Returns false for any other
/// sequence.
bool read_row(const std::vector<const Json*>& steps, TokenizerSource& source) {
  uint32_t flags = 0;
  uint64_t strip = 0;
  bool fused = false;
  size_t at = 0;
  const auto is = [&](const char* type) { return at < steps.size() && member(*steps[at], "type") == type; };
  if (is("Replace")) {
    const Json& step = *steps[at++];
    if (member(member(step, "pattern"), "String") != "\u2581" || member(step, "content") != " ") return false;
    flags |= text::kDecodeMarks;
  }
  if (is("ByteFallback")) {
    flags |= text::kDecodeByteFallback;
    ++at;
  }
  if (is("Fuse")) {
    fused = true;
    ++at;
  }
  if (is("Strip")) {
    const Json& step = *steps[at++];
    const Json& start = member(step, "start");
    if (!fused || member(step, "content") != " " || member(step, "stop") != 0) return false;
    if (!start.is_number_unsigned() || start.get<uint64_t>() > kMostStripped) return false;
    strip = start.get<uint64_t>();
  }
  if (at != steps.size()) return false;
  set_decoder(source, text::kDecodePieces, flags, "", static_cast<uint32_t>(strip));
  return true;
}

bool read_step(const Json& step, TokenizerSource& source) {
  const std::string type = words_of(member(step, "type"));
  if (type == "ByteLevel") {
    if (!source.is_bpe() || source.is_of_code_points()) return false;
    set_decoder(source, text::kDecodeBytes, source.end_suffix.empty() ? 0u : text::kDecodeEndMarks, source.end_suffix);
  } else if (type == "WordPiece" && !source.has_marks()) {
    const std::string prefix = words_of(member(step, "prefix"));
    if (prefix.size() > text::kMaxDecoderText) return false;
    set_decoder(source, text::kDecodeWordPiece, flag_of(step, "cleanup", true) ? text::kDecodeCleans : 0u, prefix);
  } else if (type == "Metaspace") {
    const Json& scheme = member(step, "prepend_scheme");
    const bool drops = scheme.is_string() ? scheme != "never" : flag_of(step, "add_prefix_space", true);
    if (member(step, "replacement") != "\u2581") return false;
    set_decoder(source, text::kDecodePieces, text::kDecodeMarks | (drops ? text::kDecodeDropsFirst : 0u));
  } else if (type == "BPEDecoder" && !source.has_marks()) {
    const std::string suffix = words_of(member(step, "suffix"));
    if (suffix.size() > text::kMaxDecoderText || (!source.end_suffix.empty() && suffix != source.end_suffix))
      return false;
    set_decoder(source, text::kDecodeSuffix, source.end_suffix.empty() ? 0u : text::kDecodeEndMarks, suffix);
  } else {
    return read_row({&step}, source);
  }
  return true;
}

}  // namespace

void set_decoder(TokenizerSource& source, text::DecodeKind kind, uint32_t flags, const std::string& text,
                 uint32_t strip) {
  const text::DecodeRules rules = {text::kDecoderVersion, kind, flags, strip, static_cast<uint32_t>(text.size())};
  const text::DecodeRules usual = text::usual_rules(source.model.kind, source.is_of_code_points());
  const std::string usual_text = source.is_wordpiece() ? source.model.continuing_prefix : "";
  source.decoder.clear();
  if (kind == usual.kind && flags == usual.flags && strip == usual.strip && text == usual_text) return;
  source.decoder.assign(sizeof(rules), '\0');
  std::memcpy(source.decoder.data(), &rules, sizeof(rules));
  source.decoder += text;
}

void read_decoder(const Json& decoder, TokenizerSource& source) {
  // Letters that represent bytes: other decoders do not handle them.
  const bool letters = source.is_bpe() && !source.is_of_code_points();
  bool good = false;
  std::string types = "none";
  // Only these decoders convert marks in tokens back to text.
  const std::string named = words_of(member(decoder, "type"));
  const bool unmarked = source.end_suffix.empty() && source.inner_prefix.empty();
  if (!unmarked && (!source.inner_prefix.empty() || (named != "ByteLevel" && named != "BPEDecoder"))) {
    types = named;
  } else if (decoder.is_null()) {
    good = !letters && !source.has_marks();
    if (good) set_decoder(source, text::kDecodeJoin, 0);
  } else if (const Json& list = member(decoder, "decoders"); list.is_array()) {
    std::vector<const Json*> steps;
    std::vector<std::string> names;
    for (size_t i = 0; i < list.size() && i < kMostSteps; ++i) {
      steps.push_back(&list[i]);
      names.push_back(words_of(member(list[i], "type")));
    }
    types = fmt::format("{}", fmt::join(names, ", "));
    good =
        list.size() == 1 ? read_step(list[0], source) : !letters && list.size() < kMostSteps && read_row(steps, source);
  } else {
    types = words_of(member(decoder, "type"));
    good = (!letters || types == "ByteLevel") && read_step(decoder, source);
  }
  if (good) return;
  set_decoder(source, text::kDecodeNot, 0);
  if (decoder.is_null()) return;
  source.notes.push_back(
      fmt::format("{}: decoder: \"{}\" is not supported: the file tokenizes texts, but does not make texts of ids",
                  source.file, types));
}

}  // namespace bantam::convert
