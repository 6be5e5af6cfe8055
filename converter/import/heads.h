// Heads: what stands on the encoder, one function for each of transformers' kinds.
#ifndef BANTAM_CONVERTER_IMPORT_HEADS_H_
#define BANTAM_CONVERTER_IMPORT_HEADS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "graph/builder.h"
#include "import/encoder.h"
#include "import/hugging_face.h"
#include "import/source/config.h"
#include "import/source/fields.h"
#include "import/source/sentence_transformers.h"
#include "import/source/weights.h"

namespace bantam::convert {

/// The task that --task names; throws Error (usage) for another word.
fb::TaskKind parse_head(const std::string& task);

/// The task that the directory's architecture ("BertForTokenClassification"), settings and, where those
/// are silent, tensor names say. Unknown architectures are added to the problems.
fb::TaskKind detect_head(const Fields& config, const Weights& weights, Problems& problems);

/// The task of an architecture of transformers: its whole name, or what follows the family's.
std::optional<fb::TaskKind> head_of_architecture(std::string_view name);

/// Bit i: import_head builds the head of the task of number i.
uint32_t imported_heads();

/// Everything a head needs; references outlive it.
struct HeadContext {
  Graph& graph;
  Builder& builder;
  Weights& weights;
  const EncoderConfig& config;
  const Fields& fields;
  const Encoder& encoder;
  const SentencePooling& pooling;  // embed only
  const ImportOptions& options;
  Problems& problems;
};

/// Appends the head, the model's outputs (named as in transformers) and the task table.
void import_head(fb::TaskKind task, const HeadContext& context);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_IMPORT_HEADS_H_
