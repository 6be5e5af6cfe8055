// Heads on an encoder, one function for each kind of output; the family defines their layers and names.
#ifndef BANTAM_CONVERTER_NETWORK_HEADS_H_
#define BANTAM_CONVERTER_NETWORK_HEADS_H_

#include <cstdint>
#include <string>

#include "graph/builder.h"
#include "network/import_options.h"
#include "network/settings/config.h"
#include "network/stack.h"
#include "source/fields.h"
#include "source/sentence_transformers.h"
#include "source/setfit.h"
#include "source/weights.h"

namespace bantam::convert {

/// The task that --task names; throws Error (usage) for another word.
fb::TaskKind parse_head(const std::string& task);

/// A head of the family, and the task that it serves.
struct ChosenHead {
  fb::TaskKind task{};
  const Head* head = nullptr;
};

/// The family's head for `task`; if there are several, the one whose tensors are present. A family without such a head
/// is a problem.
ChosenHead head_of_task(const Family& family, fb::TaskKind task, const Weights& weights, Problems& problems);

/// The head that the directory's architecture ("BertForTokenClassification") and settings name or, without them, the
/// tensors' names suggest. Unknown architectures are added to the problems.
ChosenHead detect_head(const Family& family, const Fields& config, const Weights& weights, Problems& problems);

/// Bit i is set if import_head can build the head for task number i for some family.
uint32_t imported_heads();

/// Everything a head needs; references outlive it.
struct HeadContext {
  Graph& graph;
  Builder& builder;
  Weights& weights;
  const EncoderConfig& config;
  const Fields& fields;
  const Encoder& encoder;
  const SentencePooling& pooling;  // for embed, and for classifiers over a vector
  const SetFitHead& setfit;        // no rows: no such head
  const ImportOptions& options;
  Problems& problems;
};

/// Appends the head, the model's outputs (named as in transformers) and the task table.
void import_head(const ChosenHead& chosen, const HeadContext& context);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_NETWORK_HEADS_H_
