#include "student/student.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>
#include <system_error>
#include <utility>

#include "base/error.h"
#include "import/hugging_face.h"
#include "source/source_path.h"
#include "student/check.h"
#include "student/factorise.h"
#include "student/importance.h"
#include "student/narrow.h"

namespace bantam::convert {
namespace {

class Maker {
 public:
  Maker(const std::filesystem::path& teacher, const Recipe& recipe, const StudentOptions& options)
      : recipe_(recipe), options_(options), student_{Draft(checked(teacher)), {}} {
    if (!options_.progress) options_.progress = [](const char*, double) {};
    student_.report.teacher = teacher.string();
  }

  Student make() {
    Draft& draft = student_.draft;
    student_.report.before = draft.size();
    const Widths widths = check_recipe(recipe_, draft);
    if (options_.directory) check_even(widths);
    if (recipe_.vocabulary) trim();
    if (recipe_.positions != 0) drop_positions();
    const bool pair = draft.source_config() != nullptr;
    if (recipe_.layers.given()) drop_layers(recipe_.layers, pair ? LayerStack::kSource : LayerStack::kOwn);
    if (recipe_.decoder_layers.given()) drop_layers(recipe_.decoder_layers, LayerStack::kOwn);
    if (widths.narrower(draft.config())) {
      const Importance importance = measure_importance(draft, probe());
      for (const std::string& step : narrow(draft, widths, importance)) say(step);
    }
    if (recipe_.embedding_rank != 0) factorise_embeddings();
    if (recipe_.share != 0) share_layers();
    // Import again, so that any mistake shows here and not in the user's next step.
    import_source(draft.source(), import_options());
    student_.report.after = draft.size();
    student_.report.notes = draft.notes();
    return std::move(student_);
  }

 private:
  ImportOptions import_options() const {
    ImportOptions import;
    import.task = options_.task;
    return import;
  }

  /// Refuses a source that cannot be imported, because it cannot be changed either; the importer's problems name
  /// tensors and settings.
  ModelSource checked(const std::filesystem::path& teacher) const {
    if (options_.directory && SourcePath(teacher).is_file()) {
      throw Error(
          ExitCode::kUsage,
          fmt::format("{}: is a file; students are made of directories: name the transformers checkpoint that it "
                      "was made of, or convert it with --student",
                      teacher.string()));
    }
    ModelSource source = open_model_source(teacher);
    import_source(source, import_options());
    return source;
  }

  /// Refuses uneven widths before the computation. Widths chosen across layers may turn out even, but that is unlikely
  /// and would be known only at the end.
  void check_even(const Widths& widths) const {
    const EncoderConfig& teacher = student_.draft.config();
    if (!widths.narrower(teacher)) return;
    const bool across = (widths.heads_across && widths.heads < teacher.heads) ||
                        (widths.ffn_across && widths.ffn < teacher.intermediate);
    const bool fills = widths.heads * widths.head_width == (teacher.bottlenecks ? teacher.inner : widths.hidden);
    refuse_uneven(!across && fills, widths.heads, widths.head_width, widths.hidden);
  }

  void say(std::string step) { student_.report.steps.push_back(std::move(step)); }

  Probe probe() const {
    Probe probe = make_probe(student_.draft, "data", recipe_.data);
    probe.progress = options_.progress;
    return probe;
  }

  void trim() {
    student_.report.vocabulary = trim_vocabulary(student_.draft, *recipe_.vocabulary, &uses_, options_.progress);
    const VocabularyReport& done = *student_.report.vocabulary;
    say(fmt::format("vocabulary: {} of {} tokens stay", done.after, done.before));
  }

  /// Keeps only the first positions: texts are never longer.
  void drop_positions() {
    Draft& draft = student_.draft;
    const uint32_t all = draft.config().positions;
    Indices kept(draft.config().first_position + recipe_.positions);
    std::iota(kept.begin(), kept.end(), 0U);
    draft.keep(Axis::kPositions, 0, kept);
    Json& tokenizer = draft.tokenizer().config;
    if (tokenizer.is_object()) tokenizer["model_max_length"] = recipe_.positions;
    // Removes the default lengths for truncation and padding.
    Json& json = draft.tokenizer().json;
    for (const char* key : {"truncation", "padding"}) {
      if (json.is_object() && json.contains(key)) json[key] = nullptr;
    }
    say(fmt::format("positions: {} of {} stay", recipe_.positions, all));
  }

