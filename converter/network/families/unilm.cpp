// UniLM (arXiv 1905.03197): BERT with a mask that config.json names.
#include <fmt/format.h>

#include "network/families/blocks.h"
#include "network/settings/config.h"

namespace bantam::convert {

Family bert();

namespace {

/// Reads "unilm_mask": "bidirectional" (the default), "left-to-right" or "seq2seq". In a segment table of six rows
/// these masks use rows 0 and 1, row 2, and rows 4 and 5.
void read_unilm_mask(const Fields& config, EncoderConfig& out) {
  constexpr const char* kKey = "unilm_mask";
  constexpr uint32_t kAllMasks = 6;
  const std::string name = config.text(kKey, "bidirectional");
  const bool left = name == "left-to-right", pairs = name == "seq2seq";
  if (!left && !pairs && name != "bidirectional") {
    config.problem(ExitCode::kInvalid, kKey,
                   fmt::format("\"{}\" is none of \"bidirectional\", \"left-to-right\" and \"seq2seq\"", name));
  }
  if (left) out.mask = fb::MaskKind::causal;
  if (pairs) out.mask = fb::MaskKind::prefix;
  if (out.segments != kAllMasks) return;
  out.first_segment = pairs ? 4 : left ? 2 : 0;
  out.segments = left ? 1 : 2;
}

}  // namespace

Family unilm() {
  Family family = bert();
  family.model_types = {"unilm"};
  family.settings.read_mask = read_unilm_mask;
  return family;
}

}  // namespace bantam::convert
