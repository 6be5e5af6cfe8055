#include "import/tokenizer/added_texts.h"

#include <algorithm>

namespace bantam::convert {
namespace {

/// Pairs that are compared; with more, any two count as rivals.
constexpr size_t kMostPairs = 100000;

/// Whether two texts can share characters of a longer one.
bool overlap(const std::string& a, const std::string& b) {
  const auto meets = [](const std::string& first, const std::string& second) {
    if (first.find(second) != std::string::npos) return true;
    for (size_t size = 1; size < std::min(first.size(), second.size()); ++size) {
      if (first.compare(first.size() - size, size, second, 0, size) == 0) return true;
    }
    return false;
  };
  return meets(a, b) || meets(b, a);
}

}  // namespace

std::optional<std::pair<uint32_t, uint32_t>> find_rivals(const AddedTexts& added,
                                                         const std::vector<std::unique_ptr<fb::AddedTokenT>>& tokens) {
  const bool many = !added[1].empty() && added[0].size() > kMostPairs / added[1].size();
  for (const auto& [normalized, index] : added[1]) {
    const fb::AddedTokenT& token = *tokens[index];
    const bool minds = token.single_word || token.lstrip || token.rstrip;
    const bool blank = normalized.find_first_of(" \t\r\n\f\v") != std::string::npos;
    for (const auto& [raw, other] : added[0]) {
      const bool strips = tokens[other]->lstrip || tokens[other]->rstrip;
      if (many || minds || (strips && blank) || overlap(raw, normalized)) return std::make_pair(index, other);
    }
  }
  return std::nullopt;
}

}  // namespace bantam::convert
