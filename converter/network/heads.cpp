#include "network/heads.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "bantam/model.h"
#include "format/view.h"
#include "graph/task_parts.h"
#include "model/heads.h"
#include "network/blocks/chain.h"
#include "network/blocks/label_tree.h"
#include "network/blocks/patches.h"
#include "network/blocks/span_head.h"
#include "network/blocks/vectors.h"
#include "network/blocks/vocabulary_layer.h"
#include "network/record_source.h"
#include "network/task_outputs.h"
#include "source/generation.h"
#include "source/label_sets.h"
#include "source/labels.h"

namespace bantam::convert {
namespace {

/// The limit for sizes that only a head's tensor states.
constexpr uint64_t kMostTensorRows = 1U << 16;

/// The epsilon of norms in torch that name none.
constexpr float kUsualEpsilon = 1e-5F;

EpilogueSpec activated(fb::ActivationKind kind) {
  EpilogueSpec epilogue;
  epilogue.activation = kind;
  return epilogue;
}

class HeadImporter {
 public:
  HeadImporter(const HeadContext& context, fb::TaskKind task)
      : c_(context),
        family_(*context.config.family),
        outputs_(task, context.builder, context.fields, context.options),
        task_(outputs_.task()) {}

  /// Appends the head and sets the rest of the task.
  using Build = void (HeadImporter::*)(const Head&);

  void run(const ChosenHead& chosen, Build build) {
    require(c_.fields, chosen.head->required);
    // transformers handles the states of such decoders differently.
    if (of_pair(*chosen.head)) require(c_.fields, {{"is_encoder_decoder", "true"}});
    c_.builder.enter(fb::Part::head);
    (this->*build)(*chosen.head);
    if (of_pair(*chosen.head) && chosen.task != fb::TaskKind::generate && chosen.task != fb::TaskKind::none) {
      if (family_.settings.shifted_around) {
        task_.shift_id = kLastInFront;
      } else {
        task_.shift_id = read_start(c_.fields, c_.config.vocabulary, family_.settings.shifted_start);
        if (task_.shift_id < 0) c_.fields.problem(ExitCode::kInvalid, "decoder_start_token_id", kStartIsMissing);
      }
    }
    if (chosen.head->separated) {
      constexpr double kUsual = 66;
      record_property(c_.graph, kSegmentEnd, fmt::format("{:.0f}", c_.fields.number("sep_token_id", kUsual)));
    }
    outputs_.finish(c_.graph);
  }

  void encoder(const Head&) {
    c_.builder.output("last_hidden_state", fb::OutputRole::none, c_.encoder.hidden);
    if (family_.has(Slot::kPooler) && !c_.config.plain_pooler &&
        c_.weights.has_encoder(std::string(family_.name(Slot::kPooler)) + ".weight"))
      c_.builder.output("pooler_output", fb::OutputRole::none, pooler());
  }

  void sequence(const Head& head) {
    if (c_.setfit.rows != 0) return over_vector();
    label_sets(head, fb::OutputRole::labels);
  }

  void tag(const Head& head) { label_sets(head, fb::OutputRole::tags); }

  void answer(const Head& head) {
    if (head.searches) return search(head);
    if (head.by_question) return answer_of_question(head);
    const int32_t both = layers(head);
    const int32_t begin = c_.builder.slice("qa_outputs.start", both, 0, 1);
    outputs_.answer(begin, c_.builder.slice("qa_outputs.end", both, 1, 1));
  }

