#include "import/heads.h"

#include <fmt/format.h>

#include <cmath>
#include <memory>
#include <utility>

#include "import/source/labels.h"

namespace bantam::convert {
namespace {

EpilogueSpec activated(fb::ActivationKind kind) {
  EpilogueSpec epilogue;
  epilogue.activation = kind;
  return epilogue;
}

class HeadImporter {
 public:
  explicit HeadImporter(const HeadContext& context)
      : c_(context), bert_(context.config.family == Family::kBert), hidden_(context.config.hidden) {
    task_ = std::make_unique<fb::TaskT>();
  }

  /// Appends the head and gives the task its other settings.
  using Build = void (HeadImporter::*)();

  void run(fb::TaskKind task, Build build) {
    task_->kind = task;
    c_.builder.enter(fb::Part::head);
    (this->*build)();
    c_.graph.model.task = std::move(task_);
  }

  void encoder() {
    c_.builder.output("last_hidden_state", fb::OutputRole::none, c_.encoder.hidden);
    if (bert_ && c_.weights.has_encoder("pooler.dense.weight"))
      c_.builder.output("pooler_output", fb::OutputRole::none, pooler());
  }

  void sequence() {
    auto labels = read_labels(c_.fields, c_.weights.head_rows("classifier.weight"));
    const int32_t logits = dense("classifier", pooled(), count(labels));
    label_set(c_.builder.output("logits", fb::OutputRole::labels, logits), std::move(labels));
  }

  void tag() {
    auto labels = read_labels(c_.fields, c_.weights.head_rows("classifier.weight"));
    const fb::TagScheme tags = scheme(labels);
    const int32_t logits = dense("classifier", c_.encoder.hidden, count(labels));
    label_set(c_.builder.output("logits", fb::OutputRole::tags, logits), std::move(labels), tags);
  }

  void answer() {
    const int32_t both = dense("qa_outputs", c_.encoder.hidden, 2);
    c_.builder.output("start_logits", fb::OutputRole::begin, c_.builder.slice("qa_outputs.start", both, 0, 1), true);
    c_.builder.output("end_logits", fb::OutputRole::end, c_.builder.slice("qa_outputs.end", both, 1, 1), true);
  }

  void choose() { c_.builder.output("logits", fb::OutputRole::choice, dense("classifier", pooled(), 1)); }

  void fill() { c_.builder.output("logits", fb::OutputRole::words, predictions()); }

  void next_sentence() {
    if (!require_bert("next sentence prediction")) return;
    label_set(c_.builder.output("logits", fb::OutputRole::next, dense("cls.seq_relationship", pooler(), 2)),
              {"is_next", "not_next"});
  }

  void pretraining() {
    if (!require_bert("pre-training heads")) return;
    c_.builder.output("prediction_logits", fb::OutputRole::words, predictions());
    c_.builder.output("seq_relationship_logits", fb::OutputRole::next, dense("cls.seq_relationship", pooler(), 2));
  }

  void embed() {
    const SentencePooling& pooling = c_.pooling;
    task_->prompt = pooling.prompt;
    int32_t x = c_.builder.pool("pooling", c_.encoder.hidden, pooling.pool, pooling.normalize && pooling.dense.empty());
    for (size_t i = 0; i < pooling.dense.size(); ++i) {
      const DenseModule& module = pooling.dense[i];
      EpilogueSpec epilogue = activated(module.activation);
      if (pooling.normalize && i + 1 == pooling.dense.size()) {
        // x / |x| is the RMS norm with gamma 1 / sqrt(width).
        epilogue.norm = fb::NormKind::rms;
        epilogue.epsilon = 1e-24F;
        Values gamma;
        gamma.values.assign(module.out, 1.0F / std::sqrt(static_cast<float>(module.out)));
        epilogue.gamma = c_.builder.vector("normalize.gamma", std::move(gamma));
      }
      const int32_t weight =
          c_.builder.linear_weight(module.name + ".linear.weight", module.out, module.in, module.weight);
      const int32_t bias =
          module.bias.values.empty() ? kAbsent : c_.builder.vector(module.name + ".linear.bias", module.bias);
      x = c_.builder.linear(module.name, x, weight, bias, epilogue);
    }
    c_.builder.output("sentence_embedding", fb::OutputRole::embedding, x);
  }

