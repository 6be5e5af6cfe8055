#include "firmware/reader.h"

#include <algorithm>
#include <array>

#include "base/strings.h"

namespace bantam::firmware {
namespace {

using convert::ends_with;
using convert::starts_with;

bool has(std::string_view line, std::string_view what) { return line.find(what) != std::string_view::npos; }

/// If readers do not need the declaration that begins with this line, returns the text at its end; otherwise returns an
/// empty string.
std::string_view dropped_until(std::string_view line) {
  if (starts_with(line, "static_assert(FLATBUFFERS_VERSION")) return ");";
  if (starts_with(line, "  bool Verify(")) return "  }";
  if (starts_with(line, "struct ") && ends_with(line, "Builder {")) return "};";
  if (ends_with(line, "Builder;")) return ";";
  if (starts_with(line, "inline bool Verify") || starts_with(line, "bool Verify"))
    return ends_with(line, ";") ? ";" : "}";
  // These functions handle whole buffers: identifiers, size prefixes, finishing.
  constexpr std::array kOfBuffers = {"inline void Finish", "inline bool ModelBufferHas", "inline bool SizePrefixed"};
  if (std::any_of(kOfBuffers.begin(), kOfBuffers.end(), [&](const char* with) { return starts_with(line, with); }))
    return "}";
  if (starts_with(line, "inline ") && (has(line, "Offset<") || has(line, " *GetSizePrefixed"))) return "}";
  return {};
}

}  // namespace

std::string reader_of(std::string_view generated) {
  std::string kept;
  std::string_view until;
  for (size_t at = 0; at < generated.size();) {
    const size_t end = std::min(generated.find('\n', at), generated.size());
    const std::string_view line = generated.substr(at, end - at);
    at = end + 1;
    const bool inside = !until.empty();
    if (!inside) until = dropped_until(line);
    if (until.empty()) {
      kept.append(line).append("\n");
      continue;
    }
    // A brace ends the declaration only if it is alone on its line; any other text may end a line.
    const bool closes = until == ");" || until == ";" ? ends_with(line, until) : line == until;
    if (closes) until = {};
  }
  return kept;
}

}  // namespace bantam::firmware
