#include "tokenizer/unigram_tables.h"

#include <algorithm>
#include <cstring>

#include "text/unigram.h"

namespace bantam::convert {

std::vector<uint8_t> build_scores(const std::vector<double>& scores) {
  const auto is_narrow = [](double score) { return static_cast<double>(static_cast<float>(score)) == score; };
  const bool narrow = std::all_of(scores.begin(), scores.end(), is_narrow);
  std::vector<float> floats(scores.begin(), scores.end());
  const size_t width = narrow ? sizeof(float) : sizeof(double);
  std::vector<uint8_t> bytes(width * scores.size());
  if (!bytes.empty()) {
    std::memcpy(bytes.data(), narrow ? static_cast<const void*>(floats.data()) : scores.data(), bytes.size());
  }
  return bytes;
}

double unknown_score(const std::vector<double>& scores, const std::vector<bool>& silent) {
  constexpr double kPenalty = 10;  // SentencePiece's kUnkPenalty
  double least = 0;
  bool first = true;
  for (size_t id = 0; id < scores.size(); ++id) {
    if (id < silent.size() && silent[id]) continue;
    least = first ? scores[id] : std::min(least, scores[id]);
    first = false;
  }
  return first ? 0 : least - kPenalty;
}

TrieKeys unigram_words(const TrieKeys& vocabulary, const Trie& trie, const std::vector<std::string>& texts,
                       const std::vector<uint8_t>& scores, double unknown, uint32_t unknown_id) {
  std::vector<uint32_t> begins = {0};
  std::string joined;
  for (const std::string& text : texts) {
    joined += text;
    begins.push_back(static_cast<uint32_t>(joined.size()));
  }
  text::Lexicon lexicon;
  lexicon.units = trie.units.data();
  lexicon.begin = begins.data();
  lexicon.text = reinterpret_cast<const uint8_t*>(joined.data());
  lexicon.roots = &trie.roots;
  lexicon.vocab_size = static_cast<uint32_t>(texts.size());
  std::vector<double> aligned(scores.size() / sizeof(double) + 1);
  if (!scores.empty()) std::memcpy(aligned.data(), scores.data(), scores.size());
  text::UnigramScores view(aligned.data(), scores.size() == sizeof(double) * texts.size(), unknown);
  view.unknown_id = unknown_id;
  TrieKeys words;
  const auto cut = std::make_unique<text::UnigramCut>();
  for (const auto& [token, id] : vocabulary) {
    if (token.size() < 2 || token.size() > text::kMaxTableWord + 1 || token[0] != ' ') continue;
    if (token.find_first_of(std::string(" \0", 2), 1) != std::string::npos) continue;
    const auto* bytes = reinterpret_cast<const uint8_t*>(token.data());
    text::Unigram::cut(lexicon, view, bytes, static_cast<uint32_t>(token.size()), cut.get());
    if (cut->count == 1 && cut->ids[0] == id) words.emplace_back(token.substr(1), id);
  }
  return words;
}

}  // namespace bantam::convert
