#include "graph/training.h"

#include "graph/access.h"

namespace bantam::convert {
namespace {

bool is_trained(fb::IndexSource source) {
  return source == fb::IndexSource::ids || source == fb::IndexSource::segments ||
         source == fb::IndexSource::positions || source == fb::IndexSource::zero;
}

/// Returns true for masks that depend on positions only.
bool is_trained(fb::MaskKind mask) {
  return mask == fb::MaskKind::none || mask == fb::MaskKind::causal || mask == fb::MaskKind::window ||
         mask == fb::MaskKind::causal_window;
}

}  // namespace

std::string why_untrained(const fb::OpT& op) {
  switch (op.attributes.type) {
    case fb::OpAttributes::Embed:
      for (const auto& table : op.attributes.AsEmbed()->tables) {
        if (!is_trained(table->source)) return "embeddings of inputs other than ids, segments and positions";
      }
      return "";
    case fb::OpAttributes::Attention: {
      const fb::AttentionT& attention = *op.attributes.AsAttention();
      if (!is_trained(attention.mask)) return "masks other than those of decoders and of windows";
      const bool plain = attention.slopes < 0 && attention.place_rows < 0 && attention.segment_keys < 0;
      return plain ? "" : "attention with slopes, or with scores of places or of segments";
    }
    case fb::OpAttributes::Linear: {
      const fb::LinearT& linear = *op.attributes.AsLinear();
      if (linear.only_globals) return "layers of global tokens alone";
      return linear.saturations == 0 ? "" : "weights of terms (SPLADE)";
    }
    case fb::OpAttributes::Pool:
      return op.attributes.AsPool()->skip_last.empty() ? "" : "pooling of parts that leave out the last rows";
    case fb::OpAttributes::Features:
    case fb::OpAttributes::SplitHeads:
    case fb::OpAttributes::Row:
    case fb::OpAttributes::Slice:
      return "";
    default:
      return fb::EnumNameOpAttributes(op.attributes.type);
  }
}

}  // namespace bantam::convert