  void answer_of_question(const Head& head) {
    const uint32_t width = c_.config.hidden;
    const int32_t question = row_of_question();
    const auto dense_of = [&](const HeadLayer& layer, int32_t x) {
      EpilogueSpec epilogue = epilogue_of(layer, width);
      epilogue.epsilon = kUsualEpsilon;
      return dense(layer.name, x, width, epilogue);
    };
    const int32_t ones = c_.builder.places("qa_outputs.weight", 1, width, all_of(width, 1));
    std::vector<int32_t> scores;
    for (const char* name : {"qa_outputs.start", "qa_outputs.end"}) {
      const HeadLayer* of_end = &head.layers[3 * scores.size()];
      EpilogueSpec product;
      product.gate = dense_of(of_end[2], c_.encoder.hidden);
      const int32_t products = dense(of_end[1].name, dense_of(of_end[0], question), width, product, true);
      scores.push_back(c_.builder.linear(name, products, ones, kAbsent, {}));
    }
    outputs_.answer(scores[0], scores[1]);
  }

  /// The row of the first token "question_token_id", or of the first token, once for each token of the text.
  int32_t row_of_question() {
    constexpr uint32_t kUsualQuestion = 104;
    const uint32_t id = c_.fields.count("question_token_id", c_.config.vocabulary - 1, kUsualQuestion);
    EmbedSpec is_question{c_.builder.embedding("question.token", 1, 1, all_of(1, 1)), fb::IndexSource::part};
    is_question.offset = -static_cast<int32_t>(id);
    const int32_t marks = c_.builder.embed("question.marks", {is_question}, {});
    const uint32_t width = c_.config.hidden;
    const int32_t zeros = c_.builder.embed(
        "question.zeros", {{c_.builder.embedding("question.zero", 1, width, all_of(width, 0)), fb::IndexSource::zero}},
        {});
    return c_.builder.select("question.rows", marks, zeros, c_.encoder.hidden, 0, false, {});
  }

  static Values all_of(uint32_t count, float value) {
    Values values;
    values.values.assign(count, value);
    return values;
  }

  /// XLNet's search: scores of ends depend on where the answer begins.
  void search(const Head& head) {
    const uint32_t beginnings = c_.fields.count("start_n_top", kMostSearched, 5);
    task_.beam_ends = c_.fields.count("end_n_top", kMostSearched, 5);
    const int32_t scores = dense(head.layers[0].name, c_.encoder.hidden, 1);
    c_.builder.output("start_logits", fb::OutputRole::begin, scores, true);

    const TwoRows ends = two_rows(head.layers[1], true);
    const std::string name = head.layers[2].name;
    const uint32_t width = c_.config.hidden;
    const int32_t weight =
        c_.builder.linear_weight(name + ".weight", 1, width, c_.weights.head(name + ".weight", {1, width}));
    const int32_t bias = bias_of(name, 1);
    for (uint32_t rank = 0; rank < beginnings; ++rank) {
      const std::string number = rank == 0 ? "" : fmt::format("_{}", rank);
      const int32_t rows =
          c_.builder.select(head.layers[1].name + number, scores, ends.own, ends.selected, rank, false, ends.epilogue);
      const int32_t logits = c_.builder.linear(name + number, rows, weight, bias, {});
      c_.builder.output(fmt::format("end{}_logits", number), fb::OutputRole::end, logits, true);
    }

    const TwoRows none = two_rows(head.layers[3], false);
    const int32_t rows =
        c_.builder.select(head.layers[3].name, scores, none.own, none.selected, 0, true, none.epilogue);
    const int32_t last = c_.builder.pool("answer_class.last_token", rows, fb::PoolKind::last, false);
    c_.builder.output("cls_logits", fb::OutputRole::unanswerable, dense(head.layers[4].name, last, 1, {}, true));
  }

  void choose(const Head& head) { outputs_.choice(layers(head)); }

  void fill(const Head& head) { outputs_.words("logits", layers(head)); }

  /// Adds the weights of terms, computed from vocabulary scores, which are not an output.
  void sparse_embed(const Head& head) {
    const int32_t scores = layers(head);
    c_.problems.raise();  // without scores there is no operator to change
    outputs_.terms(scores, c_.pooling, c_.problems);
  }