  void drop_layers(const LayerRecipe& recipe, LayerStack stack) {
    Draft& draft = student_.draft;
    const bool pair = draft.source_config() != nullptr;
    const char* whose = !pair ? "" : stack == LayerStack::kSource ? "the encoder's " : "the decoder's ";
    const uint32_t all = stack == LayerStack::kSource ? draft.source_config()->layers : draft.config().layers;
    const Indices kept = choose_layers(recipe, stack, draft, [&] { return probe(); });
    draft.keep_layers(kept, stack);
    say(fmt::format("{}layers: {} of {} stay: {}", whose, kept.size(), all, fmt::join(kept, ", ")));
  }

  void factorise_embeddings() {
    Draft& draft = student_.draft;
    const MemoryTensor& table = draft.table(Slot::kWords);
    // A token that the corpus does not use still has the weight 1, because other texts may contain it.
    std::vector<double> weights(static_cast<size_t>(table.shape[0]), 1);
    for (size_t i = 0; i < uses_.size(); ++i) weights[i] += uses_[i];
    options_.progress("factorising embeddings", 0);
    LowRank factors = factorise(table, weights, recipe_.embedding_rank);
    say(fmt::format("embeddings: {} columns of {}, which lose {:.2f} % of their variance", recipe_.embedding_rank,
                    draft.config().hidden, 100 * factors.lost));
    draft.factorise(std::move(factors.rows), std::move(factors.projection), std::move(factors.bias));
  }

  void share_layers() {
    Draft& draft = student_.draft;
    const uint32_t layers = draft.config().layers;
    std::vector<uint32_t> owners(layers);
    for (uint32_t i = 0; i < layers; ++i) {
      // Group g consists of the layers with i * groups / layers == g; the first of them owns the matrices.
      const uint32_t group = i * recipe_.share / layers;
      owners[i] = (group * layers + recipe_.share - 1) / recipe_.share;
    }
    draft.share(owners);
    say(fmt::format("shared layers: {} layers with the matrices of {}", layers, recipe_.share));
  }

  const Recipe& recipe_;
  StudentOptions options_;
  Student student_;
  std::vector<double> uses_;  // uses in the corpus of each token that stays
};

Json size_json(const LayoutSize& size) {
  Json json = {{"layers", size.layers},         {"heads", size.heads},
               {"head_width", size.head_width}, {"ffn", size.ffn},
               {"hidden", size.hidden},         {"vocabulary", size.vocabulary},
               {"parameters", size.parameters}, {"encoder_parameters", size.encoder_parameters}};
  if (size.decoder_layers != 0) json["decoder_layers"] = size.decoder_layers;
  return json;
}

Json coverage_json(const Coverage& before, const Coverage& after) {
  return {{"tokens_before", before.tokens},
          {"tokens_after", after.tokens},
          {"unknown_before", before.unknown_rate()},
          {"unknown_after", after.unknown_rate()}};
}

}  // namespace

Student make_student(const std::filesystem::path& teacher, const Recipe& recipe, const StudentOptions& options) {
  return Maker(teacher, recipe, options).make();
}

Json student_json(const StudentReport& report) {
  Json json = {{"schema", "bantam.student/1"},     {"teacher", report.teacher}, {"before", size_json(report.before)},
               {"after", size_json(report.after)}, {"steps", report.steps},     {"notes", report.notes}};
  if (report.vocabulary) {
    const VocabularyReport& done = *report.vocabulary;
    json["vocabulary"] = {{"texts", done.texts}, {"corpus", coverage_json(done.corpus_before, done.corpus_after)}};
    const bool unseen = done.unseen_before.tokens > 0;
    json["vocabulary"]["unseen"] = unseen ? coverage_json(done.unseen_before, done.unseen_after) : Json(nullptr);
  }
  return json;
}

}  // namespace bantam::convert
