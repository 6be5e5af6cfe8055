// Import of a Hugging Face directory: the way in for every model of the BERT family.
#ifndef BANTAM_CONVERTER_IMPORT_HUGGING_FACE_H_
#define BANTAM_CONVERTER_IMPORT_HUGGING_FACE_H_

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "graph/graph.h"
#include "import/source/model_source.h"

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
  /// Of Longformer: "": as transformers has them for the task. Else a word of global_words (long_attention.h).
  std::string globals;
  /// Of Big Bird: the seed of random blocks; none: block 0, as transformers has it when it evaluates.
  std::optional<unsigned> random_blocks;
};

/// Reads config.json, the safetensors file(s), the tokenizer and, for sentence-transformers, modules.json
/// and what it names. The graph is f32 and in SSA form (see graph/README.md); its notes say what was
/// dropped or assumed. Throws Error listing every problem by name. Memory: the weights as f32.
Graph import_hugging_face(const std::filesystem::path& directory, const ImportOptions& options = {});
/// The same of what has been read already.
Graph import_source(const ModelSource& source, const ImportOptions& options = {});

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_IMPORT_HUGGING_FACE_H_