  void generate(const Head& head) {
    const char* start = of_pair(head) ? family_.settings.made_start : nullptr;
    outputs_.next_words(layers(head), c_.config.vocabulary, of_pair(head), start);
    if (of_pair(head) && family_.settings.shifted_around) record_property(c_.graph, kTurnsSource, "true");
  }

  void find(const Head&) {
    const GlinerSettings settings = read_gliner(c_.fields.inside(kGliner));
    c_.problems.raise();  // wrong settings would make every tensor's shape wrong
    c_.builder.input("marks", fb::InputKind::marks, kWordMark + 1);
    const int32_t scores = import_span_head(c_.builder, c_.weights, settings, c_.encoder.hidden);
    c_.builder.output("logits", fb::OutputRole::spans, scores);
  }

  void next_sentence(const Head& head) {
    outputs_.labels("logits", fb::OutputRole::next, layers(head), one_set(labels_of(head)));
  }

  /// Adds the outputs of the heads for masked words and for the next sentence.
  void pretraining(const Head&) {
    outputs_.words("prediction_logits", layers(*family_.head(fb::TaskKind::fill)));
    const Head& next = *family_.head(fb::TaskKind::next_sentence);
    outputs_.next_sentence(next.output, layers(next));
  }

  void embed(const Head& head) {
    int32_t x = kAbsent;
    if (head.rows == Rows::kState) {
      x = c_.pooling.normalize ? add_unit_rows(c_.builder, state()) : state();
    } else {
      x = vector(c_.pooling);
    }
    outputs_.vector(x, c_.pooling);
  }

  /// A vector of length 1 for each token.
  void token_vectors(const Head&) {
    outputs_.token_vectors(add_token_vectors(c_.builder, c_.encoder.hidden, c_.pooling));
  }

  /// SetFit's classifier.
  void over_vector() {
    const SetFitHead& head = c_.setfit;
    SentencePooling pooling = c_.pooling;
    pooling.normalize = pooling.normalize || head.normalize;
    const int32_t x = vector(pooling);
    const bool two = head.rows == 1;
    const int32_t weight = c_.builder.linear_weight("model_head.coef", count(head.labels), c_.builder.width(x),
                                                    behind_zeros(head.weight, two ? c_.builder.width(x) : 0));
    const int32_t bias = c_.builder.vector("model_head.intercept", behind_zeros(head.bias, two ? 1 : 0));
    const int32_t logits = c_.builder.linear("model_head", x, weight, bias, {});
    outputs_.labels("logits", fb::OutputRole::labels, logits, one_set(head.labels));
  }

  /// The intent is read from the first row of the last hidden state (there is no pooler), or from the last row if the
  /// family's classifier reads that.
  void joint(const Head&) {
    auto intents = read_label_list(c_.fields, "intent_labels");
    auto slots = read_label_list(c_.fields, "slot_labels");
    const Head* classify = family_.head(fb::TaskKind::classify);
    const Rows rows = classify != nullptr ? classify->rows : Rows::kFirst;
    const int32_t token = rows == Rows::kSummary ? last_token() : rows == Rows::kState ? state() : first_token();
    const int32_t intent = dense("intent_classifier", token, count(intents));
    const int32_t slot = chain(dense("slot_classifier", c_.encoder.hidden, count(slots)));
    NamedLabels of_text;
    of_text.parents = read_label_parents(c_.fields, intents);
    of_text.labels = std::move(intents);
    outputs_.labels("intent_logits", fb::OutputRole::labels, intent, std::move(of_text));
    outputs_.labels("slot_logits", fb::OutputRole::tags, slot, one_set(std::move(slots)));
    for (NamedLabels& set : read_label_sets(c_.fields)) {
      if (set.tensor.empty()) {
        c_.fields.problem(
            ExitCode::kInvalid, "label_sets",
            fmt::format("\"{}\" has no \"tensor\", the name of its layer: intents and slots have the others",
                        set.name));
      } else {
        own_set(std::move(set), token, fb::OutputRole::labels);
      }
    }
  }

