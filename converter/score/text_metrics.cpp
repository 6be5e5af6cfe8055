#include "score/text_metrics.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <map>
#include <string_view>

#include "text/utf8.h"

namespace bantam::convert {
namespace {

using Words = std::vector<std::string>;

bool is_ascii_digit(char c) { return c >= '0' && c <= '9'; }

/// Returns Python's str.isspace for a code point in UTF-8.
bool is_blank_code(std::string_view code) {
  if (code.size() == 1) {
    const char c = code[0];
    return c == ' ' || (c >= '\t' && c <= '\r') || (c >= '\x1c' && c <= '\x1f');
  }
  if (code.size() == 2) return code == "\xc2\x85" || code == "\xc2\xa0";
  if (code.size() != 3) return false;
  const bool wide = code >= "\xe2\x80\x80" && code <= "\xe2\x80\x8a";
  return wide || code == "\xe1\x9a\x80" || code == "\xe2\x80\xa8" || code == "\xe2\x80\xa9" || code == "\xe2\x80\xaf" ||
         code == "\xe2\x81\x9f" || code == "\xe3\x80\x80";
}

/// Splits a text into code points; invalid UTF-8 is split into bytes.
std::vector<std::string_view> code_points(std::string_view text) {
  std::vector<std::string_view> codes;
  for (size_t at = 0; at < text.size();) {
    const size_t size = std::min<size_t>(text::code_size(static_cast<uint8_t>(text[at])), text.size() - at);
    codes.push_back(text.substr(at, size));
    at += size;
  }
  return codes;
}

Words blank_parted(std::string_view text) {
  Words words;
  bool inside = false;
  for (const std::string_view code : code_points(text)) {
    if (is_blank_code(code)) {
      inside = false;
      continue;
    }
    if (!inside) words.emplace_back();
    inside = true;
    words.back() += code;
  }
  return words;
}

void replace_each(std::string* text, std::string_view from, std::string_view to) {
  for (size_t at = 0; (at = text->find(from, at)) != std::string::npos; at += to.size()) {
    text->replace(at, from.size(), to);
  }
}

/// Returns true for signs that are always tokens of their own: all ASCII characters except letters, digits, blanks
/// (which separate words anyway), and `'`, `,`, `-` and `.`.
bool is_sign(char c) {
  return (c >= '{' && c <= '~') || (c >= '[' && c <= '`') || (c >= ' ' && c <= '&') || (c >= '(' && c <= '+') ||
         (c >= ':' && c <= '@') || c == '/';
}

/// Applies a rule for two adjacent code points from left to right; each code point is in at most one match. If `first`
/// and `second` hold, `put(a, b)` replaces the pair.
template <typename First, typename Second, typename Put>
std::string rewrite(const std::string& text, const First& first, const Second& second, const Put& put) {
  const std::vector<std::string_view> codes = code_points(text);
  std::string out;
  for (size_t i = 0; i < codes.size(); ++i) {
    if (i + 1 < codes.size() && first(codes[i]) && second(codes[i + 1])) {
      put(codes[i], codes[i + 1], &out);
      ++i;
    } else {
      out += codes[i];
    }
  }
  return out;
}

using Grams = std::map<std::vector<std::string_view>, uint64_t>;

template <typename Items>
Grams grams_of(const Items& items, size_t length) {
  Grams grams;
  for (size_t i = 0; i + length <= items.size(); ++i) {
    std::vector<std::string_view> gram;
    for (size_t k = 0; k < length; ++k) gram.emplace_back(items[i + k]);
    ++grams[gram];
  }
  return grams;
}

uint64_t grams_in(const Grams& grams) {
  uint64_t count = 0;
  for (const auto& [gram, times] : grams) count += times;
  return count;
}

uint64_t shared_grams(const Grams& a, const Grams& b) {
  uint64_t count = 0;
  for (const auto& [gram, times] : a) {
    const auto found = b.find(gram);
    if (found != b.end()) count += std::min(times, found->second);
  }
  return count;
}

double harmonic(double both, double made, double wanted) {
  return both == 0 || made == 0 || wanted == 0 ? 0 : 2 * both / (made + wanted);
}

/// Splits a text into words of lower-case ASCII letters and digits, as rouge_score does; all other characters separate
/// words.
Words rouge_words(const std::string& text) {
  Words words;
  bool inside = false;
  for (char c : text) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    const bool letter = is_ascii_digit(c) || (c >= 'a' && c <= 'z');
    if (letter && !inside) words.emplace_back();
    if (letter) words.back() += c;
    inside = letter;
  }
  return words;
}

uint64_t longest_common(const Words& a, const Words& b) {
  std::vector<uint64_t> row(b.size() + 1, 0);
  for (const std::string& word : a) {
    uint64_t above_left = 0;
    for (size_t j = 0; j < b.size(); ++j) {
      const uint64_t above = row[j + 1];
      row[j + 1] = word == b[j] ? above_left + 1 : std::max(above, row[j]);
      above_left = above;
    }
  }
  return row.back();
}

uint64_t edits(const Words& a, const Words& b) {
  std::vector<uint64_t> row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (size_t i = 0; i < a.size(); ++i) {
    uint64_t above_left = row[0];
    row[0] = i + 1;
    for (size_t j = 0; j < b.size(); ++j) {
      const uint64_t above = row[j + 1];
      const uint64_t change = above_left + (a[i] == b[j] ? 0 : 1);
      row[j + 1] = std::min({change, above + 1, row[j] + 1});
      above_left = above;
    }
  }
  return row.back();
}

}  // namespace

