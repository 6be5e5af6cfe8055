// Labeled examples for training: token ids of student and teacher, and where words begin in each.
#ifndef BANTAM_CONVERTER_TRAIN_EXAMPLES_H_
#define BANTAM_CONVERTER_TRAIN_EXAMPLES_H_

#include <cstdint>
#include <vector>

namespace bantam::train {

constexpr uint32_t kNoRow = UINT32_MAX;

/// A text as a model's tokenizer splits it. `words`: the row of each word's first piece; kNoRow if it was cut off.
/// `source`: for encoder-decoders, the input of the encoder, while `ids` are the decoder's; empty for other models.
struct Encoded {
  std::vector<int32_t> ids;
  std::vector<int32_t> segments;
  std::vector<uint32_t> words;
  std::vector<int32_t> source = {};
  std::vector<float> features = {};  // for models that read features: those of each token, one after the other
  uint32_t length() const { return static_cast<uint32_t>(ids.size() + source.size()); }
};

struct Example {
  Encoded student;
  Encoded teacher;                 // empty without a teacher
  int32_t label = -1;              // class or intent; -1: none
  bool out_of_scope = false;       // no label fits: all scores should be equal
  std::vector<float> values;       // regression: one value; multi-label: 0 or 1 per label; empty: none
  std::vector<int32_t> tags;       // one per word, -1: none; empty: no tags
  std::vector<int32_t> next = {};  // for models that generate: the token after each of student.ids, -1: none
};

/// The label is one of several classes, or (`values`) regression or multi-label, according to `bounded`. Both may be
/// combined with tags.
struct Heads {
  uint32_t classes = 0;       // width of the head for the whole text; 0: there is none
  bool values = false;        // the head gives values instead of one of several classes
  bool bounded = false;       // sigmoids (multi-label); otherwise the values themselves (regression)
  uint32_t tags = 0;          // width of the head for words; 0: there is none
  int32_t class_output = -1;  // index among the model's outputs
  int32_t tag_output = -1;
  uint32_t next = 0;  // size of the vocabulary that the head for next tokens scores; 0: there is none
  int32_t next_output = -1;
};

/// The network's logits for one example.
struct Logits {
  std::vector<float> label;
  std::vector<float> words;  // row-major: a row of `tags` values for each word that has a row
};

}  // namespace bantam::train

#endif  // BANTAM_CONVERTER_TRAIN_EXAMPLES_H_
