#include "firmware/library.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "base/error.h"
#include "base/json_file.h"
#include "base/printable.h"
#include "base/strings.h"
#include "firmware/c_names.h"
#include "firmware/config.h"
#include "firmware/linked.h"
#include "firmware/memory.h"
#include "firmware/resources.h"
#include "firmware/sources.h"

namespace bantam::firmware {
namespace {

using convert::ends_with;
using convert::starts_with;
using convert::to_string;

constexpr std::string_view kFormats = "targets/firmware/formats/";
constexpr std::string_view kCommon = "targets/firmware/formats/common/";
constexpr std::string_view kAbout = "about.md";  // becomes README.md

using Values = std::map<std::string, std::string>;

/// Makes a name of unknown content safe for XML, YAML, CMake and C.
std::string plain_words(const std::string& name) {
  constexpr size_t kLongest = 60;
  std::string plain;
  for (const char c : name.substr(0, kLongest)) {
    const bool good =
        (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '.';
    if (good || (!plain.empty() && plain.back() != ' ')) plain += good ? c : ' ';
  }
  return plain.find_first_not_of(' ') == std::string::npos ? "A model" : plain;
}

/// Returns the path of a resource below src/.
std::string library_place(std::string_view path) {
  for (const std::string_view folder :
       {"runtime/include/", "runtime/", "generated/", "targets/firmware/example/", "targets/firmware/"}) {
    if (starts_with(path, folder)) return fmt::format("src/{}", path.substr(folder.size()));
  }
  throw convert::Error(convert::ExitCode::kInternal, fmt::format("{}: has no place in a library", path));
}

Tree library_sources(const Project& project) {
  Tree tree;
  const std::vector<std::string> roots = {"targets/firmware/example/terminal.cpp",
                                          "targets/firmware/configured_session.h"};
  for (const auto& [path, text] : project_sources(project.target, linked_by(project.model), roots)) {
    if (path != "LICENSE") tree[library_place(path)] = runtime_file(path, text);
  }
  for (const Resource& resource : resources()) {
    if (!starts_with(resource.path, kCommon)) continue;
    const std::string place(resource.path.substr(kCommon.size()));
    if (!starts_with(place, "src/")) continue;
    tree[place] = runtime_file(resource.path, std::string(resource.text));
  }
  tree["src/bantam_config.h"] = config_header(project, kConfigName, Rounding::kByPragma);
  tree["src/bantam_model.h"] =
      "#include \"bantam_config.h\"\n" + array_header("bantam_model_data", project.file.size());
  tree["src/bantam_model.c"] = array_source("bantam_model.h", "bantam_model_data", project.file);
  return tree;
}

/// Fills in a template: the value of NAME replaces @NAME@. A line with @SOURCE@ is repeated for each source below src/.
std::string filled_template(std::string_view text, const Values& values, const std::vector<std::string>& files) {
  std::string result;
  const auto put_line = [&](std::string_view line, const std::string& source) {
    for (size_t at = 0; at < line.size();) {
      const size_t begin = std::min(line.find('@', at), line.size());
      result += line.substr(at, begin - at);
      if (begin == line.size()) return;
      const size_t end = line.find('@', begin + 1);
      const std::string name(line.substr(begin + 1, end == std::string_view::npos ? 0 : end - begin - 1));
      const auto value = values.find(name);
      if (name == "SOURCE") {
        result += source;
      } else if (value != values.end()) {
        result += value->second;
      } else {
        throw convert::Error(convert::ExitCode::kInternal,
                             fmt::format("a template names @{}@, which nobody knows", name));
      }
      at = end + 1;
    }
  };
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    const std::string_view line = text.substr(at, end + 1 - at);
    at = end + 1;
    if (line.find("@SOURCE@") == std::string_view::npos) {
      put_line(line, "");
    } else {
      for (const std::string& file : files) put_line(line, file);
    }
  }
  return result;
}

/// Returns a core's name in CMSIS's spelling: "Cortex-M0+" for "cortex-m0plus".
std::string cmsis_name(const std::string& core) {
  const std::string name = "Cortex-" + capitals(core.substr(core.find('-') + 1));
  const size_t plus = name.find("PLUS");
  return plus == std::string::npos ? name : name.substr(0, plus) + "+";
}

Values values_of(const Project& project, const std::string& format, const std::string& version) {
  const std::string name = to_string(project.model.name());
  const std::string licence = to_string(project.model.licence());
  const Resource* facts_file = find_resource("targets/packages/facts.json");
  if (facts_file == nullptr) throw convert::Error(convert::ExitCode::kInternal, "facts.json: not there");
  const convert::Json facts = convert::parse_json(facts_file->text, "facts.json");
  std::vector<std::string> cores;
  for (const std::string& core : cores_with(project.target.isa)) {
    if (convert::starts_with(core, "cortex-")) cores.push_back(fmt::format("<accept Dcore=\"{}\"/>", cmsis_name(core)));
  }
  return {{"NAME", plain_words(name)},
          {"LICENCE", licence.empty() ? "not stated in the file" : convert::markdown_text(licence)},
          {"VERSION", version},
          {"FORMAT", format},
          {"CORE", project.target.core},
          {"DCORE", fmt::format("{}", fmt::join(cores, "\n      "))},
          {"FPU", has_fpu(project.target.core) ? "y" : "n"},
          {"MODEL", fmt::to_string(project.file.size())},
          {"ARENA", fmt::to_string(sum(arena_parts(project.model, project.options)))},
          {"STACK", fmt::to_string(stack_bytes(project.model))},
          {"WORDS", fmt::format("{}", fmt::join(linked_by(project.model).words, ", "))},
          {"SUMMARY", facts.at("summary").get<std::string>() + "."},
          {"MAINTAINER", facts.at("maintainer").get<std::string>()},
          {"URL", facts.at("url").get<std::string>()},
          {"SKETCH", std::string(find_resource(fmt::format("{}lines.ino", kCommon))->text)}};
}

}  // namespace

std::vector<std::string> library_formats() {
  std::set<std::string> names;
  for (const std::string_view path : resource_paths()) {
    if (!starts_with(path, kFormats)) continue;
    const std::string_view rest = path.substr(kFormats.size());
    names.emplace(rest.substr(0, rest.find('/')));
  }
  names.erase("common");
  return {names.begin(), names.end()};
}

Tree library_tree(const Project& project, const std::string& format, const std::string& version) {
  Tree tree = library_sources(project);
  std::vector<std::string> files;
  for (const auto& [path, text] : tree) {
    if (ends_with(path, ".cpp") || ends_with(path, ".c")) files.push_back(path.substr(4));
  }
  const Values values = values_of(project, format, version);
  const std::string folder = fmt::format("{}{}/", kFormats, format);
  for (const Resource& resource : resources()) {
    if (!starts_with(resource.path, folder)) continue;
    const std::string place(resource.path.substr(folder.size()));
    if (place != kAbout) {
      tree[place] = filled_template(resource.text, values, files);
      continue;
    }
    const Resource* closing = find_resource(fmt::format("{}closing.md", kCommon));
    tree["README.md"] = filled_template(std::string(resource.text) + std::string(closing->text), values, files);
  }
  tree["LICENSE"] = find_resource("LICENSE")->text;
  return tree;
}

}  // namespace bantam::firmware
