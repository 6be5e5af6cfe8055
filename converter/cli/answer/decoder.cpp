#include "cli/answer/decoder.h"

#include <map>

#include "cli/frame/command.h"
#include "cli/frame/errors.h"
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
  command.add_option("FILE", run->model, "FILE.bantam", model).required();
  command.add_texts(text, &run->texts, texts);
  command.add_option("--file", run->file, "FILE", lines);
}

namespace {

void add_beams(Command& command, convert::GenerateOptions* options) {
  command.add_option(
      "--beams", options->beams, "N",
      "Beam search: number of texts kept at a time; the likeliest is printed (default: the file's setting, else 1)",
      between(1U, kMostBeams));
  command.add_option(
      "--length-penalty", options->length_penalty, "X",
      "Beam search: divide a text's log-probability by its length to this power; above 0 favours long texts",
      between(-100.0F, 100.0F));
  command.add_option("--early-stopping", options->early_stopping, "WHEN",
                     "Beam search: stop when as many texts as beams have ended (yes), when a better one is "
                     "unlikely (no) or impossible (never)",
                     choices<EarlyStopping>(
                         {{"no", EarlyStopping::kNo}, {"yes", EarlyStopping::kYes}, {"never", EarlyStopping::kNever}}));
}

void add_chance(Command& command, convert::GenerateOptions* options) {
  command.add_option(
      "--temperature", options->temperature, "T",
      "Sampling: below 1 favours likely tokens, above 1 unlikely ones (default 0: always the likeliest token)",
      between(0.0F, 100.0F));
  command.add_option("--top-k", options->top_k, "K", "Sampling: choose among the K likeliest tokens (default 0: all)");
  command.add_option("--top-p", options->top_p, "P",
                     "Sampling: choose among the likeliest tokens whose probabilities add up to P (default 1)",
                     between(1e-6F, 1.0F));
  command.add_option("--min-p", options->min_p, "P",
                     "Sampling: choose among tokens with at least P times the probability of the likeliest (default 0)",
                     between(0.0F, 1.0F));
  command.add_option("--seed", options->seed, "N",
                     "Sampling: random seed; the same seed gives the same text on every machine (default 0)");
  command.add_option("--best-of", options->best_of, "N",
                     "Sampling: make N texts with consecutive seeds and print the likeliest (default 1)",
                     between(1U, 64U));
}

}  // namespace

void add_language_options(Command& command, convert::GenerateOptions* options) {
  command.add_option("--from", options->from, "CODE",
                     "Language of the texts, if the model knows several (inspect lists them)");
  command.add_option("--to", options->to, "CODE", "Language to translate into, if the model knows several");
}

void add_form_options(Command& command, FormArguments* arguments, convert::TextForm* form) {
  command
      .add_texts("--answer", &arguments->answers,
                 "Allow only this text as the result; may be given several times to allow several")
      .value("TEXT");
  command.add_option("--answers", arguments->answers_file, "FILE", "Allow only the lines of this file as the result");
  command.add_flag("--answer-scores", form->scores, "With --json: also print the log-probability of each answer");
  std::map<std::string, JsonKind> kinds;
  for (size_t i = 0; i < convert::json_kind_names().size(); ++i) {
    kinds[i == 0 ? "json" : "json-" + convert::json_kind_names()[i]] = static_cast<JsonKind>(i);
  }
  command.add_option("--format", form->json, "json[-KIND]", "Generate JSON: any value, or a value of one kind",
                     choices<JsonKind>(kinds));
  command.add_option("--field", arguments->fields, "NAME[:KIND]",
                     "Generate a JSON object with this member of a kind (any, string, number, integer, boolean, "
                     "null, array, object); may be given several times, in order");
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
  command.add_option("--max-new", options->max_new, "N", "Maximum new tokens (default: the file's setting, else 128)",
                     between(1, 1 << 20));
  command.add_option("--min-new", options->min_new, "N", "Minimum new tokens (default: the file's setting, else 0)");
  command.add_option("--stop", options->stop, "TEXT", "Stop at this text and leave it out; may be given several times");
  add_beams(command, options);
  add_chance(command, options);
  command.add_option("--repetition-penalty", options->repetition_penalty, "X",
                     "Above 1, make tokens that occurred before less likely (default: the file's setting, else 1)",
                     between(0.01F, 100.0F));
  command.add_option("--no-repeat-ngram", options->no_repeat_ngram, "N",
                     "Never repeat a sequence of N tokens (default: the file's setting, else 0: repeats allowed)");
  command.add_option("--use", options->use, "NAME",
                     "Use a generation setting named in the file, such as summarization (inspect lists them)");
}

}  // namespace bantam::cli
