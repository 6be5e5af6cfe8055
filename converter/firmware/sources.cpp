#include "firmware/sources.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/strings.h"
#include "firmware/conditions.h"
#include "linked.h"

namespace bantam::firmware {
namespace {

using convert::ends_with;
using convert::starts_with;

/// Returns the source file of a row of ops/ops.inc.
std::string op_source(uint32_t row) {
  constexpr const char* kSources[] = {
#define BANTAM_OP(name, kind, numerics, inputs, required, outputs, whole, macs, matrices, kernels, contexts, source) \
#source,
#include "ops/ops.inc"
#undef BANTAM_OP
  };
  return fmt::format("runtime/ops/{}.cpp", kSources[row]);
}

/// Returns a path without its extension: "runtime/text/bpe" for "runtime/text/bpe.h" and "runtime/text/bpe.cpp".
std::string stem_of(std::string_view path) { return std::string(path.substr(0, path.rfind('.'))); }

/// Returns true if a source contains more than comments and includes.
bool has_code(std::string_view text) {
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    const std::string_view line = text.substr(at, end - at);
    at = end + 1;
    const bool code = line.find_first_not_of(" \t\r") != std::string_view::npos && !starts_with(line, "//") &&
                      !starts_with(line, "#include");
    if (code) return true;
  }
  return false;
}

/// Returns the stems of headers that files other than their own source include. The sources of these headers are added
/// with the headers.
std::set<std::string> included_stems() {
  std::set<std::string> stems;
  for (const Resource& resource : resources()) {
    if (!starts_with(resource.path, "runtime/")) continue;
    for (const Resource* header : included(resource.text, resource.path)) {
      if (stem_of(header->path) != stem_of(resource.path)) stems.insert(stem_of(header->path));
    }
  }
  return stems;
}

/// The files found so far, with their remaining text.
class Closure {
 public:
  Closure(const Linked& linked, bool one_lane) : conditions_(linked, one_lane) {
    for (uint32_t row = 0; row < linked::kOps; ++row) op_sources_.insert(op_source(row));
  }

  bool is_op_source(const std::string& path) const { return op_sources_.count(path) != 0; }

  void add(std::string_view root) {
    visit(find_resource(root));
    while (!waiting_.empty()) {
      const Resource* next = waiting_.back();
      waiting_.pop_back();
      for (const Resource* header : included(tree_.at(std::string(next->path)), next->path)) {
        visit(header);
        const std::string source = stem_of(header->path) + ".cpp";
        if (!is_op_source(source)) visit(find_resource(source));
      }
    }
  }

  Tree take() { return std::move(tree_); }

 private:
  void visit(const Resource* resource) {
    if (resource == nullptr || !seen_.insert(resource).second) return;
    const std::string_view path = resource->path;
    const bool source = ends_with(path, ".cpp");
    const bool conditional = source || ends_with(path, ".h") || ends_with(path, ".inc") || ends_with(path, ".c");
    std::string text = conditional ? conditions_.resolve(resource->text) : std::string(resource->text);
    if (source && !has_code(text)) return;
    tree_.emplace(path, std::move(text));
    waiting_.push_back(resource);
  }

  Conditions conditions_;
  std::set<std::string> op_sources_;
  std::set<const Resource*> seen_;
  std::vector<const Resource*> waiting_;
  Tree tree_;
};

/// Returns the folders that bantam_firmware_library in firmware.cmake would choose. The folders below ops/, which
/// contain operators other than BERT's, are not among them; their files are added only if something includes them.
std::set<std::string_view> source_folders(std::string_view own_kernels) {
  const std::vector<Resource>& all = resources();
  const bool has_kernels = std::any_of(
      all.begin(), all.end(), [&](const Resource& resource) { return starts_with(resource.path, own_kernels); });
  return {"runtime/format/",       "runtime/model/",
          "runtime/session/",      "runtime/session/parts/",
          "runtime/ops/",          "runtime/text/",
          "runtime/text/unicode/", "runtime/tasks/",
          "runtime/sound/",        "runtime/c/",
          "runtime/kernels/",      has_kernels ? own_kernels : std::string_view("runtime/kernels/reference/")};
}

}  // namespace

Tree project_sources(const Target& target, const Linked& linked, const std::vector<std::string>& roots) {
  Closure closure(linked, target.isa != "mve");
  closure.add("LICENSE");
  for (uint32_t row = 0; row < linked::kOps; ++row) {
    if (linked.needs_op(row)) closure.add(op_source(row));
  }
  const std::string own_kernels = fmt::format("runtime/kernels/{}/", target.isa);
  const std::set<std::string_view> folders = source_folders(own_kernels);
  const std::set<std::string> included_elsewhere = included_stems();
  for (const Resource& resource : resources()) {
    const std::string path(resource.path);
    if (!ends_with(path, ".cpp") || folders.count(folder_of(resource.path)) == 0) continue;
    if (!closure.is_op_source(path) && included_elsewhere.count(stem_of(path)) == 0) closure.add(path);
  }
  for (const std::string& root : roots) closure.add(root);
  return closure.take();
}

}  // namespace bantam::firmware
