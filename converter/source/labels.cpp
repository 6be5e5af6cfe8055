#include "source/labels.h"

#include <fmt/format.h>

#include <charconv>
#include <map>
#include <set>

namespace bantam::convert {
namespace {

std::string as_label(const Json& value) { return value.is_string() ? value.get<std::string>() : value.dump(); }

/// {"0": "negative", "1": "positive"}: indices are contiguous from 0.
std::vector<std::string> labels_by_id(const Fields& config, const Json& json) {
  std::map<uint32_t, std::string> by_id;
  for (const auto& [key, value] : json.items()) {
    uint32_t id = 0;
    const auto parsed = std::from_chars(key.data(), key.data() + key.size(), id);
    if (parsed.ec != std::errc() || parsed.ptr != key.data() + key.size()) {
      config.problem(ExitCode::kInvalid, "id2label", fmt::format("\"{}\" is not an index", key));
      return {};
    }
    by_id[id] = as_label(value);
  }
  std::vector<std::string> labels;
  for (auto& [id, label] : by_id) {
    if (id != labels.size()) {
      config.problem(ExitCode::kInvalid, "id2label", fmt::format("index {} is missing", labels.size()));
      return {};
    }
    labels.push_back(std::move(label));
  }
  return labels;
}

}  // namespace

std::vector<std::string> read_labels(const Fields& config, std::optional<uint64_t> rows) {
  std::vector<std::string> labels;
  if (config.has("id2label")) {
    const Json& json = config.raw("id2label");
    if (json.is_object()) {
      labels = labels_by_id(config, json);
    } else if (json.is_array()) {
      for (const Json& value : json) labels.push_back(as_label(value));
    } else {
      config.problem(ExitCode::kInvalid, "id2label", "is neither an object nor a list");
    }
    if (rows && !labels.empty() && labels.size() != *rows) {
      config.problem(ExitCode::kInvalid, "id2label",
                     fmt::format("names {} labels, but the classifier has {} outputs; the two do not belong together",
                                 labels.size(), *rows));
    }
  }
  if (!labels.empty()) return labels;
  constexpr uint32_t kMaxLabels = 1U << 20;
  uint64_t count = rows ? *rows : config.count("num_labels", kMaxLabels, 2);
  if (count > kMaxLabels) {
    config.problem(ExitCode::kUnsupported, "num_labels", fmt::format("{} labels are more than {}", count, kMaxLabels));
    count = 1;
  }
  return made_labels(count);
}

std::vector<std::string> made_labels(uint64_t count) {
  std::vector<std::string> labels;
  for (uint64_t i = 0; i < count; ++i) labels.push_back(fmt::format("LABEL_{}", i));
  return labels;
}

std::vector<std::string> read_label_list(const Fields& config, const std::string& key) {
  std::vector<std::string> labels;
  if (!config.has(key) || !config.raw(key).is_array() || config.raw(key).empty()) {
    config.problem(ExitCode::kInvalid, key, "a list of label names is missing");
    return {"LABEL_0"};
  }
  for (const Json& value : config.raw(key)) labels.push_back(as_label(value));
  return labels;
}

fb::TagScheme guess_tag_scheme(const std::vector<std::string>& labels) {
  std::map<char, std::set<std::string>> names;  // for each prefix
  for (const std::string& label : labels) {
    if (label.size() > 2 && label[1] == '-') names[label[0]].insert(label.substr(2));
  }
  const auto has = [&](char prefix) { return names.count(prefix) != 0; };
  if (!has('B') && !has('I')) return fb::TagScheme::plain;
  if (has('S') || has('U') || has('E') || has('L')) return fb::TagScheme::bioes;
  if (!has('I')) return fb::TagScheme::iob2;
  // In IOB2 every entity begins with B-, so that a name with only I- implies IOB1.
  for (const std::string& name : names['I']) {
    if (names['B'].count(name) == 0) return fb::TagScheme::iob1;
  }
  return fb::TagScheme::iob2;
}

fb::TagScheme parse_tag_scheme(const std::string& name) {
  static const std::map<std::string, fb::TagScheme> kNames = {
      {"plain", fb::TagScheme::plain}, {"iob1", fb::TagScheme::iob1},   {"iob2", fb::TagScheme::iob2},
      {"bio", fb::TagScheme::iob2},    {"bioes", fb::TagScheme::bioes}, {"bilou", fb::TagScheme::bioes}};
  const auto found = kNames.find(name);
  if (found != kNames.end()) return found->second;
  throw Error(ExitCode::kUsage, fmt::format("tag scheme \"{}\" is not known; plain, iob1, iob2 and bioes are", name));
}

}  // namespace bantam::convert
