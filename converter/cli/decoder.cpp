#include "cli/decoder.h"

#include <map>

#include "cli/frame/command.h"
#include "cli/frame/errors.h"
#include "cli/text_options.h"
#include "data/text_source.h"
#include "graph/task_parts.h"
#include "run/text_constraint.h"

namespace bantam::cli {

void require_generating(const ModelFile& file) {
  if (has_part(file.model().task(), kNextWordsPart)) return;
  fail(ExitCode::kUnsupported,
       "{}: is for {}, not for generating; convert a decoder or an encoder-decoder with --task generate", file.path(),
       task_name(file.model().task()));
}

void require_contexts(const ModelFile& file) {
  if (convert::keeps_contexts(file.model())) return;
  fail(ExitCode::kUnsupported,
       "{}: scores next tokens of whole texts only, as its attention keeps no contexts, and texts are made token by "
       "token; "
       "bantam perplexity and bantam run --raw take it",
       file.path());
}

void add_prompts(Command& command, RunOptions* run, const char* model, const char* text, const char* texts,
                 const char* lines) {
  command.heading("Input");
  command.add_option("FILE", run->model, model).required().value("FILE.bantam");
  command.add_texts(text, &run->texts, texts);
  command.add_option("--file", run->file, lines).value("FILE");
}

namespace {

void add_beams(Command& command, convert::GenerateOptions* options) {
  command
      .add_option("--beams", options->beams,
                  "Texts that are kept at a time, of which the likeliest is given (default: as the file says, else 1)")
      .takes(between(1U, kMostBeams))
      .value("N");
  command
      .add_option(
          "--length-penalty", options->length_penalty,
          "Beams: sums of log-probabilities are divided by the length to this power: above 0 favours long texts")
      .takes(between(-100.0F, 100.0F))
      .value("X");
  command
      .add_option("--early-stopping", options->early_stopping,
                  "Beams: end when as many texts have ended (yes), none is likely (no) or none can be better (never)")
      .takes(choices<EarlyStopping>(
          {{"no", EarlyStopping::kNo}, {"yes", EarlyStopping::kYes}, {"never", EarlyStopping::kNever}}))
      .value("WHEN");
}

void add_chance(Command& command, convert::GenerateOptions* options) {
  command
      .add_option("--temperature", options->temperature,
                  "Choose by chance: below 1 likelier tokens gain, above 1 others do (default 0: always the likeliest)")
      .takes(between(0.0F, 100.0F))
      .value("T");
  command.add_option("--top-k", options->top_k, "By chance: among the K likeliest (default 0: all)").value("K");
  command.add_option("--top-p", options->top_p, "By chance: among the likeliest that have P together (default 1)")
      .takes(between(1e-6F, 1.0F))
      .value("P");
  command
      .add_option("--min-p", options->min_p,
                  "By chance: among those of at least P of the likeliest's share (default 0)")
      .takes(between(0.0F, 1.0F))
      .value("P");
  command.add_option("--seed", options->seed, "By chance: the same seed gives the same text everywhere (default 0)")
      .value("N");
  command
      .add_option("--best-of", options->best_of,
                  "By chance: make N texts, with seeds one after the other, and give the likeliest (default 1)")
      .takes(between(1U, 64U))
      .value("N");
}

}  // namespace

void add_language_options(Command& command, convert::GenerateOptions* options) {
  command.add_option("--from", options->from, "The texts' language, where the model knows several; inspect lists them")
      .value("CODE");
  command.add_option("--to", options->to, "The language to translate into, where the model knows several")
      .value("CODE");
}

void add_form_options(Command& command, FormArguments* arguments, convert::TextForm* form) {
  command
      .add_texts("--answer", &arguments->answers, "The text is this one, or one of several: may be given several times")
      .value("TEXT");
  command.add_option("--answers", arguments->answers_file, "The text is one of the lines of this file").value("FILE");
  command.add_flag("--answer-scores", form->scores, "With --json: the logarithm of each answer's probability, too");
  std::map<std::string, JsonKind> kinds;
  for (size_t i = 0; i < convert::json_kind_names().size(); ++i) {
    kinds[i == 0 ? "json" : "json-" + convert::json_kind_names()[i]] = static_cast<JsonKind>(i);
  }
  command.add_option("--format", form->json, "The text is JSON: any value, or one of a kind")
      .takes(choices<JsonKind>(kinds))
      .value("json[-KIND]");
  command
      .add_option("--field", arguments->fields,
                  "The text is a JSON object that has this member, of a kind (any, string, number, integer, boolean, "
                  "null, array, "
                  "object); may be given several times, in their order")
      .value("NAME[:KIND]");
}

void read_form(const FormArguments& arguments, convert::TextForm* form) {
  form->answers = arguments.answers;
  if (!arguments.answers_file.empty()) {
    convert::LineReader lines(arguments.answers_file);
    const size_t given = form->answers.size();
    for (std::string line; lines.next(&line);) {
      if (!line.empty()) form->answers.push_back(line);
    }
    if (form->answers.size() == given) {
      fail(ExitCode::kUsage, "--answers {}: has no line that is an answer", arguments.answers_file);
    }
  }
  for (const std::string& field : arguments.fields) form->fields.push_back(convert::read_field(field));
}

void add_decoding_options(Command& command, convert::GenerateOptions* options) {
  command.add_option("--max-new", options->max_new, "Most new tokens (default: as the file says, else 128)")
      .takes(between(1, 1 << 20))
      .value("N");
  command
      .add_option("--min-new", options->min_new,
                  "New tokens before one may end the text (default: as the file says, else 0)")
      .value("N");
  command.add_option("--stop", options->stop, "A text that ends the text, and is left out; may be given several times")
      .value("TEXT");
  add_beams(command, options);
  add_chance(command, options);
  command
      .add_option("--repetition-penalty", options->repetition_penalty,
                  "Above 1, tokens that have been become less likely (default: as the file says, else 1)")
      .takes(between(0.01F, 100.0F))
      .value("X");
  command
      .add_option("--no-repeat-ngram", options->no_repeat_ngram,
                  "No row of N tokens comes twice (default: as the file says, else 0: any may)")
      .value("N");
  command
      .add_option("--use", options->use,
                  "One of the ways of generating that the file names, such as summarization; inspect lists them")
      .value("NAME");
}

}  // namespace bantam::cli
