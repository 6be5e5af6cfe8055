#include "source/marian/marian_settings.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <utility>

namespace bantam::convert {
namespace {

std::string_view without_blanks(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\r";
  const size_t first = text.find_first_not_of(kBlanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlanks) - first + 1);
}

std::string without_quotes(std::string_view text) {
  const bool quoted = text.size() > 1 && (text.front() == '"' || text.front() == '\'') && text.front() == text.back();
  return std::string(quoted ? text.substr(1, text.size() - 2) : text);
}

/// A setting, its supported values, the first of which is the default, and advice for other values.
struct Demand {
  const char* key;
  std::vector<const char*> values;
  const char* otherwise;
};

constexpr const char* kOnlyStudents =
    "of Marian's own files only students are supported: transformers with norms behind their parts, with SSRU cells in "
    "the decoder";
constexpr const char* kThroughTransformers =
    "only decoders of SSRU cells are supported from Marian's own files; transformers' convert_marian_to_pytorch.py "
    "makes "
    "a directory of this one, which converts";

const std::vector<Demand>& demands() {
  static const std::vector<Demand> kDemands = {
      {"type", {"transformer"}, kOnlyStudents},
      {"transformer-decoder-autoreg", {"self-attention", "rnn"}, kThroughTransformers},
      {"dec-cell", {"gru", "ssru"}, "train the student with \"--dec-cell ssru\""},
      {"transformer-preprocess", {"", "d"}, kOnlyStudents},
      {"transformer-postprocess", {"dan", "an"}, kOnlyStudents},
      {"transformer-postprocess-emb", {"d", ""}, kOnlyStudents},
      {"transformer-postprocess-top", {"", "d"}, kOnlyStudents},
      {"transformer-ffn-depth", {"2"}, kOnlyStudents},
      {"transformer-decoder-ffn-depth", {"0", "2"}, kOnlyStudents},
      {"transformer-ffn-activation", {"swish", "relu", "gelu"}, kOnlyStudents},
      {"transformer-train-position-embeddings", {"false"}, kOnlyStudents},
      {"transformer-tied-layers", {""}, kOnlyStudents},
      {"transformer-no-projection", {"false"}, kOnlyStudents},
      {"transformer-rnn-projection", {"false"}, kOnlyStudents},
      {"transformer-no-bias", {"false"}, kOnlyStudents},
      {"transformer-no-affine", {"false"}, kOnlyStudents},
      {"transformer-pool", {"false"}, kOnlyStudents},
      {"layer-normalization", {"false"}, kOnlyStudents},
      {"lemma-dim-emb", {"0"}, "vocabularies of factors are not supported"},
      {"right-left", {"false"}, "texts from their ends on are not supported"},
      {"ulr", {"false"}, kOnlyStudents},
  };
  return kDemands;
}

}  // namespace

MarianSettings::MarianSettings(std::string_view text, std::string where) : where_(std::move(where)) {
  std::vector<std::string>* values = nullptr;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end), trimmed = without_blanks(line);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (trimmed.empty() || trimmed.front() == '#') continue;
    if (trimmed == "-" || trimmed.substr(0, 2) == "- ") {
      if (values != nullptr) values->push_back(without_quotes(without_blanks(trimmed.substr(1))));
      continue;
    }
    const size_t colon = trimmed.find(':');
    if (line.front() == ' ' || colon == std::string_view::npos) continue;
    values = &values_[std::string(trimmed.substr(0, colon))];
    values->clear();
    const std::string_view value = without_blanks(trimmed.substr(colon + 1));
    if (!value.empty() && value != "[]" && value != "~") values->push_back(without_quotes(value));
  }
}

std::string MarianSettings::text(const std::string& key, const std::string& otherwise) const {
  const auto found = values_.find(key);
  if (found == values_.end()) return otherwise;
  return found->second.empty() ? "" : found->second.front();
}

uint32_t MarianSettings::count(const std::string& key, uint32_t most, uint32_t otherwise, Problems* problems) const {
  if (!has(key)) return otherwise;
  const std::string value = text(key, "");
  uint32_t number = 0;
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
  if (error == std::errc() && end == value.data() + value.size() && number >= 1 && number <= most) return number;
  problems->add(ExitCode::kInvalid,
                fmt::format("{}: {}: \"{}\" is not a whole number from 1 to {}", where_, key, value, most));
  return 1;
}

double MarianSettings::number(const std::string& key, double otherwise) const {
  const std::string value = text(key, "");
  double number = 0;
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
  return error == std::errc() && end == value.data() + value.size() ? number : otherwise;
}

std::vector<std::string> MarianSettings::list(const std::string& key) const {
  const auto found = values_.find(key);
  return found == values_.end() ? std::vector<std::string>() : found->second;
}

void check_marian(const MarianSettings& settings, Problems* problems) {
  const auto refuse = [&](const std::string& key, const std::string& value, const std::string& why) {
    problems->add(ExitCode::kUnsupported,
                  fmt::format("{}: {}: \"{}\" is not supported; {}", settings.where(), key, value, why));
  };
  for (const Demand& demand : demands()) {
    const std::string value = settings.text(demand.key, demand.values.front());
    const auto known = std::find(demand.values.begin(), demand.values.end(), value);
    // For these two keys, Marian's default value is not the one that students use.
    const std::string_view key = demand.key;
    const bool usual = known == demand.values.begin() && (key == "dec-cell" || key == "transformer-decoder-autoreg");
    if (known == demand.values.end() || usual) refuse(demand.key, value, demand.otherwise);
  }
  if (settings.text("tied-embeddings-all", "false") != "true" && settings.text("tied-embeddings", "false") != "true") {
    refuse("tied-embeddings-all", settings.text("tied-embeddings-all", "false"),
           "output layers that are not the decoder's embeddings are not supported; train the student with "
           "\"--tied-embeddings-all\"");
  }
}

}  // namespace bantam::convert
