// Big Bird (arXiv 2007.14062): BERT whose tokens see the first and the last block, their own and neighboring blocks,
// and random blocks.
#include <utility>

#include "network/families/blocks.h"

namespace bantam::convert {

Family big_bird() {
  Family family;
  family.model_types = {"big_bird"};
  family.base = "bert";
  family.architectures = {"BigBird"};
  Settings& settings = family.settings;
  settings.vocabulary.otherwise = 50358;
  settings.positions.otherwise = 4096;
  settings.activation_otherwise = "gelu_new";
  settings.scaled_if.key = "rescale_embeddings";
  settings.blocks = true;
  family.block.optional_biases = true;
  family.roles = bert_roles();
  family.roles[Slot::kPooler] = "pooler";
  HeadLayer sum{"qa_classifier.output.dense", Out::kHidden, Activation::kNone, "qa_classifier.output.LayerNorm"};
  sum.adds_rows = true;
  Head answer{fb::TaskKind::answer,
              "ForQuestionAnswering",
              Rows::kTokens,
              {{"qa_classifier.intermediate.dense", Out::kInner, Activation::kOfModel},
               sum,
               {"qa_classifier.qa_outputs", Out::kTwo}}};
  answer.separated = true;
  family.heads =
      joined(common_heads(), {first_classify_head(Activation::kOfModel), tag_head(), answer, pooled_choose_head()});
  family.heads = joined(std::move(family.heads), cls_heads());
  family.heads = with_language_model(std::move(family.heads), "ForCausalLM");
  return family;
}

}  // namespace bantam::convert
