#include "source/label_sets.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "bantam/model.h"
#include "source/labels.h"

namespace bantam::convert {
namespace {

constexpr const char* kSets = "label_sets";
constexpr const char* kParents = "label_parents";
constexpr size_t kMostSets = 16;  // limit of the runtime

/// Returns true if the chain of parents of `label` ends after few enough levels.
bool ends(const std::vector<int32_t>& parents, int32_t label) {
  uint32_t levels = 0;
  for (; label >= 0; label = parents[static_cast<size_t>(label)]) {
    if (levels++ == kMostLevels) return false;
  }
  return true;
}

/// Adds a new name to `taken`; a missing or repeated name is a problem.
bool is_new(const Fields& fields, const char* key, const std::string& name, std::set<std::string>* taken) {
  if (name.empty()) {
    fields.problem(ExitCode::kInvalid, key, "is missing; give it a name");
  } else if (!taken->insert(name).second) {
    fields.problem(ExitCode::kInvalid, key, fmt::format("\"{}\" is there twice; names must differ", name));
  } else {
    return true;
  }
  return false;
}

}  // namespace

std::vector<NamedLabels> read_label_sets(const Fields& config) {
  std::vector<NamedLabels> sets;
  if (!config.has(kSets)) return sets;
  const Json& list = config.raw(kSets);
  if (!list.is_array() || list.empty() || list.size() > kMostSets ||
      !std::all_of(list.begin(), list.end(), [](const Json& one) { return one.is_object(); })) {
    config.problem(
        ExitCode::kInvalid, kSets,
        fmt::format("is not a list of 1 to {} objects such as {{\"name\": \"topic\", \"labels\": [\"a\", \"b\"]}}",
                    kMostSets));
    return sets;
  }
  std::set<std::string> names;
  for (size_t i = 0; i < list.size(); ++i) {
    const Fields fields = config.inside(kSets, i);
    NamedLabels set;
    set.name = fields.text("name", "");
    set.tensor = fields.text("tensor", "");
    set.labels = read_label_list(fields, "labels");
    set.parents = read_label_parents(fields, set.labels);
    if (is_new(fields, "name", set.name, &names)) sets.push_back(std::move(set));
  }
  return sets;
}

std::vector<int32_t> read_label_parents(const Fields& config, const std::vector<std::string>& labels) {
  if (!config.has(kParents)) return {};
  const Json& object = config.raw(kParents);
  if (!object.is_object()) {
    config.problem(ExitCode::kInvalid, kParents, "is not an object such as {\"football\": \"sports\"}");
    return {};
  }
  std::map<std::string, int32_t> numbers;
  for (const std::string& label : labels) numbers.emplace(label, static_cast<int32_t>(numbers.size()));
  if (numbers.size() != labels.size()) {
    config.problem(ExitCode::kInvalid, kParents, "two labels have one name, so that it cannot say which stands above");
    return {};
  }
  std::vector<int32_t> parents(labels.size(), -1);
  for (const auto& [label, above] : object.items()) {
    const auto from = numbers.find(label);
    const auto to = above.is_string() ? numbers.find(above.get<std::string>()) : numbers.end();
    if (from == numbers.end() || to == numbers.end()) {
      config.problem(ExitCode::kInvalid, kParents,
                     fmt::format("{}: {} is not a label", label, from == numbers.end() ? "it" : above.dump()));
      return {};
    }
    parents[static_cast<size_t>(from->second)] = to->second;
  }
  for (size_t i = 0; i < parents.size(); ++i) {
    if (ends(parents, static_cast<int32_t>(i))) continue;
    config.problem(ExitCode::kInvalid, kParents,
                   fmt::format("\"{}\" stands above itself, or under more than {} labels", labels[i], kMostLevels - 1));
    return {};
  }
  return parents;
}

}  // namespace bantam::convert