 private:
  /// True if the head reads the decoder of an encoder-decoder.
  bool of_pair(const Head& head) const { return family_.source != nullptr && !head.of_source; }

  /// Adds the head's scores as one label set, or split into several, and then label sets with their own layers over the
  /// same rows.
  void label_sets(const Head& head, fb::OutputRole role) {
    std::vector<NamedLabels> cut, own;
    for (NamedLabels& set : read_label_sets(c_.fields)) (set.tensor.empty() ? cut : own).push_back(std::move(set));
    if (cut.empty()) {
      NamedLabels all;
      all.labels = labels_of(head);
      all.parents = read_label_parents(c_.fields, all.labels);
      cut.push_back(std::move(all));
    }
    uint32_t columns = 0;
    for (const NamedLabels& set : cut) columns += count(set.labels);
    const int32_t rows = head.rows == Rows::kTwo ? kAbsent : rows_of(head);
    int32_t scores = has_label_tree(c_.weights) ? add_label_tree(c_.builder, c_.weights, rows, columns)
                     : head.rows == Rows::kTwo
                         ? scores_of_two(c_.builder, c_.weights, head, c_.encoder, c_.config, columns)
                         : layers(head, rows, columns);
    if (head.rows == Rows::kLate && late_pooling() == "late") {
      scores = c_.builder.pool("logits.mean", scores, fb::PoolKind::mean, false);
    }
    if (role == fb::OutputRole::tags && c_.weights.has_head("crf.transitions")) {
      if (cut.size() > 1) {
        c_.fields.problem(ExitCode::kUnsupported, "label_sets", "the scores of a chain of tags (crf) are one set");
      }
      scores = chain(scores);
    }
    outputs_.label_sets(role, scores, std::move(cut));
    for (NamedLabels& set : own) own_set(std::move(set), rows, role);
  }

  void own_set(NamedLabels set, int32_t rows, fb::OutputRole role) {
    const int32_t scores = dense(set.tensor, rows, count(set.labels));
    const std::string output = set.name + "_logits";
    outputs_.labels(output, role, scores, std::move(set));
  }

  int32_t vector(const SentencePooling& pooling) {
    return add_vector(c_.builder, c_.weights, c_.config, c_.encoder, pooling);
  }

  int32_t chain(int32_t scores) { return add_chain(c_.builder, c_.fields, c_.weights, "crf", scores); }

  static Values behind_zeros(Values values, size_t zeros) {
    if (!values.values.empty()) values.values.insert(values.values.begin(), zeros, 0.0F);
    return values;
  }

  /// A linear layer with the head's tensors NAME.weight [out, in] and NAME.bias [out].
  int32_t dense(const std::string& name, int32_t x, uint32_t out, const EpilogueSpec& epilogue = {},
                bool bare = false) {
    const uint32_t in = c_.builder.width(x);
    const int32_t weight =
        c_.builder.linear_weight(name + ".weight", out, in, c_.weights.head(name + ".weight", {out, in}));
    return c_.builder.linear(name, x, weight, bare ? kAbsent : bias_of(name, out), epilogue);
  }

  /// NAME.bias, if the file has it or the family requires it.
  int32_t bias_of(const std::string& name, uint32_t width) {
    const std::string bias = name + ".bias";
    if (family_.block.optional_biases && !c_.weights.has_head(bias)) return kAbsent;
    return c_.builder.vector(bias, c_.weights.head(bias, {width}));
  }

  int32_t pooled(const char* name, fb::PoolKind kind) {
    return c_.builder.pool(c_.encoder.base + name, c_.encoder.hidden, kind, false);
  }
  int32_t first_token() { return pooled("first_token", fb::PoolKind::first); }
  int32_t last_token() { return pooled("last_token", fb::PoolKind::last); }

