#include "graph/training.h"

#include "graph/access.h"

namespace bantam::convert {
namespace {

bool is_trained(fb::IndexSource source) {
  return source == fb::IndexSource::ids || source == fb::IndexSource::segments || source == fb::IndexSource::positions;
}

}  // namespace

std::string why_untrained(const fb::OpT& op) {
  if (epilogue_of(op).gate >= 0) return "gates";
  switch (op.attributes.type) {
    case fb::OpAttributes::Embed:
      for (const auto& table : op.attributes.AsEmbed()->tables) {
        if (!is_trained(table->source)) return "embeddings of inputs other than ids, segments and positions";
      }
      return "";
    case fb::OpAttributes::Attention: {
      const fb::AttentionT& attention = *op.attributes.AsAttention();
      const bool plain = !attention.cross && attention.mask == fb::MaskKind::none &&
                         attention.heads == attention.kv_heads && attention.distance_bias < 0 && attention.slopes < 0 &&
                         attention.place_rows < 0 && attention.segment_keys < 0 && attention.soft_cap == 0;
      return plain ? "" : "attention with masks, biases, caps or shared keys, or to a source";
    }
    case fb::OpAttributes::SplitHeads:
      return op.attributes.AsSplitHeads()->rotary >= 0  ? "rotary positions"
             : op.attributes.AsSplitHeads()->norms >= 0 ? "norms of queries and keys"
                                                        : "";
    case fb::OpAttributes::Linear:
    case fb::OpAttributes::Row:
    case fb::OpAttributes::Pool:
    case fb::OpAttributes::Slice:
      return "";
    default:
      return fb::EnumNameOpAttributes(op.attributes.type);
  }
}

}  // namespace bantam::convert
