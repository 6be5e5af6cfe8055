#include "student/scripts.h"

#include <algorithm>
#include <array>

#include "text/utf8.h"

namespace bantam::convert {
namespace {

struct CodeBlock {
  uint32_t begin, end;  // half-open
  const char* script;   // null: common to all scripts
};

// The blocks of Unicode 15's Blocks.txt; neighboring blocks of the same script are joined. Other code points belong to
// no script here.
constexpr std::array<CodeBlock, 50> kBlocks = {{
    {0x0000, 0x0041, nullptr},    {0x0041, 0x005B, "latin"},      {0x005B, 0x0061, nullptr},
    {0x0061, 0x007B, "latin"},    {0x007B, 0x00AA, nullptr},      {0x00AA, 0x00AB, "latin"},
    {0x00AB, 0x00BA, nullptr},    {0x00BA, 0x00BB, "latin"},      {0x00BB, 0x00C0, nullptr},
    {0x00C0, 0x02B0, "latin"},    {0x02B0, 0x0370, nullptr},      {0x0370, 0x0400, "greek"},
    {0x0400, 0x0530, "cyrillic"}, {0x0530, 0x0590, "armenian"},   {0x0590, 0x0600, "hebrew"},
    {0x0600, 0x0780, "arabic"},   {0x0900, 0x0980, "devanagari"}, {0x0980, 0x0A00, "bengali"},
    {0x0A00, 0x0A80, "gurmukhi"}, {0x0A80, 0x0B00, "gujarati"},   {0x0B80, 0x0C00, "tamil"},
    {0x0C00, 0x0C80, "telugu"},   {0x0C80, 0x0D00, "kannada"},    {0x0D00, 0x0D80, "malayalam"},
    {0x0E00, 0x0E80, "thai"},     {0x10A0, 0x1100, "georgian"},   {0x1100, 0x1200, "hangul"},
    {0x1200, 0x13A0, "ethiopic"}, {0x1AB0, 0x1B00, nullptr},      {0x1C80, 0x1C90, "cyrillic"},
    {0x1D00, 0x1DC0, "latin"},    {0x1DC0, 0x1E00, nullptr},      {0x1E00, 0x1F00, "latin"},
    {0x1F00, 0x2000, "greek"},    {0x2000, 0x2C00, nullptr},      {0x2C60, 0x2C80, "latin"},
    {0x2DE0, 0x2E00, "cyrillic"}, {0x2E00, 0x2E80, nullptr},      {0x2E80, 0x3000, "han"},
    {0x3000, 0x3040, nullptr},    {0x3040, 0x3100, "kana"},       {0x3130, 0x3190, "hangul"},
    {0x31F0, 0x3200, "kana"},     {0x3200, 0x3400, nullptr},      {0x3400, 0xA000, "han"},
    {0xA640, 0xA6A0, "cyrillic"}, {0xA720, 0xA800, "latin"},      {0xAC00, 0xD7B0, "hangul"},
    {0xF900, 0xFB00, "han"},      {0xFE00, 0xFFF0, nullptr},
}};

const char* const kNone = "";

/// Returns the script's name, null if the code point is common to all scripts, or "" if it belongs to none.
const char* script_of(uint32_t code) {
  if (code >= 0x1F000 && code < 0x1FB00) return nullptr;  // emoji
  if (code >= 0x20000 && code < 0x32000) return "han";
  const auto* after = std::upper_bound(kBlocks.begin(), kBlocks.end(), code,
                                       [](uint32_t value, const CodeBlock& block) { return value < block.end; });
  return after != kBlocks.end() && code >= after->begin ? after->script : kNone;
}

}  // namespace

const std::vector<std::string>& script_names() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> found;
    for (const CodeBlock& block : kBlocks) {
      if (block.script != nullptr) found.emplace_back(block.script);
    }
    std::sort(found.begin(), found.end());
    found.erase(std::unique(found.begin(), found.end()), found.end());
    return found;
  }();
  return names;
}

bool in_scripts(std::string_view text, const std::vector<std::string>& scripts) {
  const auto* bytes = reinterpret_cast<const uint8_t*>(text.data());
  for (size_t at = 0; at < text.size();) {
    const text::CodePoint c =
        text::decode_utf8(bytes + at, static_cast<uint32_t>(std::min<size_t>(text.size() - at, 4)));
    at += c.size;
    const char* script = script_of(c.code);
    if (script != nullptr && std::find(scripts.begin(), scripts.end(), script) == scripts.end()) return false;
  }
  return true;
}

}  // namespace bantam::convert