  void joint() {
    auto intents = read_label_list(c_.fields, "intent_labels");
    auto slots = read_label_list(c_.fields, "slot_labels");
    const fb::TagScheme tags = scheme(slots);
    // The intent is read from token 0 of the last hidden state: there is no pooler.
    const int32_t intent = dense("intent_classifier", first_token(), count(intents));
    const int32_t slot = dense("slot_classifier", c_.encoder.hidden, count(slots));
    label_set(c_.builder.output("intent_logits", fb::OutputRole::labels, intent), std::move(intents));
    label_set(c_.builder.output("slot_logits", fb::OutputRole::tags, slot), std::move(slots), tags);
  }

 private:
  /// Linear over head tensors NAME.weight [out, in] and NAME.bias [out].
  int32_t dense(const std::string& name, int32_t x, uint32_t out, const EpilogueSpec& epilogue = {}) {
    const uint32_t in = c_.builder.width(x);
    const int32_t weight =
        c_.builder.linear_weight(name + ".weight", out, in, c_.weights.head(name + ".weight", {out, in}));
    const int32_t bias = c_.builder.vector(name + ".bias", c_.weights.head(name + ".bias", {out}));
    return c_.builder.linear(name, x, weight, bias, epilogue);
  }

  int32_t first_token() {
    return c_.builder.pool(c_.encoder.base + "first_token", c_.encoder.hidden, fb::PoolKind::first, false);
  }

  /// BERT's pooler: tanh(W x[0] + b). Its tensors belong to the base model.
  int32_t pooler() {
    c_.builder.enter(fb::Part::pooler);
    const std::string name = "pooler.dense";
    const std::string full = c_.encoder.base + name;
    const int32_t weight = c_.builder.linear_weight(full + ".weight", hidden_, hidden_,
                                                    c_.weights.encoder(name + ".weight", {hidden_, hidden_}));
    const int32_t bias = c_.builder.vector(full + ".bias", c_.weights.encoder(name + ".bias", {hidden_}));
    const int32_t pooled = c_.builder.linear(full, first_token(), weight, bias, activated(fb::ActivationKind::tanh));
    c_.builder.enter(fb::Part::head);
    return pooled;
  }

  /// One row a sequence, as the family's sentence heads see it.
  int32_t pooled() {
    return bert_ ? pooler() : dense("pre_classifier", first_token(), hidden_, activated(fb::ActivationKind::relu));
  }

  void label_set(uint32_t output, std::vector<std::string> labels, fb::TagScheme scheme = fb::TagScheme::plain) {
    auto set = std::make_unique<fb::LabelSetT>();
    set->output = output;
    set->labels = std::move(labels);
    set->scheme = scheme;
    task_->label_sets.push_back(std::move(set));
  }

  fb::TagScheme scheme(const std::vector<std::string>& labels) const {
    return c_.options.tag_scheme.empty() ? guess_tag_scheme(labels) : parse_tag_scheme(c_.options.tag_scheme);
  }

  static uint32_t count(const std::vector<std::string>& labels) { return static_cast<uint32_t>(labels.size()); }

  /// The output layer over the vocabulary: the word embeddings again, unless the file has another matrix.
  int32_t vocabulary_layer(const std::string& name, const std::string& bias_name, int32_t x) {
    const uint32_t vocabulary = c_.config.vocabulary;
    const std::string weight_name = name + ".weight";
    if (c_.config.embedding_rank != 0) {
      c_.problems.add(ExitCode::kUnsupported,
                      "factorised embeddings (embedding_rank) cannot serve as an output layer over the vocabulary");
      return x;
    }
    const bool present = c_.weights.has_head(weight_name);
    int32_t weight = c_.encoder.word_embeddings;
    if (present ? c_.weights.same(weight_name, "embeddings.word_embeddings.weight") : c_.config.tie_embeddings) {
      c_.weights.use_head(weight_name);
      c_.builder.tie(weight);
    } else {
      weight = c_.builder.linear_weight(weight_name, vocabulary, hidden_,
                                        c_.weights.head(weight_name, {vocabulary, hidden_}));
      if (present && c_.config.tie_embeddings) {
        c_.graph.notes.push_back(
            fmt::format("{} differs from the word embeddings, though config.json ties the two: "
                        "its own values are used",
                        weight_name));
      }
    }
    const int32_t bias = c_.builder.vector(bias_name, c_.weights.head(bias_name, {vocabulary}));
    return c_.builder.linear(name, x, weight, bias, {});
  }

