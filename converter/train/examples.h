// Labelled examples in the form that training uses: token ids of student and teacher, and where words begin in each.
#ifndef BANTAM_CONVERTER_TRAIN_EXAMPLES_H_
#define BANTAM_CONVERTER_TRAIN_EXAMPLES_H_

#include <cstdint>
#include <vector>

namespace bantam::train {

constexpr uint32_t kNoRow = UINT32_MAX;

/// One text as a model's tokenizer splits it. `words`: the row of each word's first piece; kNoRow if it was cut off.
/// `source`: the input of an encoder-decoder's encoder, where `ids` are its decoder's; empty for other models.
struct Encoded {
  std::vector<int32_t> ids;
  std::vector<int32_t> segments;
  std::vector<uint32_t> words;
  std::vector<int32_t> source = {};
  std::vector<float> features = {};  // of models that read rows of numbers: those of each token, one after the other
  uint32_t length() const { return static_cast<uint32_t>(ids.size() + source.size()); }
};

struct Example {
  Encoded student;
  Encoded teacher;                 // empty without a teacher
  int32_t label = -1;              // class or intent; -1: none
  std::vector<float> values;       // regression: one; multi-label: 0 or 1 a label; empty: none
  std::vector<int32_t> tags;       // one a word, -1: none; empty: no tags
  std::vector<int32_t> next = {};  // of models that generate: the token behind each of student.ids, -1: none
};

/// classes: one of several. values: regression or multi-label, by `bounded`. Both may be combined with tags.
struct Heads {
  uint32_t classes = 0;       // width of the head of the whole text; 0: there is none
  bool values = false;        // it gives values instead of one of several classes
  bool bounded = false;       // sigmoid (multi-label), else the value itself (regression)
  uint32_t tags = 0;          // width of the head of words; 0: there is none
  int32_t class_output = -1;  // index among the model's outputs
  int32_t tag_output = -1;
  uint32_t next = 0;  // tokens of the vocabulary that the head of next tokens scores; 0: there is none
  int32_t next_output = -1;
};

/// The network's logits for one example.
struct Logits {
  std::vector<float> label;
  std::vector<float> words;  // row-major, a row of `tags` a word that has a row
};

}  // namespace bantam::train

#endif  // BANTAM_CONVERTER_TRAIN_EXAMPLES_H_