  /// Classifiers of decoders read the last token that is not pad_token_id; if that is also the token that ends texts,
  /// texts may end with it.
  int32_t last_written_token() {
    fb::PoolT pool;
    pool.kind = fb::PoolKind::last;
    // Some files state -1 for none.
    const bool stated = c_.fields.has("pad_token_id") && c_.fields.raw("pad_token_id").is_number_integer();
    const int64_t pad = stated ? c_.fields.raw("pad_token_id").get<int64_t>() : -1;
    if (pad >= 0 && pad < int64_t{c_.config.vocabulary}) pool.skip_id = static_cast<int32_t>(pad);
    return c_.builder.pool(c_.encoder.base + "last_token", c_.encoder.hidden, pool);
  }

  /// The row of a text that transformers' SequenceSummary selects.
  int32_t summary() {
    const std::string type = c_.fields.text("summary_type", "last");
    if (type == "first") return first_token();
    if (type == "mean") return pooled("mean", fb::PoolKind::mean);
    if (type != "last" && type != "cls_index") {
      c_.fields.problem(ExitCode::kUnsupported, "summary_type",
                        fmt::format("\"{}\" is not supported; \"last\", \"first\" and \"mean\" are", type));
    }
    return last_token();
  }

  /// The state that the layers output for a text, or the row that "pooling" selects for recurrent layers.
  int32_t state() {
    if (c_.encoder.state != kAbsent) return c_.encoder.state;
    const std::string pooling = c_.fields.text("pooling", "last");
    if (pooling == "mean") return pooled("mean", fb::PoolKind::mean);
    if (pooling == "max") return pooled("max", fb::PoolKind::max);
    if (pooling != "last") {
      c_.fields.problem(ExitCode::kUnsupported, "pooling",
                        fmt::format("\"{}\" is not supported; \"last\", \"mean\" and \"max\" are", pooling));
      return first_token();
    }
    return c_.encoder.state;
  }

  /// BERT's pooler: tanh(W x[0] + b). Its tensors belong to the base model.
  int32_t pooler() {
    if (c_.config.plain_pooler) return first_token();
    c_.builder.enter(fb::Part::pooler);
    const std::string name = family_.name(Slot::kPooler);
    const std::string full = c_.encoder.base + name;
    const uint32_t width = c_.config.hidden;
    const int32_t weight =
        c_.builder.linear_weight(full + ".weight", width, width, c_.weights.encoder(name + ".weight", {width, width}));
    const bool biased = !family_.block.optional_biases || c_.weights.has_encoder(name + ".bias");
    const int32_t bias =
        biased ? c_.builder.vector(full + ".bias", c_.weights.encoder(name + ".bias", {width})) : kAbsent;
    const int32_t pooled = c_.builder.linear(full, first_token(), weight, bias, activated(fb::ActivationKind::tanh));
    c_.builder.enter(fb::Part::head);
    return pooled;
  }

  /// How classifiers of EuroBERT pool a text.
  std::string late_pooling() { return c_.fields.text("classifier_pooling", "late"); }

  int32_t rows_of(const Head& head) {
    if (head.rows == Rows::kLate) {
      const std::string pooling = late_pooling();
      if (pooling == "late") return c_.encoder.hidden;
      if (pooling == "mean") return pooled("mean", fb::PoolKind::mean);
      if (pooling != "bos") {
        c_.fields.problem(ExitCode::kUnsupported, "classifier_pooling",
                          "only \"late\", \"mean\" and \"bos\" are supported");
      }
      return first_token();
    }
    if (head.rows == Rows::kOfSetting) {
      const std::string pooling = c_.fields.text("classifier_pooling", "cls");
      if (pooling == "mean") {
        return pooled("mean", fb::PoolKind::mean);
      }
      if (pooling != "cls") {
        c_.fields.problem(ExitCode::kUnsupported, "classifier_pooling", "only \"cls\" and \"mean\" are supported");
      }
      return first_token();
    }
    if (head.rows == Rows::kSummary) return summary();
    if (head.rows == Rows::kState) return state();
    if (head.rows == Rows::kLast) return of_pair(head) ? last_token() : last_written_token();
    return head.rows == Rows::kTokens ? c_.encoder.hidden : head.rows == Rows::kFirst ? first_token() : pooler();
  }

