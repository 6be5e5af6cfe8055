// Word lists of word vectors, and of fastText's models with their hashed n-grams.
#include <algorithm>

#include "tokenizer/tokenizer_source.h"

namespace bantam::convert {

void read_word_list(const WordList& list, TokenizerSource& source, ProblemList& problems) {
  source.file = list.name;
  source.unknown.clear();
  for (std::string* special : {&source.pad, &source.cls, &source.sep, &source.mask}) special->clear();
  source.vocabulary.reserve(list.words.size());
  for (size_t i = 0; i < list.words.size(); ++i) source.vocabulary.emplace_back(list.words[i], static_cast<int64_t>(i));
  source.pair = {fb::TemplatePiece(-1, 0, 0), fb::TemplatePiece(-1, 1, 0)};
  if (list.hashed || (list.white_space && !list.lowercase)) {
    source.model = list.model;
    source.model.kind = fb::TokenModelKind::hashed;
    source.splitter.kind = fb::SplitterKind::white;
    source.all_grams = list.all_grams;
    source.grams = list.grams;
    const auto last = std::find(list.words.begin(), list.words.end(), list.model.end_word);
    if (list.model.end_word.empty() || last == list.words.end()) return;
    const fb::TemplatePiece end(static_cast<int32_t>(last - list.words.begin()), 0, 0);
    source.single.push_back(end);
    source.pair.push_back(end);
    return;
  }
  source.model.kind = fb::TokenModelKind::bpe;
  source.model.traits = text::kWordLevel | text::kSkipUnknown;
  const Json lowercase = {{"type", "Lowercase"}};
  const Json splitter = {{"type", list.white_space ? "WhitespaceSplit" : "Whitespace"}};
  if (list.lowercase) read_normalizers({&lowercase}, source, problems);
  bool bytes = false;
  read_splitters({&splitter}, source, problems, &bytes);
  source.model.traits |= text::kCodePoints;
}

}  // namespace bantam::convert
