// Heads: what stands on the encoder, one function for each of transformers' kinds.
#ifndef BANTAM_CONVERTER_IMPORT_HEADS_H_
#define BANTAM_CONVERTER_IMPORT_HEADS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "graph/builder.h"
#include "import/encoder.h"
#include "import/hugging_face.h"
#include "import/source/config.h"
#include "import/source/fields.h"
#include "import/source/sentence_transformers.h"
#include "import/source/weights.h"

namespace bantam::convert {

enum class HeadKind {
  kEncoder,
  kClassify,
  kMultiLabel,
  kRegress,
  kTag,
  kAnswer,
  kChoose,
  kFill,
  kNextSentence,
  kPretraining,
  kEmbed,
  kJoint
};

/// The kind that --task names; throws Error (usage) for another word.
HeadKind parse_head_kind(const std::string& task);

/// The kind that the directory's architecture ("BertForTokenClassification"), settings and, where those
/// are silent, tensor names say. Unknown architectures are added to the problems.
HeadKind detect_head_kind(const Fields& config, const Weights& weights, Problems& problems);

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
void import_head(HeadKind kind, const HeadContext& context);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_IMPORT_HEADS_H_
