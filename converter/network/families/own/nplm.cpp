// The neural probabilistic language model of Bengio et al. (JMLR 3, 2003): the concatenated vectors of a few words, a
// hidden layer, and scores of the next word. docs/nplm.md describes its directories.
#include <fmt/format.h>

#include <string>
#include <utility>
#include <vector>

#include "model/task_traits.h"
#include "network/families/blocks.h"
#include "network/families/own/own_layers.h"
#include "source/generation.h"

namespace bantam::convert {
namespace {

/// The outputs that heads read.
struct NplmUse {
  bool gives_words = false;  // Encoder::more_scores
  bool keep_state = false;   // Encoder::state: the last token's row
};

constexpr uint32_t kMostContext = 64, kMostHidden = 1U << 14;

class Nplm {
 public:
  Nplm(Builder& builder, Weights& weights, const Fields& fields, const Encoder& encoder)
      : builder_(builder), weights_(weights), fields_(fields), encoder_(encoder) {
    hidden_ = fields.count("hidden_size", kMostHidden);
    words_ = fields.count("context_size", kMostContext);
    activation_ = read_activation(fields, "activation", "tanh");
    const std::string order = fields.text("context_order", "oldest_first");
    newest_first_ = order == "newest_first";
    if (!newest_first_ && order != "oldest_first") {
      fields.problem(ExitCode::kUnsupported, "context_order",
                     fmt::format("\"{}\" is not supported; \"oldest_first\" and \"newest_first\" are", order));
    }
  }

  void run(const NplmUse& use, Encoder* out) {
    columns_ = builder_.width(encoder_.hidden);
    vocabulary_ = builder_.rows(encoder_.word_embeddings);
    take_padding();
    builder_.enter(fb::Part::feed_forward, 0);
    const std::string base = encoder_.base;
    const int32_t x = words_ == 1 ? encoder_.hidden : builder_.unfold(base + "context", encoder_.hidden, words_ - 1, 0);
    const std::string bias = "hidden.bias";
    Values shift;
    if (weights_.has_encoder(bias)) shift = weights_.encoder(bias, {hidden_});
    EpilogueSpec activated;
    activated.activation = activation_;
    out->hidden = over_words(base + "hidden", x, hidden_, weights_.encoder("hidden.weight", {hidden_, all_columns()}),
                             std::move(shift), activated);
    builder_.enter(fb::Part::head);
    if (use.gives_words && weights_.has_head("direct.weight")) {
      out->more_scores =
          over_words("direct", x, vocabulary_, weights_.head("direct.weight", {vocabulary_, all_columns()}), {}, {});
    }
    if (use.keep_state) out->state = builder_.pool(base + "end", out->hidden, fb::PoolKind::last, false);
    // The table is not tied to an output layer.
    out->word_embeddings = kAbsent;
    out->words.clear();
  }

 private:
  uint32_t all_columns() const { return words_ * columns_; }

  /// Neighbors beyond the start of a text are rows of zeros. To turn them into the padding's vector, that vector is
  /// subtracted from all rows of the table, and its product with each layer is added to the layer's bias.
  void take_padding() {
    if (!fields_.has("pad_token_id")) return;
    const int64_t padding = read_token(fields_, "pad_token_id", vocabulary_);
    if (padding < 0) return;
    padding_ = builder_.take_row(encoder_.word_embeddings, static_cast<uint32_t>(padding));
  }

  /// A layer over the words' columns; `weight` has the words in the order of the setting.
  int32_t over_words(const std::string& name, int32_t x, uint32_t rows, Values weight, Values bias,
                     const EpilogueSpec& epilogue) {
    const size_t columns = columns_;
    if (newest_first_ && !weight.values.empty()) {
      std::vector<float> ordered;
      ordered.reserve(weight.values.size());
      for (size_t row = 0; row < rows; ++row) {
        for (size_t word = 0; word < words_; ++word) {
          const auto from =
              weight.values.begin() + static_cast<std::ptrdiff_t>((row * words_ + words_ - 1 - word) * columns);
          ordered.insert(ordered.end(), from, from + static_cast<std::ptrdiff_t>(columns));
        }
      }
      weight.values = std::move(ordered);
    }
    if (!padding_.empty() && !weight.values.empty()) {
      if (bias.values.empty()) bias.values.assign(rows, 0.0F);
      for (size_t row = 0; row < rows; ++row) {
        double sum = double{bias.values[row]};
        for (size_t i = 0; i < words_ * columns; ++i) {
          sum += double{weight.values[row * words_ * columns + i]} * double{padding_[i % columns]};
        }
        bias.values[row] = static_cast<float>(sum);
      }
    }
    const bool biased = !bias.values.empty();
    const int32_t vector = biased ? builder_.vector(name + ".bias", std::move(bias)) : kAbsent;
    const int32_t matrix = builder_.linear_weight(name + ".weight", rows, all_columns(), std::move(weight));
    return builder_.linear(name, x, matrix, vector, epilogue);
  }

  Builder& builder_;
  Weights& weights_;
  const Fields& fields_;
  const Encoder& encoder_;
  uint32_t hidden_ = 1, words_ = 1, columns_ = 1, vocabulary_ = 1;
  bool newest_first_ = false;
  fb::ActivationKind activation_ = fb::ActivationKind::tanh;
  std::vector<float> padding_;  // empty: zeros
};

/// Adds tanh(d + H x), where x concatenates the vectors of each token and of the tokens before it. Before the start of
/// a text, x has the vector of "pad_token_id", or zeros.
void add_nplm_layers(const LayerSite& site) {
  NplmUse use;
  use.gives_words = (traits(site.task).parts & kNextWordsPart) != 0;
  use.keep_state = (traits(site.task).parts & kLabelsPart) != 0 && site.fields.text("pooling", "last") == "last";
  const Encoder beneath = *site.encoder;
  Nplm(site.builder, site.weights, site.fields, beneath).run(use, site.encoder);
}

}  // namespace

Family nplm() {
  Family family = above_words("nplm", "Nplm");
  family.own = {add_nplm_layers, "there is one", {"hidden."}, "direct.weight"};
  family.block.causal = true;
  family.settings.untied = true;
  family.settings.required = {{"tie_word_embeddings", "false"}};
  family.heads.erase(family.heads.begin() + 1, family.heads.end());
  family.heads.push_back(
      {fb::TaskKind::generate, "ForCausalLM", Rows::kTokens, {{"output", HeadLayer::Out::kVocabulary}}});
  family.heads.push_back({fb::TaskKind::none, "Model"});
  family.unused = {{"direct.", "the scores of words are not converted for this task"}};
  return family;
}

}  // namespace bantam::convert
