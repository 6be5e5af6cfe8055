#include "onnx/inputs.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <set>
#include <utility>
#include <vector>

namespace bantam::convert::onnx {
namespace {

const std::map<std::string, InputRole> kWords = {{"ids", InputRole::kIds},
                                                 {"mask", InputRole::kMask},
                                                 {"segments", InputRole::kSegments},
                                                 {"positions", InputRole::kPositions}};

std::string lower(std::string text) {
  for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

/// Names that determine the role without further words, as exporters of transformers write them.
std::optional<InputRole> role_of_name(const std::string& given) {
  static const std::map<std::string, InputRole> kRoles = {{"input_ids", InputRole::kIds},
                                                          {"ids", InputRole::kIds},
                                                          {"tokens", InputRole::kIds},
                                                          {"attention_mask", InputRole::kMask},
                                                          {"input_mask", InputRole::kMask},
                                                          {"mask", InputRole::kMask},
                                                          {"token_type_ids", InputRole::kSegments},
                                                          {"segment_ids", InputRole::kSegments},
                                                          {"position_ids", InputRole::kPositions}};
  std::string name = given;
  if (name.size() > 2 && name.compare(name.size() - 2, 2, ":0") == 0) name.resize(name.size() - 2);
  const auto found = kRoles.find(name);
  if (found == kRoles.end()) return std::nullopt;
  return found->second;
}

bool is_of_tokens(const Port& port) { return port.dims.empty() || port.dims.size() == 2; }

/// Returns why a port cannot have this role; "" if it can.
std::string why_not(const Port& port, InputRole role) {
  if (!is_of_tokens(port)) return fmt::format("has {} axes, and inputs of [texts, tokens] are read", port.dims.size());
  if (is_float(port.type) && role != InputRole::kMask) return "is of floats, and models that take token ids are read";
  return "";
}

}  // namespace

std::map<std::string, InputRole> parse_inputs(const std::string& text) {
  std::map<std::string, InputRole> out;
  std::set<InputRole> taken;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find(',', begin), text.size());
    const std::string pair = text.substr(begin, end - begin);
    const size_t equal = pair.find('=');
    const auto role = kWords.find(pair.substr(0, equal));
    const bool fits = equal != std::string::npos && equal + 1 < pair.size() && role != kWords.end();
    if (!fits || !taken.insert(role->second).second || !out.emplace(pair.substr(equal + 1), role->second).second) {
      throw Error(
          ExitCode::kUsage,
          fmt::format("--inputs: \"{}\" is not understood; write ids=NAME,mask=NAME,segments=NAME,positions=NAME "
                      "with those that the graph has, each once",
                      pair));
    }
    begin = end + 1;
  }
  return out;
}

const char* name_of(InputRole role) {
  switch (role) {
    case InputRole::kIds:
      return "input_ids";
    case InputRole::kMask:
      return "attention_mask";
    case InputRole::kSegments:
      return "token_type_ids";
    case InputRole::kPositions:
      break;
  }
  return "position_ids";
}

std::optional<InputRole> role_of_words(std::string name) {
  name = lower(std::move(name));
  const auto has = [&](const char* part) { return name.find(part) != std::string::npos; };
  if (has("mask")) return InputRole::kMask;
  if (has("segment") || has("type")) return InputRole::kSegments;
  if (has("position")) return InputRole::kPositions;
  if (has("id") || has("token") || has("word") || has("text")) return InputRole::kIds;
  return std::nullopt;
}

bool is_cache(const Port& port) {
  return is_float(port.type) && port.dims.size() == 4 && port.name.rfind("past", 0) == 0;
}

std::optional<int64_t> switch_value(const Port& port) {
  if (port.name == "use_cache_branch" || port.name == "num_logits_to_keep") return 0;
  return std::nullopt;
}

std::map<std::string, InputRole> input_roles(const Model& model, Problems& problems) {
  std::map<std::string, InputRole> roles;
  std::map<InputRole, std::string> taken;
  const std::string file = model.path.string();
  const auto refuse = [&](const std::string& why) {
    problems.add(ExitCode::kUnsupported, fmt::format("{}: {}", file, why));
  };
  const auto take = [&](const Port& port, InputRole role) {
    const std::string why = why_not(port, role);
    if (!why.empty()) return refuse(fmt::format("input \"{}\" {}", port.name, why));
    const auto [other, first] = taken.emplace(role, port.name);
    if (!first) {
      return refuse(
          fmt::format("inputs \"{}\" and \"{}\" are both {}; say which input is what: --inputs "
                      "ids=NAME,mask=NAME",
                      other->second, port.name, name_of(role)));
    }
    roles[port.name] = role;
  };
  std::set<InputRole> given;
  for (const auto& input : model.given) given.insert(input.second);
  std::vector<const Port*> open;
  std::set<std::string> there;
  for (const Port& port : model.graph.inputs) {
    if (model.graph.initializers.count(port.name) != 0 || !there.insert(port.name).second) continue;
    if (is_cache(port) || switch_value(port)) continue;
    const auto said = model.given.find(port.name);
    const std::optional<InputRole> named = role_of_name(port.name);
    if (said != model.given.end()) {
      take(port, said->second);
    } else if (named && given.count(*named) == 0) {
      take(port, *named);
    } else {
      open.push_back(&port);
    }
  }
  for (const auto& [name, role] : model.given) {
    if (there.count(name) != 0) continue;
    std::string all;
    for (const std::string& one : there) all += (all.empty() ? "\"" : ", \"") + one + "\"";
    problems.add(ExitCode::kUsage,
                 fmt::format("{}: has no input \"{}\", which --inputs names; its inputs: {}", file, name, all));
  }
  // Names contain words for the mask, segments and positions; booleans are the mask, and the remaining integers are
  // ids.
  std::vector<const Port*> rest;
  for (const Port* port : open) {
    std::optional<InputRole> role = role_of_words(port->name);
    if (port->type == Type::boolean) role = InputRole::kMask;
    const bool sure = role && *role != InputRole::kIds && given.count(*role) + taken.count(*role) == 0 &&
                      why_not(*port, *role).empty();
    if (sure) {
      take(*port, *role);
    } else {
      rest.push_back(port);
    }
  }
  const bool one = rest.size() == 1 && taken.count(InputRole::kIds) == 0 && why_not(*rest[0], InputRole::kIds).empty();
  if (one) {
    take(*rest[0], InputRole::kIds);
    rest.clear();
  }
  for (const Port* port : rest) {
    const std::string why = why_not(*port, InputRole::kIds);
    const bool known = taken.count(InputRole::kIds) != 0;
    refuse(fmt::format("input \"{}\" {}", port->name,
                       !why.empty() ? why
                       : known ? "is neither ids, a mask, segments nor positions; models that take no others are read"
                               : "may be ids or something else; say which input is what: --inputs ids=NAME,mask=NAME"));
  }
  if (taken.count(InputRole::kIds) == 0 && rest.empty()) refuse("has no input of token ids");
  return roles;
}

void find_fixed_length(Model& model) {
  Problems ignored;  // the lowering reports them
  const std::map<std::string, InputRole> roles = input_roles(model, ignored);
  bool mask = false;
  for (const Port& port : model.graph.inputs) {
    const auto role = roles.find(port.name);
    if (role == roles.end()) continue;
    mask = mask || role->second == InputRole::kMask;
    if (port.dims.size() == 2) model.tokens = std::max(model.tokens, port.dims[1]);
  }
  model.filled = model.tokens > 0 && !mask;
}

}  // namespace bantam::convert::onnx
