// The options of an import, for every kind of source.
#ifndef BANTAM_CONVERTER_NETWORK_IMPORT_OPTIONS_H_
#define BANTAM_CONVERTER_NETWORK_IMPORT_OPTIONS_H_

#include <cstdint>
#include <optional>
#include <string>

namespace bantam::convert {

struct ImportOptions {
  /// "": what the directory says. Else one of classify, multi-label, regress, tag, answer, choose, fill,
  /// next-sentence, pretraining, embed, joint, encoder.
  std::string task;
  /// Keeps this many positions; 0: all that the model has.
  uint32_t max_tokens = 0;
  /// Leaves the tokenizer out: the file takes token ids.
  bool ids_only = false;
  /// "": guessed from the labels. Else plain, iob1, iob2, bioes.
  std::string tag_scheme;
  /// "": what suits labels and tokenizer (network/aggregation.h). Else a word of aggregation_words().
  std::string aggregation;
  /// Longformer: "" chooses as transformers does for the task. Else a word of global_words (long_attention.h).
  std::string globals;
  /// Big Bird: the seed of random blocks. Without one, blocks are as transformers has them in evaluation (block 0).
  std::optional<unsigned> random_blocks;
  /// Refuses a source with keys that may change answers and that nothing reads (source/keys.h).
  bool strict_source = false;
};

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_NETWORK_IMPORT_OPTIONS_H_
