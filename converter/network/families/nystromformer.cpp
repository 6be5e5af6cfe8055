// Nystromformer (arXiv 2102.03902) as published: BERT with a convolution over the values of each head. There are as
// many landmarks as positions that they stand for, so attention is exact.
#include <utility>

#include "network/families/blocks.h"
#include "network/settings/config.h"

namespace bantam::convert {
namespace {

/// Refuses fewer landmarks than segments, which would approximate attention.
void settle_landmarks(const Fields& config, EncoderConfig&) {
  constexpr const char* kLandmarks = "num_landmarks";
  constexpr uint32_t kUsual = 64;
  const uint32_t segments = config.count("segment_means_seq_len", kMaxPositions, kUsual);
  if (config.count(kLandmarks, kMaxPositions, kUsual) == segments) return;
  config.problem(ExitCode::kUnsupported, kLandmarks,
                 "only as many as segment_means_seq_len are supported, with which attention is whole");
}

}  // namespace

Family nystromformer() {
  constexpr uint32_t kRowsInFront = 2;
  Family family;
  family.model_types = {"nystromformer"};
  family.base = "nystromformer";
  family.architectures = {"Nystromformer"};
  Settings& settings = family.settings;
  settings.vocabulary.otherwise = 30000;
  settings.positions.otherwise = 510;
  settings.positions_in_front = kRowsInFront;
  settings.activation_otherwise = "gelu_new";
  settings.epsilon_otherwise = 1e-5;
  settings.settle = settle_landmarks;
  family.roles = bert_roles();
  family.roles.erase(Slot::kPooler);
  family.roles[Slot::kValueConvolution] = "attention.self.conv";
  const Head choices{fb::TaskKind::choose,
                     "ForMultipleChoice",
                     Rows::kFirst,
                     {{"pre_classifier", Out::kHidden, Activation::kRelu}, {"classifier", Out::kOne}}};
  family.heads = joined(common_heads(), {first_classify_head(Activation::kOfModel), tag_head(), answer_head(), choices,
                                         cls_heads().front()});
  return family;
}

}  // namespace bantam::convert
