#include "firmware/resources.h"

#include <algorithm>

namespace bantam::firmware {
namespace {

/// Returns the names that a file includes by `#include "name"` and `#include <name>`.
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

std::string_view folder_of(std::string_view path) { return path.substr(0, path.rfind('/') + 1); }

const Resource* find_resource(std::string_view path) {
  const std::vector<Resource>& all = resources();
  const auto at = std::lower_bound(all.begin(), all.end(), path,
                                   [](const Resource& resource, std::string_view p) { return resource.path < p; });
  return at != all.end() && at->path == path ? &*at : nullptr;
}

std::vector<const Resource*> included(std::string_view text, std::string_view path) {
  std::vector<const Resource*> found;
  for (const std::string& name : included_names(text)) {
    if (const Resource* resource = find_included(name, path)) found.push_back(resource);
  }
  return found;
}

}  // namespace bantam::firmware
