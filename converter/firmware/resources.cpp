#include "firmware/resources.h"

#include <algorithm>
#include <set>

namespace bantam::firmware {
namespace {

std::string_view folder_of(std::string_view path) {
  const size_t slash = path.rfind('/');
  return slash == std::string_view::npos ? std::string_view{} : path.substr(0, slash + 1);
}

/// The names that a file includes: lines `#include "name"` and `#include <name>`.
std::vector<std::string> included_names(std::string_view text) {
  constexpr std::string_view kDirective = "#include ";
  std::vector<std::string> names;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    std::string_view line = text.substr(at, end - at);
    at = end + 1;
    line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
    if (line.substr(0, kDirective.size()) != kDirective) continue;
    line.remove_prefix(kDirective.size());
    const size_t close = line.find_first_of("\">", 1);
    if (close != std::string_view::npos) names.emplace_back(line.substr(1, close - 1));
  }
  return names;
}

const Resource* find_included(const std::string& name, std::string_view from) {
  const std::string beside(folder_of(from));
  for (const std::string& folder : {beside, std::string("runtime/"), std::string("runtime/include/"),
                                    std::string("generated/"), std::string("targets/firmware/")}) {
    if (const Resource* found = find_resource(folder + name)) return found;
  }
  return nullptr;
}

}  // namespace

const Resource* find_resource(std::string_view path) {
  const std::vector<Resource>& all = resources();
  const auto at = std::lower_bound(all.begin(), all.end(), path,
                                   [](const Resource& resource, std::string_view p) { return resource.path < p; });
  return at != all.end() && at->path == path ? &*at : nullptr;
}

std::vector<const Resource*> with_includes(const std::vector<std::string>& roots) {
  const auto by_path = [](const Resource* a, const Resource* b) { return a->path < b->path; };
  std::set<const Resource*, decltype(by_path)> found(by_path);
  std::vector<const Resource*> waiting;
  const auto add = [&](const Resource* resource) {
    if (resource != nullptr && found.insert(resource).second) waiting.push_back(resource);
  };
  for (const std::string& root : roots) add(find_resource(root));
  while (!waiting.empty()) {
    const Resource* next = waiting.back();
    waiting.pop_back();
    for (const std::string& name : included_names(next->text)) add(find_included(name, next->path));
  }
  return {found.begin(), found.end()};
}

}  // namespace bantam::firmware
