// Texts of files, and ids where there is no tokenizer.
#ifndef BANTAM_CONVERTER_DATA_TEXTS_H_
#define BANTAM_CONVERTER_DATA_TEXTS_H_

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "data/built_in_texts.h"
#include "data/sample.h"

namespace bantam::convert {

/// A text a line; of lines that are JSON objects, of FILE.csv and FILE.tsv the text or the first of a pair (data/records.h). Empty
/// lines are left out. Throws Error (I/O, invalid), which names `option` as where the file comes from, with the line's number.
std::vector<std::string> read_texts(const char* option, const std::filesystem::path& file);

struct LabelledText {
  std::string text;
  std::string second;  // of a pair; empty: none
  std::string label;   // name or number; empty: none
  std::string number;  // what "label" says where "label_name" is there too
};

/// As read_texts, with the label: "intent", "label_name" or "label" (a name or a number), and the second of a pair.
std::vector<LabelledText> read_labelled(const char* option, const std::filesystem::path& file);

/// At most `most` of the texts, evenly spread over them.
template <typename T>
std::vector<T> spread(std::vector<T> texts, size_t most) {
  if (texts.size() <= most) return texts;  // a string that is moved to itself is empty then
  const size_t every = (texts.size() + most - 1) / most;
  for (size_t i = 1; i * every < texts.size(); ++i) texts[i] = std::move(texts[i * every]);
  texts.resize((texts.size() + every - 1) / every);
  return texts;
}

/// Samples for a file without a tokenizer: pseudo-random ids below `vocabulary`, 1 to `max_tokens` of them,
/// always the same ones; with marks below `marks`, where tokens have some.
std::vector<Sample> random_samples(uint32_t vocabulary, uint32_t max_tokens, uint32_t marks = 1);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_DATA_TEXTS_H_
