// Reads texts of files; makes random ids for models without a tokenizer.
#ifndef BANTAM_CONVERTER_DATA_TEXTS_H_
#define BANTAM_CONVERTER_DATA_TEXTS_H_

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "data/built_in_texts.h"
#include "data/sample.h"

namespace bantam::convert {

/// Reads one text per line. Of JSON objects and records of FILE.csv and FILE.tsv, reads the text or the first text of a
/// pair (data/records.h). Skips empty lines. Throws Error (I/O, invalid) that names `option` as the source of the file,
/// and the line's number.
std::vector<std::string> read_texts(const char* option, const std::filesystem::path& file);

struct LabelledText {
  std::string text;
  std::string second;  // the second text of a pair; empty: none
  std::string label;   // its name or number; empty: none
  std::string number;  // the value of "label" if the record also has "label_name"
};

/// Like read_texts, with the label: "intent", "label_name" or "label" (a name or a number), and the second text of a
/// pair.
std::vector<LabelledText> read_labelled(const char* option, const std::filesystem::path& file);

/// Returns at most `most` of the texts, evenly spaced.
template <typename T>
std::vector<T> spread(std::vector<T> texts, size_t most) {
  if (texts.size() <= most) return texts;  // without this, a string would be moved to itself and become empty
  const size_t every = (texts.size() + most - 1) / most;
  for (size_t i = 1; i * every < texts.size(); ++i) texts[i] = std::move(texts[i * every]);
  texts.resize((texts.size() + every - 1) / every);
  return texts;
}

/// Makes samples for a file without a tokenizer: 1 to `max_tokens` pseudo-random ids below `vocabulary`, the same in
/// every run; if the tokens have marks, with random marks below `marks`.
std::vector<Sample> random_samples(uint32_t vocabulary, uint32_t max_tokens, uint32_t marks = 1);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_DATA_TEXTS_H_
