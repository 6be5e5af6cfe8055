// Recurrent: word vectors, LSTM or GRU layers stored as PyTorch does, and a head. No library writes such directories;
// docs/recurrent.md describes them.
#include "network/blocks/recurrent.h"

#include "network/families/blocks.h"
#include "network/families/own/own_layers.h"

namespace bantam::convert {
namespace {

/// Adds the layers. Encoder::state is each direction's last state, if "pooling" asks for it.
void add_recurrent_layers(const LayerSite& site) {
  const bool keep_state = site.of_texts() && site.fields.text("pooling", "last") == "last";
  const RecurrentSettings settings = read_recurrent(site.fields);
  const std::string own = settings.cell == fb::Cell::lstm ? "lstm" : "gru";
  const std::string module = site.weights.has_encoder("rnn.weight_ih_l0") ? "rnn" : own;
  Encoder& out = *site.encoder;
  std::vector<RecurrentState> last;
  RecurrentEnds ends;
  if (keep_state) ends.last = &last;
  out.hidden = import_recurrent(site.builder, site.weights, settings, module, out.base, out.hidden, ends);
  if (keep_state) out.state = last.back().state;
}

}  // namespace

Family recurrent() {
  Family family = above_words("recurrent", "Recurrent");
  family.own = {add_recurrent_layers, "they are recurrent", {"lstm.", "gru.", "rnn."}};
  // Skip-thought vectors (arXiv 1506.06726), InferSent (arXiv 1705.02364).
  family.heads.push_back({fb::TaskKind::embed, "ForSentenceEmbedding", Rows::kState});
  return family;
}

}  // namespace bantam::convert
