// Splinter (arXiv 2101.00438): BERT without a pooler, whose question has a token of its own. An answer begins and ends
// where a token's row agrees with that token's.
#include "network/families/blocks.h"

namespace bantam::convert {
namespace {

/// Three layers for each end of an answer: two over the question's row, and one over each token's.
Head question_head() {
  Head head = answer_head();
  head.by_question = true;
  head.layers = {
      {"splinter_qass.query_start_transform.dense", Out::kHidden, Activation::kGelu,
       "splinter_qass.query_start_transform.LayerNorm"},
      {"splinter_qass.start_classifier", Out::kHidden},
      {"splinter_qass.start_transform.dense", Out::kHidden, Activation::kGelu,
       "splinter_qass.start_transform.LayerNorm"},
      {"splinter_qass.query_end_transform.dense", Out::kHidden, Activation::kGelu,
       "splinter_qass.query_end_transform.LayerNorm"},
      {"splinter_qass.end_classifier", Out::kHidden},
      {"splinter_qass.end_transform.dense", Out::kHidden, Activation::kGelu, "splinter_qass.end_transform.LayerNorm"}};
  for (const size_t bare : {1U, 4U}) head.layers[bare].bare = true;
  return head;
}

}  // namespace

Family splinter() {
  Family family;
  family.model_types = {"splinter"};
  family.base = "splinter";
  family.architectures = {"Splinter"};
  family.roles = bert_roles();
  family.roles.erase(Slot::kPooler);
  family.heads = joined(common_heads(), {question_head()});
  family.refused = {{"ForPreTraining", "answers several questions at once; --task answer converts it for the first"}};
  return family;
}

}  // namespace bantam::convert
