#include "tokenizer/added_texts.h"

#include <algorithm>

namespace bantam::convert {
namespace {

/// Maximum number of pairs to compare; with more, rivals are assumed.
constexpr size_t kMostPairs = 100000;

/// Returns true if the two texts can overlap within a longer text.
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

bool is_blank(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

/// ASCII punctuation, which is not part of words.
bool is_mark(char c) {
  const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
  return c > ' ' && c < 0x7f && !letter && !(c >= '0' && c <= '9') && c != '_';
}

/// Returns true if the context that a normalized token checks can differ between a position beside the raw token `text`
/// and the end of a text: a letter for a whole-word token, or spaces that both tokens take.
bool is_minded(const fb::AddedTokenT& normalized, const std::string& text, const fb::AddedTokenT& raw) {
  if (normalized.single_word && !(is_mark(text.front()) && is_mark(text.back()))) return true;
  const bool blanks = raw.lstrip || raw.rstrip || is_blank(text.front()) || is_blank(text.back());
  return (normalized.lstrip || normalized.rstrip) && blanks;
}

}  // namespace

bool may_rival(const AddedTexts& added, const std::vector<std::unique_ptr<fb::AddedTokenT>>& tokens) {
  const bool many = !added[1].empty() && added[0].size() > kMostPairs / added[1].size();
  for (const auto& [normalized, index] : added[1]) {
    const fb::AddedTokenT& token = *tokens[index];
    const bool blank = normalized.find_first_of(" \t\r\n\f\v") != std::string::npos;
    for (const auto& [raw, other] : added[0]) {
      const bool strips = tokens[other]->lstrip || tokens[other]->rstrip;
      if (many || is_minded(token, raw, *tokens[other]) || (strips && blank) || overlap(raw, normalized)) return true;
    }
  }
  return false;
}

}  // namespace bantam::convert