  fb::ActivationKind activation(const HeadLayer& layer) const {
    switch (layer.activation) {
      case HeadLayer::Activation::kNone:
        break;
      case HeadLayer::Activation::kRelu:
        return fb::ActivationKind::relu;
      case HeadLayer::Activation::kTanh:
        return fb::ActivationKind::tanh;
      case HeadLayer::Activation::kGelu:
        return fb::ActivationKind::gelu;
      case HeadLayer::Activation::kGeluTanh:
        return fb::ActivationKind::gelu_tanh;
      case HeadLayer::Activation::kOfModel:
        return c_.config.activation;
      case HeadLayer::Activation::kOfSetting:
        return read_activation(c_.fields, layer.setting, layer.setting_otherwise);
    }
    return fb::ActivationKind::none;
  }

  uint32_t width_of(HeadLayer::Out out, uint32_t labels) const {
    switch (out) {
      case HeadLayer::Out::kLabels:
        return labels;
      case HeadLayer::Out::kHidden:
        return c_.config.hidden;
      case HeadLayer::Out::kEmbedding:
        return c_.config.embedding;
      case HeadLayer::Out::kVocabulary:
        return c_.config.vocabulary;
      case HeadLayer::Out::kOne:
        return 1;
      case HeadLayer::Out::kTwo:
        return 2;
      case HeadLayer::Out::kInner:
      case HeadLayer::Out::kVector:
        break;  // read when the layer is built
    }
    return 0;
  }

  /// A layer over two concatenated rows is the sum of two layers: of a token's own row, and of a selected row.
  struct TwoRows {
    int32_t own = kAbsent, selected = kAbsent;
    EpilogueSpec epilogue;
  };
  TwoRows two_rows(const HeadLayer& layer, bool own_first) {
    const std::string name = layer.name;
    const uint32_t width = c_.config.hidden;
    const Values both = c_.weights.head(name + ".weight", {width, 2 * width});
    const auto part = [&](const char* which, bool first) {
      const std::string matrix = name + which;
      const int32_t weight = c_.builder.linear_weight(matrix + ".weight", width, width,
                                                      some_columns(both, 2 * width, first ? 0 : width, width));
      const bool own = first == own_first;
      return c_.builder.linear(matrix, c_.encoder.hidden, weight, own ? bias_of(name, width) : kAbsent, {});
    };
    TwoRows out;
    out.own = part(".own", own_first);
    out.selected = part(".selected", !own_first);
    out.epilogue = epilogue_of(layer, width);
    return out;
  }

  /// The number of outputs of an inner layer, from its tensor.
  uint32_t inner_width(const HeadLayer& layer) const {
    const auto rows = c_.weights.head_rows(std::string(layer.name) + ".weight");
    return static_cast<uint32_t>(std::min(rows.value_or(c_.config.intermediate), kMostTensorRows));
  }

  EpilogueSpec epilogue_of(const HeadLayer& layer, uint32_t width) {
    EpilogueSpec epilogue = activated(activation(layer));
    if (layer.norm == nullptr) return epilogue;
    const std::string norm = layer.norm;
    epilogue.norm = fb::NormKind::layer;
    epilogue.gamma = c_.builder.vector(norm + ".weight", c_.weights.head(norm + ".weight", {width}));
    epilogue.beta = bias_of(norm, width);
    epilogue.epsilon = c_.config.epsilon;
    return epilogue;
  }

