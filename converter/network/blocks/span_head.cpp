#include "network/blocks/span_head.h"

#include <fmt/format.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "bantam/model.h"
#include "network/blocks/recurrent.h"
#include "tokenizer/split_pattern.h"

namespace bantam::convert {
namespace {

/// How the library splits texts into words (its "whitespace" splitter): Python's "\w+(?:[-_]\w+)*|\S".
constexpr const char* kWords =
    "[\\p{L}\\p{N}_]+(?:[-_][\\p{L}\\p{N}_]+)*|[^\\s\x1c\x1d\x1e\x1f]|[\\s\x1c\x1d\x1e\x1f]+";
constexpr const char* kBetweenWords = "[\\s\x1c\x1d\x1e\x1f]";

class SpanHead {
 public:
  SpanHead(Builder& builder, Weights& weights, const GlinerSettings& settings)
      : builder_(builder), weights_(weights), s_(settings), inner_(4 * settings.hidden) {}

  int32_t run(int32_t x) {
    if (builder_.width(x) != s_.hidden) x = linear("token_rep_layer.projection", x, s_.hidden, {});
    const int32_t words = recurrent(x);
    const std::string spans = "span_rep_layer.span_rep_layer.";
    const int32_t starts = words_of(spans + "project_start", spans + "out_project.0", words, 0);
    const int32_t ends = words_of(spans + "project_end", spans + "out_project.0", words, s_.hidden);
    return builder_.spans("span_rep_layer.scores", starts, ends, labels(x, spans + "out_project.3"), s_.max_width,
                          s_.max_labels);
  }

 private:
  static EpilogueSpec relu() {
    EpilogueSpec epilogue;
    epilogue.activation = fb::ActivationKind::relu;
    return epilogue;
  }

  int32_t linear(const std::string& name, int32_t x, uint32_t out, const EpilogueSpec& epilogue) {
    const uint32_t in = builder_.width(x);
    const int32_t weight =
        builder_.linear_weight(name + ".weight", out, in, weights_.head(name + ".weight", {out, in}));
    const int32_t bias = builder_.vector(name + ".bias", weights_.head(name + ".bias", {out}));
    return builder_.linear(name, x, weight, bias, epilogue);
  }

  int32_t recurrent(int32_t x) {
    if (s_.rnn_layers == 0) return x;
    RecurrentSettings layers;
    layers.cells = layers.state = s_.hidden / 2;
    layers.layers = s_.rnn_layers;
    layers.both = layers.of_head = true;
    layers.mark = static_cast<uint32_t>(kWordMark);
    const int32_t words = import_recurrent(builder_, weights_, layers, "rnn.lstm", "", x);
    builder_.enter(fb::Part::head);
    return words;
  }

  /// Before its last activation, a span's row is the sum of a part from its first word and a part from its last word.
  /// Columns [column, column + hidden) of the matrix compute one part. An extra column is 1 in all rows of first words,
  /// and 0 in rows of last words; it multiplies the last layer's bias.
  int32_t words_of(const std::string& layers, const std::string& matrix, int32_t x, uint32_t column) {
    const int32_t rows = linear(layers + ".3", linear(layers + ".0", x, inner_, relu()), s_.hidden, relu());
    const bool first = column == 0;
    Values both = weights_.head(matrix + ".weight", {inner_, 2 * s_.hidden});
    Values own = some_columns(both, 2 * s_.hidden, column, s_.hidden);
    if (!own.values.empty()) own.values.resize(own.values.size() + s_.hidden);
    Values bias = first ? weights_.head(matrix + ".bias", {inner_}) : Values{};
    if (!bias.values.empty()) bias.values.push_back(1.0F);
    const std::string name = matrix + (first ? ".start" : ".end");
    const int32_t weight = builder_.linear_weight(name + ".weight", inner_ + 1, s_.hidden, std::move(own));
    return builder_.linear(name, rows, weight, first ? builder_.vector(name + ".bias", std::move(bias)) : kAbsent, {});
  }

  /// The rows that spans are multiplied with: labels times the transpose of the last matrix, with its bias as the extra
  /// column.
  int32_t labels(int32_t x, const std::string& matrix) {
    const std::string layers = "prompt_rep_layer";
    const int32_t rows = linear(layers + ".3", linear(layers + ".0", x, inner_, relu()), s_.hidden, {});
    Values weight = weights_.head(matrix + ".weight", {s_.hidden, inner_});
    const Values bias = weights_.head(matrix + ".bias", {s_.hidden});
    if (!weight.values.empty()) weight.values = turned(weight.values, s_.hidden);
    if (!weight.values.empty() && !bias.values.empty()) {
      weight.values.insert(weight.values.end(), bias.values.begin(), bias.values.end());
      weight.source.insert(weight.source.end(), bias.source.begin(), bias.source.end());
      weight.source_bytes += bias.source_bytes;
    }
    const int32_t turned_weight = builder_.linear_weight(matrix + ".turned", inner_ + 1, s_.hidden, std::move(weight));
    return builder_.linear(matrix + ".labels", rows, turned_weight, kAbsent, {});
  }

  Builder& builder_;
  Weights& weights_;
  const GlinerSettings& s_;
  uint32_t inner_;
};

}  // namespace

int32_t import_span_head(Builder& builder, Weights& weights, const GlinerSettings& settings, int32_t x) {
  return SpanHead(builder, weights, settings).run(x);
}

void resolve_finding(Graph& graph, const GlinerSettings& settings, Problems& problems) {
  auto finding = std::make_unique<fb::FindingT>();
  finding->behind = settings.behind;
  finding->max_words = settings.max_words;
  finding->max_labels = settings.max_labels;
  if (!graph.model.tokenizers.empty()) {
    fb::TokenizerT& tokenizer = *graph.model.tokenizers.front();
    uint32_t rows = 0;
    for (const auto& input : graph.model.inputs) {
      if (input->kind == fb::InputKind::ids) rows = input->limit;
    }
    const auto find = [&](const std::string& text, int32_t* id) {
      for (const auto& added : tokenizer.added_tokens) {
        if (added->text != text) continue;
        *id = static_cast<int32_t>(added->id);
        if (added->id < rows) return;
        problems.add(ExitCode::kInvalid,
                     fmt::format("the tokenizer's \"{}\" has id {}, but the model has rows for {} tokens; is "
                                 "it this model's?",
                                 text, added->id, rows));
        return;
      }
      problems.add(ExitCode::kInvalid, fmt::format("the tokenizer has no token \"{}\"; is it this model's?", text));
    };
    find(settings.label_token, &finding->label_id);
    find(settings.text_token, &finding->text_id);
    auto blob = std::make_unique<fb::TokenizerBlobT>();
    blob->name = fb::BlobName::word_split;
    blob->data = std::make_unique<fb::Blob>();
    graph.blobs.push_back({blob->data.get(), compile_words(kWords, kBetweenWords)});
    tokenizer.blobs.push_back(std::move(blob));
  }
  graph.model.task->finding = std::move(finding);
}

}  // namespace bantam::convert
