// The options of an import, for every kind of source.
#ifndef BANTAM_CONVERTER_NETWORK_IMPORT_OPTIONS_H_
#define BANTAM_CONVERTER_NETWORK_IMPORT_OPTIONS_H_

#include <cstdint>
#include <optional>
#include <string>

namespace bantam::convert {

struct ImportOptions {
  /// The task; "": as the directory says. Otherwise one of classify, multi-label, regress, tag, answer, choose, fill,
  /// next-sentence, pretraining, embed, joint, encoder.
  std::string task;
  /// Keeps this many positions; 0: all that the model has.
  uint32_t max_tokens = 0;
  /// Leaves the tokenizer out: the file takes token ids.
  bool ids_only = false;
  /// The tag scheme; "": guessed from the labels. Otherwise plain, iob1, iob2 or bioes.
  std::string tag_scheme;
  /// "": the aggregation that suits labels and tokenizer (network/aggregation.h). Otherwise one of aggregation_words().
  std::string aggregation;
  /// Longformer: "": the global tokens that transformers uses for the task. Otherwise one of global_words
  /// (long_attention.h).
  std::string globals;
  /// Big Bird: the seed of random blocks. Without a seed, blocks are those of transformers in evaluation (block 0).
  std::optional<unsigned> random_blocks;
  /// Refuses a source that has keys which may change answers but which nothing reads (source/keys.h).
  bool strict_source = false;
};

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_NETWORK_IMPORT_OPTIONS_H_
