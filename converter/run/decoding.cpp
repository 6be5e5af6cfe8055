#include "run/decoding.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/error.h"
#include "base/known_keys.h"
#include "base/status_error.h"
#include "format/view.h"
#include "run/engine.h"

namespace bantam::convert {
namespace {

constexpr uint32_t kDefaultNew = 128;

/// Returns the generation settings with the requested name.
Generation choose_way(const Model& model, const std::string& name) {
  std::vector<std::string> names;
  Generation way;
  for (uint32_t i = generation_count(model); i-- > 0;) {
    check(generation(model, i, &way), "the file");
    if (name.empty() ? i == 0 : to_string(way.name) == name) return way;
    if (way.name.size != 0) names.insert(names.begin(), to_string(way.name));
  }
  if (name.empty()) return {};
  fail(ExitCode::kUsage, "--use {}: {}", name,
       names.empty() ? "the file names no ways of generating; leave the option out"
                     : fmt::format("is not one of {}{}", fmt::join(names, ", "), guess(name, names)));
}

/// Returns the name of the generation settings for a pair of languages in models like T5, which call them
/// "translation_en_to_de"; "" if there are none.
std::string way_between(const Model& model, const std::string& from, const std::string& to) {
  if (from.empty() || to.empty()) return "";
  const std::string name = fmt::format("translation_{}_to_{}", from, to);
  return has_way(model, name) ? name : "";
}

int32_t language_id(const Model& model, const char* option, const std::string& code) {
  Language found;
  if (find_language(model, {code.data(), code.size()}, &found) == Status::kOk) return found.token;
  std::vector<std::string> codes;
  for (uint32_t i = 0; i < language_count(model); ++i) {
    check(language(model, i, &found), "the file");
    codes.push_back(to_string(found.code));
  }
  fail(ExitCode::kUsage, "{} {}: {}", option, code,
       codes.empty() ? "the file has no languages to choose from; leave the option out"
                     : fmt::format("is not one of {}{}", fmt::join(codes, ", "), guess(code, codes)));
}

void choose_languages(const Model& model, const GenerateOptions& options, Decoding* out) {
  const LanguagePlace place = language_place(model);
  if (options.to.empty() && place == LanguagePlace::kFirst && out->said.beams.first_id < 0) {
    fail(ExitCode::kUsage, "--to: is missing; this model translates into {} languages, which inspect lists",
         language_count(model));
  }
  if (!options.to.empty()) {
    const int32_t id = language_id(model, "--to", options.to);
    int32_t& target = place == LanguagePlace::kSource  ? out->source_id
                      : place == LanguagePlace::kStart ? out->said.start_id
                                                       : out->said.beams.first_id;
    target = id;
  }
  if (options.from.empty()) return;
  out->from_id = language_id(model, "--from", options.from);
  if (place != LanguagePlace::kSource) return;
  fail(ExitCode::kUsage, "--from {}: this model tells by itself; leave the option out", options.from);
}

/// Returns the option that requested the form, as users type it.
const char* form_option(const TextForm& form) {
  return !form.answers.empty() ? "--answer" : form.fields.empty() ? "--format" : "--field";
}

void check_form(const GenerateOptions& options, const Decoding& out) {
  const TextForm& form = options.form;
  if (form.scores && form.answers.empty()) {
    fail(ExitCode::kUsage, "--answer-scores: are of answers; give --answer or --answers, too");
  }
  if (!form.is_given()) return;
  for (const std::string& answer : form.answers) {
    if (answer.empty()) fail(ExitCode::kUsage, "--answer: an empty text is not an answer");
  }
  const bool json = form.json.has_value() || !form.fields.empty();
  if (!form.answers.empty() && json) {
    fail(ExitCode::kUsage, "--answer: texts are one of the answers, or JSON; leave out --format and --field");
  }
  if (!form.fields.empty() && form.json.value_or(JsonKind::kAny) != JsonKind::kAny && form.json != JsonKind::kObject) {
    fail(ExitCode::kUsage, "--field: fields are those of an object; leave out --format");
  }
  if (!options.stop.empty()) {
    fail(ExitCode::kUsage, "--stop: a text would not be as {} says if another one ended it; leave one of them out",
         form_option(form));
  }
  if (out.has_beams() && out.ends.size() == options.ends.size()) {
    fail(ExitCode::kUnsupported, "{}: no token of this model ends a text, as beams need it; give --beams 1",
         form_option(form));
  }
}

void check_together(const GenerateOptions& options, const Decoding& out) {
  const BeamOptions& beams = out.said.beams;
  if (beams.min_new > beams.max_new) {
    fail(ExitCode::kUsage, "--min-new {}: is more than --max-new {}", beams.min_new, beams.max_new);
  }
  for (const std::string& stop : options.stop) {
    if (stop.empty()) fail(ExitCode::kUsage, "--stop: an empty text would end every text at once");
  }
  check_form(options, out);
  const bool chance = options.temperature > 0;
  if (chance && out.has_beams()) {
    fail(ExitCode::kUsage, "--beams {}: beams are not chosen by chance; leave out --temperature, or give --beams 1",
         beams.beams);
  }
  if (options.best_of > 1 && !chance) {
    fail(ExitCode::kUsage, "--best-of {}: without chance all texts are the same; give --temperature, too",
         options.best_of);
  }
  if (options.log_probabilities && out.has_beams()) {
    fail(ExitCode::kUsage, "--log-probs: are of tokens that are chosen one by one; give --beams 1");
  }
}

}  // namespace

bool has_way(const Model& model, const std::string& name) {
  for (uint32_t i = 0; i < generation_count(model); ++i) {
    Generation way;
    check(generation(model, i, &way), "the file");
    if (to_string(way.name) == name) return true;
  }
  return false;
}

Decoding resolve_decoding(const Model& model, const GenerateOptions& options) {
  Decoding out;
  const bool languages = language_count(model) == 0;
  const std::string between = languages && options.use.empty() ? way_between(model, options.from, options.to) : "";
  out.said = choose_way(model, between.empty() ? options.use : between);
  BeamOptions& beams = out.said.beams;
  if (between.empty()) choose_languages(model, options, &out);
  const bool chance = options.temperature > 0;
  if (generation_count(model) == 0) beams.beams = 1;
  beams.beams = options.beams.value_or(chance ? 1 : beams.beams);
  beams.max_new = options.max_new.value_or(beams.max_new == 0 ? kDefaultNew : beams.max_new);
  beams.min_new = options.min_new.value_or(std::min(beams.min_new, beams.max_new));
  beams.length_penalty = options.length_penalty.value_or(beams.length_penalty);
  beams.early_stopping = options.early_stopping.value_or(beams.early_stopping);
  beams.repetition_penalty = options.repetition_penalty.value_or(beams.repetition_penalty);
  beams.no_repeat_ngram = options.no_repeat_ngram.value_or(beams.no_repeat_ngram);
  Sampling& sampling = out.sampling;
  sampling.temperature = options.temperature;
  sampling.top_k = options.top_k;
  sampling.top_p = options.top_p;
  sampling.min_p = options.min_p;
  sampling.seed = options.seed;
  sampling.repetition_penalty = beams.repetition_penalty;
  sampling.no_repeat_ngram = beams.no_repeat_ngram;
  sampling.log_probability = options.log_probabilities || options.best_of > 1;
  out.best_of = options.best_of;
  out.log_probabilities = options.log_probabilities;
  out.stop = options.stop;
  out.cut = options.cut;
  out.special_tokens = options.special_tokens;
  out.lookup = options.lookup;
  out.form = options.form;
  out.ends = options.ends;
  const fb::Task* task = root(model).task();
  for (uint32_t i = 0; task != nullptr && i < count(task->end_ids()); ++i) out.ends.push_back(task->end_ids()->Get(i));
  check_together(options, out);
  return out;
}

}  // namespace bantam::convert