std::vector<std::string> bleu_tokens(const std::string& text) {
  std::string line = text;
  replace_each(&line, "<skipped>", "");
  replace_each(&line, "-\n", "");
  replace_each(&line, "\n", " ");
  replace_each(&line, "&quot;", "\"");
  replace_each(&line, "&amp;", "&");
  replace_each(&line, "&lt;", "<");
  replace_each(&line, "&gt;", ">");
  std::string spaced = " ";
  for (const char c : line) {
    if (is_sign(c)) {
      spaced += ' ';
      spaced += c;
      spaced += ' ';
    } else {
      spaced += c;
    }
  }
  spaced += ' ';
  const auto is_number = [](std::string_view code) { return code.size() == 1 && is_ascii_digit(code[0]); };
  const auto is_other = [&](std::string_view code) { return !is_number(code); };
  const auto is_point = [](std::string_view code) { return code == "." || code == ","; };
  const auto is_dash = [](std::string_view code) { return code == "-"; };
  const auto behind = [](std::string_view a, std::string_view b, std::string* out) {
    out->append(a).append(" ").append(b).append(" ");
  };
  const auto in_front = [](std::string_view a, std::string_view b, std::string* out) {
    out->append(" ").append(a).append(" ").append(b);
  };
  spaced = rewrite(spaced, is_other, is_point, behind);
  spaced = rewrite(spaced, is_point, is_other, in_front);
  spaced = rewrite(spaced, is_number, is_dash, behind);
  return blank_parted(spaced);
}