  /// The head's layers in order.
  int32_t layers(const Head& head, uint32_t labels = 0) { return layers(head, rows_of(head), labels); }
  int32_t layers(const Head& head, int32_t x, uint32_t labels) {
    const int32_t rows = x;
    for (const HeadLayer& layer : head.layers) {
      if (layer.only_if != nullptr && !c_.fields.flag(layer.only_if, true)) {
        x = c_.builder.row(layer.name, x, activated(activation(layer)));
        continue;
      }
      if (layer.out == HeadLayer::Out::kVocabulary) {
        x = add_vocabulary_layer(c_, layer, x);
        continue;
      }
      const uint32_t width = layer.out == HeadLayer::Out::kInner ? inner_width(layer) : width_of(layer.out, labels);
      EpilogueSpec epilogue = epilogue_of(layer, width);
      if (layer.adds_rows) epilogue.residual = rows;
      const bool score = layer.out == HeadLayer::Out::kOne && head.labels.size() == 2;
      x = score ? against_zero(layer.name, x) : dense(layer.name, x, width, epilogue, layer.bare);
    }
    return x;
  }

  /// One score s as the scores (0, s) of two labels: their softmax is (1 - sigmoid(s), sigmoid(s)).
  int32_t against_zero(const std::string& name, int32_t x) {
    const uint32_t in = c_.builder.width(x);
    const int32_t weight =
        c_.builder.linear_weight(name + ".weight", 2, in, behind_zeros(c_.weights.head(name + ".weight", {1, in}), in));
    const int32_t bias = c_.builder.vector(name + ".bias", behind_zeros(c_.weights.head(name + ".bias", {1}), 1));
    return c_.builder.linear(name, x, weight, bias, {});
  }

  /// The head's own labels, or those of config.json.
  std::vector<std::string> labels_of(const Head& head) const {
    if (!head.labels.empty()) return {head.labels.begin(), head.labels.end()};
    return read_labels(c_.fields, c_.weights.head_rows(std::string(head.layers.back().name) + ".weight"));
  }

  static uint32_t count(const std::vector<std::string>& labels) { return static_cast<uint32_t>(labels.size()); }

  const HeadContext& c_;
  const Family& family_;
  TaskOutputs outputs_;
  fb::TaskT& task_;
};

/// A task, and the function that builds its head.
struct Builds {
  fb::TaskKind task;
  HeadImporter::Build build;
};

constexpr Builds kBuilds[] = {
    {fb::TaskKind::none, &HeadImporter::encoder},
    {fb::TaskKind::classify, &HeadImporter::sequence},
    {fb::TaskKind::multi_label, &HeadImporter::sequence},
    {fb::TaskKind::regress, &HeadImporter::sequence},
    {fb::TaskKind::tag, &HeadImporter::tag},
    {fb::TaskKind::answer, &HeadImporter::answer},
    {fb::TaskKind::choose, &HeadImporter::choose},
    {fb::TaskKind::fill, &HeadImporter::fill},
    {fb::TaskKind::next_sentence, &HeadImporter::next_sentence},
    {fb::TaskKind::pretraining, &HeadImporter::pretraining},
    {fb::TaskKind::embed, &HeadImporter::embed},
    {fb::TaskKind::joint, &HeadImporter::joint},
    {fb::TaskKind::token_vectors, &HeadImporter::token_vectors},
    {fb::TaskKind::generate, &HeadImporter::generate},
    {fb::TaskKind::find, &HeadImporter::find},
    {fb::TaskKind::sparse_embed, &HeadImporter::sparse_embed},
};

}  // namespace

void import_head(const ChosenHead& chosen, const HeadContext& context) {
  for (const Builds& builds : kBuilds) {
    if (builds.task == chosen.task) HeadImporter(context, chosen.task).run(chosen, builds.build);
  }
}

uint32_t imported_heads() {
  uint32_t tasks = 0;
  for (const Builds& builds : kBuilds) tasks |= 1u << static_cast<uint32_t>(builds.task);
  return tasks;
}

}  // namespace bantam::convert