  /// Dense, activation, norm, vocabulary. [tokens, vocabulary].
  int32_t predictions() {
    const std::string transform = bert_ ? "cls.predictions.transform.dense" : "vocab_transform";
    const std::string norm = bert_ ? "cls.predictions.transform.LayerNorm" : "vocab_layer_norm";
    EpilogueSpec epilogue = activated(c_.config.activation);
    epilogue.norm = fb::NormKind::layer;
    epilogue.gamma = c_.builder.vector(norm + ".weight", c_.weights.head(norm + ".weight", {hidden_}));
    epilogue.beta = c_.builder.vector(norm + ".bias", c_.weights.head(norm + ".bias", {hidden_}));
    epilogue.epsilon = c_.config.epsilon;
    const int32_t x = dense(transform, c_.encoder.hidden, hidden_, epilogue);
    if (!bert_) return vocabulary_layer("vocab_projector", "vocab_projector.bias", x);
    // Most files hold one bias under one or both names; where they differ the decoder's own is the one added.
    const bool own = c_.weights.has_head("cls.predictions.decoder.bias");
    c_.weights.use_head("cls.predictions.bias");
    return vocabulary_layer("cls.predictions.decoder", own ? "cls.predictions.decoder.bias" : "cls.predictions.bias",
                            x);
  }

  bool require_bert(const char* what) {
    if (!bert_)
      c_.problems.add(ExitCode::kUnsupported,
                      fmt::format("{} exist for bert only, not {}", what, c_.config.model_type));
    return bert_;
  }

  const HeadContext& c_;
  bool bert_;
  uint32_t hidden_;
  std::unique_ptr<fb::TaskT> task_;
};

/// A task, who builds its head, and what transformers calls models with it (after the family's name, or whole).
struct Head {
  fb::TaskKind task;
  HeadImporter::Build build;
  const char* architecture;
};

constexpr Head kHeads[] = {
    {fb::TaskKind::none, &HeadImporter::encoder, "Model"},
    // Which of the three: sequence_task in head_kind.cpp.
    {fb::TaskKind::classify, &HeadImporter::sequence, "ForSequenceClassification"},
    {fb::TaskKind::multi_label, &HeadImporter::sequence, nullptr},
    {fb::TaskKind::regress, &HeadImporter::sequence, nullptr},
    {fb::TaskKind::tag, &HeadImporter::tag, "ForTokenClassification"},
    {fb::TaskKind::answer, &HeadImporter::answer, "ForQuestionAnswering"},
    {fb::TaskKind::choose, &HeadImporter::choose, "ForMultipleChoice"},
    {fb::TaskKind::fill, &HeadImporter::fill, "ForMaskedLM"},
    {fb::TaskKind::next_sentence, &HeadImporter::next_sentence, "ForNextSentencePrediction"},
    {fb::TaskKind::pretraining, &HeadImporter::pretraining, "ForPreTraining"},
    {fb::TaskKind::embed, &HeadImporter::embed, nullptr},  // sentence-transformers says it by modules.json
    {fb::TaskKind::joint, &HeadImporter::joint, "JointBertForIntentAndSlots"},
};

}  // namespace

void import_head(fb::TaskKind task, const HeadContext& context) {
  for (const Head& head : kHeads) {
    if (head.task == task) HeadImporter(context).run(task, head.build);
  }
}

std::optional<fb::TaskKind> head_of_architecture(std::string_view name) {
  for (const Head& head : kHeads) {
    if (head.architecture != nullptr && name == head.architecture) return head.task;
  }
  return std::nullopt;
}

uint32_t imported_heads() {
  uint32_t tasks = 0;
  for (const Head& head : kHeads) tasks |= 1u << static_cast<uint32_t>(head.task);
  return tasks;
}

}  // namespace bantam::convert