void TextMetrics::add(const std::string& made, const std::vector<std::string>& references) {
  ++texts_;
  exact_ += std::find(references.begin(), references.end(), made) != references.end() ? 1 : 0;
  const Words hypothesis = bleu_tokens(made), plain = blank_parted(made), sounds = rouge_words(made);
  std::vector<Words> tokens;
  for (const std::string& reference : references) tokens.push_back(bleu_tokens(reference));
  made_length_ += hypothesis.size();
  // The length nearest to the text's; among equals, the shorter one.
  const auto distance = [&](size_t size) {
    return size > hypothesis.size() ? size - hypothesis.size() : hypothesis.size() - size;
  };
  size_t nearest = tokens.front().size();
  for (const Words& reference : tokens) {
    const size_t size = reference.size();
    if (distance(size) < distance(nearest) || (distance(size) == distance(nearest) && size < nearest)) nearest = size;
  }
  reference_length_ += nearest;
  for (size_t n = 1; n <= kWords; ++n) {
    const Grams of_made = grams_of(hypothesis, n);
    Grams most;
    for (const Words& reference : tokens) {
      for (const auto& [gram, times] : grams_of(reference, n)) most[gram] = std::max(most[gram], times);
    }
    total_[n - 1] += grams_in(of_made);
    correct_[n - 1] += shared_grams(of_made, most);
  }
  Characters best{};
  double best_chrf = -1, best_1 = 0, best_2 = 0, best_l = 0;
  uint64_t least = std::numeric_limits<uint64_t>::max(), length = 0;
  for (const std::string& reference : references) {
    const Characters counts = count_characters(made, reference);
    if (const double score = chrf_of(counts); score > best_chrf) best_chrf = score, best = counts;
    const Words wanted = rouge_words(reference), words = blank_parted(reference);
    const auto rouge = [&](size_t n) {
      const Grams a = grams_of(sounds, n), b = grams_of(wanted, n);
      return harmonic(static_cast<double>(shared_grams(a, b)), static_cast<double>(grams_in(a)),
                      static_cast<double>(grams_in(b)));
    };
    best_1 = std::max(best_1, rouge(1));
    best_2 = std::max(best_2, rouge(2));
    best_l = std::max(best_l, harmonic(static_cast<double>(longest_common(sounds, wanted)),
                                       static_cast<double>(sounds.size()), static_cast<double>(wanted.size())));
    if (const uint64_t errors = edits(plain, words); errors < least) least = errors, length = words.size();
  }
  for (size_t n = 0; n < kCharacters; ++n) {
    characters_[n].made += best[n].made;
    characters_[n].wanted += best[n].wanted;
    characters_[n].both += best[n].both;
  }
  rouge_1_ += best_1;
  rouge_2_ += best_2;
  rouge_l_ += best_l;
  errors_ += least;
  words_ += length;
}

double TextMetrics::bleu() const {
  if (std::all_of(correct_.begin(), correct_.end(), [](uint64_t count) { return count == 0; })) return 0;
  double smooth = 1, sum = 0;
  for (size_t n = 0; n < kWords; ++n) {
    if (total_[n] == 0) return 0;
    double precision = static_cast<double>(correct_[n]) / static_cast<double>(total_[n]);
    if (correct_[n] == 0) precision = 1 / ((smooth *= 2) * static_cast<double>(total_[n]));
    sum += std::log(precision) / static_cast<double>(kWords);
  }
  const auto made = static_cast<double>(made_length_), wanted = static_cast<double>(reference_length_);
  return std::exp(sum) * (made < wanted ? std::exp(1 - wanted / made) : 1);
}

double TextMetrics::chrf() const { return chrf_of(characters_); }

TextMetrics::Characters TextMetrics::count_characters(const std::string& made, const std::string& reference) {
  const auto without_blanks = [](const std::string& text) {
    std::string out;
    for (const std::string& word : blank_parted(text)) out += word;
    return out;
  };
  const std::string a = without_blanks(made), b = without_blanks(reference);
  const std::vector<std::string_view> of_made = code_points(a), of_reference = code_points(b);
  Characters counts{};
  for (size_t n = 1; n <= kCharacters; ++n) {
    const Grams x = grams_of(of_made, n), y = grams_of(of_reference, n);
    counts[n - 1] = {y.empty() ? 0 : grams_in(x), grams_in(y), shared_grams(x, y)};
  }
  return counts;
}

double TextMetrics::chrf_of(const Characters& counts) {
  double precision = 0, recall = 0, orders = 0;
  for (const Counts& count : counts) {
    if (count.made == 0 || count.wanted == 0) continue;
    precision += static_cast<double>(count.both) / static_cast<double>(count.made);
    recall += static_cast<double>(count.both) / static_cast<double>(count.wanted);
    orders += 1;
  }
  if (orders == 0 || precision + recall == 0) return 0;
  precision /= orders;
  recall /= orders;
  constexpr double kFactor = 4;  // beta 2, squared
  return (1 + kFactor) * precision * recall / (kFactor * precision + recall);
}

}  // namespace bantam::convert
