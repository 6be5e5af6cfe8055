// ERNIE (arXiv 1904.09223, 1907.12412): BERT with a table of task types; texts always have task type 0.
#include "network/families/blocks.h"

namespace bantam::convert {

Family ernie() {
  Family family;
  family.model_types = {"ernie"};
  family.base = "ernie";
  family.architectures = {"Ernie"};
  family.settings.task_types = {"task_type_vocab_size", 3};
  family.settings.task_types_if = "use_task_id";
  family.roles = bert_roles();
  family.roles[Slot::kDistanceKeys] = kDistanceEmbedding;
  family.roles[Slot::kTaskTypes] = "embeddings.task_type_embeddings.weight";
  family.heads = with_language_model(joined(pooler_heads(), cls_heads()), "ForCausalLM");
  return family;
}

}  // namespace bantam::convert
