#include "linked.h"
#include "model/heads.h"
#include "model/verify.h"
#if BANTAM_IF_LINKED(part_Found)
#include "text/tables.h"
#endif

namespace bantam {
namespace {

/// Intents and slots; builds that read further label sets allow more.
constexpr uint32_t kMaxLabelSets = linked::kFurtherSets ? 16 : 2;

bool is_finite(float value) { return value - value == 0.0f; }

Verdict check_output(const fb::Model& model, const fb::Output& output) {
  if (static_cast<uint32_t>(output.tensor()) >= model.tensors()->size()) {
    return corrupt("an output is not a tensor of the model");
  }
  if (output.role() > fb::OutputRole::MAX) return unsupported("an output's role is unknown");
  const bool main = output.phase() == fb::Phase::main;
  if (!main && (!linked::kSources || !has_source(model) || output.phase() > fb::Phase::MAX ||
                output.role() != fb::OutputRole::none)) {
    return corrupt("an output's pass is none of the model's, or a task reads one of the source's pass");
  }
  const fb::Tensor& t = tensor(model, output.tensor());
  if (t.role() != fb::Role::output) {
    return corrupt("an output's tensor does not have the role of an output", output.tensor());
  }
  if (t.region() != fb::Region::shared || t.type() != fb::DType::f32 || t.layout() != fb::Layout::rows) {
    return corrupt("an output is not shared f32 rows", output.tensor());
  }
  return {};
}

Verdict check_label_set(const fb::Model& model, const fb::LabelSet& set) {
  if (set.output() >= count(model.outputs())) return corrupt("a label set's output does not exist");
  if (set.scheme() > fb::TagScheme::MAX) return corrupt("unknown tag scheme");
  if (set.aggregation() > fb::Aggregation::MAX) return corrupt("unknown aggregation of labels");
  if (!linked::kStrategies && set.aggregation() != fb::Aggregation::words) {
    return not_linked("this build leaves out aggregation strategies");
  }
  if (!is_finite(set.threshold()) || !(set.temperature() > 0.0f) || !is_finite(set.temperature()) ||
      !is_finite(set.reject_below())) {
    return corrupt("a label set's threshold or temperature is not a number");
  }
  const fb::Tensor& t = tensor(model, model.outputs()->Get(set.output())->tensor());
  if (count(set.labels()) != 0 && count(set.labels()) != width(t)) {
    return corrupt("a label set has more or fewer labels than its output has columns");
  }
  return {};
}

/// Checks the hierarchy of text labels: at most kMostLevels levels.
Verdict check_parents(const fb::Model& model, const fb::LabelSet& set, Scores scores) {
  if (set.parents() == nullptr) return {};
  if (!linked::kParents) return not_linked("this build leaves out labels that stand above each other");
  const int32_t output = model.outputs()->Get(set.output())->tensor();
  const fb::Tensor& t = tensor(model, output);
  const auto& parents = *set.parents();
  if (parents.size() == 0) return {};
  if (scores == kUnscored || rows_symbol(t) != kSequences || parents.size() != width(t)) {
    return corrupt("a label set has labels above others that are not one for each column of scores of texts", output);
  }
  const auto labels = static_cast<int32_t>(parents.size());
  for (int32_t label = 0; label < labels; ++label) {
    uint32_t levels = 0;
    for (int32_t above = label; above != -1; above = parents.Get(static_cast<uint32_t>(above))) {
      if (above < -1 || above >= labels || levels++ == kMostLevels) {
        return corrupt("a label stands under one that there is not, or under too many", output);
      }
    }
  }
  return {};
}

Verdict check_further(const fb::Model& model, uint32_t parts) {
  if (!linked::kFurtherSets || (parts & (kLabelsPart | kWordsPart)) == 0) return {};
  for (uint32_t i = own_label_sets(parts); i < count(model.task()->label_sets()); ++i) {
    const int32_t output = model.outputs()->Get(model.task()->label_sets()->Get(i)->output())->tensor();
    if (!fits(further_head(i, further_rows(parts)), tensor(model, output))) {
      return corrupt("a further label set is of an output with other rows than the task's", output);
    }
  }
  return {};
}

[[maybe_unused]] bool is_token(const fb::Model& model, int32_t id) {
  return id >= 0 && static_cast<uint32_t>(id) < find_input(model, fb::InputKind::ids)->limit();
}

#if BANTAM_IF_LINKED(part_Found)
/// Checks how texts and labels are tokenized, and how the span scores are read.
Verdict check_finding(const fb::Model& model) {
  const fb::Finding* finding = model.task()->finding();
  if (finding == nullptr) return corrupt("a task that finds spans does not say how");
  if (has_source(model)) return unsupported("spans are not found in the texts of sources");
  if (!is_token(model, finding->label_id()) || !is_token(model, finding->text_id())) {
    return corrupt("the token of labels or of texts is none");
  }
  if (!(finding->threshold() >= 0.0f && finding->threshold() <= 1.0f)) {
    return corrupt("the threshold of spans is not a probability");
  }
  const int32_t output = find_head(model, kFoundHead);
  if (output < 0) return corrupt("a task that finds spans has no scores of them");
  const int32_t scores = model.outputs()->Get(static_cast<uint32_t>(output))->tensor();
  if (finding->max_labels() == 0 || width(tensor(model, scores)) % finding->max_labels() != 0 ||
      mark_types(model) <= 2) {
    return corrupt("scores of spans have no column for each width and label, or tokens no marks", scores);
  }
  if (count(model.tokenizers()) == 0 || text::find_blob(*model.tokenizers()->Get(0), fb::BlobName::word_split))
    return {};
  return corrupt("a tokenizer whose texts are searched does not say what their words are");
}
#endif

/// Checks that all end scores have one column and one row per token, and that there is a no-answer score.
[[maybe_unused]] Verdict check_beams(const fb::Model& model, const fb::Task& task) {
  if (task.beam_ends() > kMostSearched) return corrupt("ends of answers are searched among too many");
  uint32_t beginnings = 0;
  for (int32_t output = 0; (output = find_head(model, kEndHead, beginnings)) >= 0; ++beginnings) {
    const int32_t scores = model.outputs()->Get(static_cast<uint32_t>(output))->tensor();
    if (beginnings >= kMostSearched || !fits(kEndHead, tensor(model, scores))) {
      return corrupt("ends of answers behind too many beginnings, or of other rows than tokens", scores);
    }
  }
  if (beginnings == 0 || find_head(model, kStartHead) < 0 || find_head(model, kUnanswerableHead) < 0) {
    return corrupt("a task that searches ends of answers lacks one of their scores");
  }
  return {};
}

/// Returns those of `tasks` that this build links but cannot score, because it lacks their activation.
constexpr uint32_t lacking(uint32_t tasks, fb::ActivationKind score) {
  return linked::activation(static_cast<uint32_t>(score)) ? 0 : tasks & linked::kTasks;
}

/// 0 if everything is linked: an image then contains no code for it.
constexpr uint32_t kWithoutScores = lacking(tasks_scored(kSoftmax), fb::ActivationKind::exp) |
                                    lacking(tasks_scored(kSigmoids), fb::ActivationKind::sigmoid);

/// Checks that token ids are in the vocabulary, and numbers in their ranges.
[[maybe_unused]] Verdict check_generation(const fb::Model& model, const fb::Generation& generation, bool starts) {
  if ((generation.start_id() != -1) != starts) {
    return corrupt("an encoder-decoder that generates begins with a token that the task names, others do not");
  }
  for (const int32_t id : {generation.start_id(), generation.first_id(), generation.last_id()}) {
    if (id != -1 && !is_token(model, id)) return corrupt("what generating begins or ends with is not a token");
  }
  for (uint32_t i = 0; i < count(generation.banned()); ++i) {
    if (!is_token(model, generation.banned()->Get(i))) return corrupt("a banned token is none");
  }
  if (generation.begin_banned() > count(generation.banned()))
    return corrupt("more tokens are banned at the beginning than in all");
  const float penalty = generation.length_penalty(), repetition = generation.repetition_penalty();
  const bool fits = generation.beams() != 0 && generation.early_stopping() <= fb::EarlyStopping::MAX &&
                    penalty >= -1e3f && penalty <= 1e3f && repetition > 0.0f && repetition <= 1e6f;
  return fits ? Verdict{} : corrupt("a setting of generating is out of range");
}

/// Checks that languages are tokens of the text that names them.
[[maybe_unused]] Verdict check_languages(const fb::Model& model, const fb::Task& task) {
  constexpr uint32_t kMostLanguages = 1024;
  if (task.language_place() > fb::LanguagePlace::MAX) return corrupt("unknown place of languages");
  if (count(task.languages()) > kMostLanguages) return unsupported("too many languages");
  if ((count(task.languages()) != 0) != (task.language_place() != fb::LanguagePlace::none)) {
    return corrupt("there are languages without a place, or a place without languages");
  }
  for (uint32_t i = 0; i < count(task.languages()); ++i) {
    const int32_t id = task.languages()->Get(i)->token();
    const bool fits = task.language_place() == fb::LanguagePlace::source
                          ? id >= 0 && static_cast<uint32_t>(id) < ids_input(model, fb::Phase::source)->limit()
                          : is_token(model, id);
    if (!fits) return corrupt("a language is not a token");
  }
  return {};
}

/// Checks the beginnings and the settings of generated texts.
[[maybe_unused]] Verdict check_generations(const fb::Model& model, const fb::Task& task) {
  constexpr uint32_t kMostGenerations = 64;
  const bool pair = has_source(model) && chunk_tokens(model) == 0;
  const bool starts = pair && (traits(task.kind()).parts & kNextWordsPart) != 0;
  const int32_t shift = task.shift_id();
  if (shift != -1 && (!has_source(model) || (shift != kLastInFront && !is_token(model, shift)))) {
    return corrupt("what the main pass begins with is not a token, or there is no source to shift");
  }
  if (starts && count(task.generations()) == 0) {
    return corrupt("an encoder-decoder that generates begins with a token that the task names, others do not");
  }
  if (count(task.generations()) > kMostGenerations) return unsupported("too many ways of generating");
  for (uint32_t i = 0; i < count(task.generations()); ++i) {
    BANTAM_CHECK(check_generation(model, *task.generations()->Get(i), starts));
  }
  if (count(task.languages()) != 0 && !starts) return corrupt("languages without an encoder-decoder that generates");
  return check_languages(model, task);
}

}  // namespace

Verdict check_task(const fb::Model& model) {
  for (const fb::Output* output : *model.outputs()) BANTAM_CHECK(check_output(model, *output));
  const fb::Task* task = model.task();
  if (task == nullptr) return {};
  if (task->kind() > fb::TaskKind::MAX) return corrupt("unknown task");
  if ((kWithoutScores & task_bit(task->kind())) != 0) {
    return not_linked("this build leaves out the activation that the task's scores are computed with");
  }
  if constexpr (linked::kContexts || linked::kSources) BANTAM_CHECK(check_generations(model, *task));
  if (!is_finite(task->no_answer_threshold())) return corrupt("the no-answer threshold is not a number");
  if (count(task->label_sets()) > kMaxLabelSets) return unsupported("too many label sets");
  for (uint32_t i = 0; i < count(task->label_sets()); ++i) {
    BANTAM_CHECK(check_label_set(model, *task->label_sets()->Get(i)));
    BANTAM_CHECK(check_parents(model, *task->label_sets()->Get(i), traits(task->kind()).scores));
  }
  BANTAM_CHECK(check_further(model, traits(task->kind()).parts));
  if (linked::kContexts && task->chat() != nullptr && task->chat()->system_place() > fb::SystemPlace::MAX) {
    return corrupt("what the system says in conversations stands in an unknown place");
  }
#if BANTAM_IF_LINKED(part_Found)
  if (linked::kFind && (traits(task->kind()).parts & kFoundPart) != 0) BANTAM_CHECK(check_finding(model));
#endif
  if (has_part(static_cast<TaskKind>(task->kind()), kSpanPart) && task->beam_ends() != 0) {
    if constexpr (!kBeamEnds) return not_linked("this build leaves out the search for ends of answers");
    BANTAM_CHECK(check_beams(model, *task));
  }
  return check_heads(model, task->kind());
}

}  // namespace bantam
