// bantam generate: text that goes on with prompts. bantam perplexity: how likely texts are.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <optional>

#include "cli/appearance.h"
#include "cli/choices.h"
#include "cli/commands.h"
#include "cli/errors.h"
#include "cli/output.h"
#include "cli/stream.h"
#include "cli/text_options.h"
#include "run/chat.h"
#include "run/generate.h"
#include "run/perplexity.h"
#include "run/text_source.h"

namespace bantam::cli {

using convert::GenerateOptions;
using convert::Generation;
using convert::TextSource;

namespace {

struct GenerateArguments {
  RunOptions run;
  GenerateOptions generate;
  uint32_t context = 0;
  bool echo = false;
  bool chat = false, messages = false;
  std::string system;
};

struct PerplexityArguments {
  RunOptions run;
  uint32_t context = 0;
  std::optional<uint32_t> overlap;
};

/// `asked`, or tokens of a context that nobody asked for.
uint32_t room(const ModelFile& file, uint32_t asked) {
  const uint32_t most = file.model().max_sequence();
  if (asked != 0) return asked;
  // More than this is asked for by name: keys and values of long contexts take more memory than the model.
  constexpr uint32_t kDefault = 2048;
  return most != 0 && most < kDefault ? most : kDefault;
}

void require_decoder(const ModelFile& file) {
  if (has_part(file.model().task(), kNextWordsPart)) return;
  fail(ExitCode::kUnsupported, "{}: is for {}, not for generating; convert a decoder with --task generate", file.path(),
       task_name(file.model().task()));
}

/// What the model goes on with: the prompt, or the conversation that it is or begins.
std::string text_of(const GenerateArguments& arguments, const Model& model, const std::string& prompt) {
  if (!arguments.chat) return prompt;
  std::vector<convert::Turn> turns;
  if (arguments.messages) {
    turns = convert::read_turns(prompt);
  } else {
    turns.push_back({ChatRole::kUser, prompt});
  }
  const bool own = !turns.empty() && turns.front().role == ChatRole::kSystem;
  if (!arguments.system.empty() && !own) turns.insert(turns.begin(), {ChatRole::kSystem, arguments.system});
  return convert::chat_text(model, turns);
}

void show(const GenerateArguments& arguments, Engine& engine, const std::string& given, bool several) {
  const std::string prompt = text_of(arguments, engine.model(), given);
  if (several && !arguments.run.json) out().print("{}\n", bold(printable(given)));
  const bool text = !arguments.run.json;
  if (text && arguments.echo) out().write(prompt);
  bool ended = false;  // what has been shown ends a line
  const Generation made = convert::generate(engine, prompt, arguments.generate, [&](std::string_view piece) {
    if (!text) return;
    out().write(piece);
    out().flush();
    ended = !piece.empty() && piece.back() == '\n';
  });
  if (text) {
    if (!ended) out().write("\n");
    out().flush();
    return;
  }
  Json object = json_object("generate");
  object["text"] = prompt;
  object["generated"] = made.text;
  object["ids"] = made.ids;
  object["prompt_tokens"] = made.prompt.size();
  object["finish"] = convert::finish_name(made.finish);
  if (arguments.generate.sampling.log_probability) object["log_probabilities"] = made.log_probabilities;
  out().line(object);
  out().flush();
}

void run_generate(GenerateArguments& arguments) {
  RunOptions& run = arguments.run;
  require_texts("prompt", run.file, &run.texts);
  if (arguments.generate.min_new > arguments.generate.max_new) {
    fail(ExitCode::kUsage, "--min-new {}: is more than --max-new {}", arguments.generate.min_new,
         arguments.generate.max_new);
  }
  for (const std::string& stop : arguments.generate.stop) {
    if (stop.empty()) fail(ExitCode::kUsage, "--stop: an empty text would end every text at once");
  }
  const ModelFile file(run.model);
  require_decoder(file);
  arguments.chat = arguments.chat || arguments.messages || !arguments.system.empty();
  if (arguments.chat) {
    convert::chat_text(file.model(), {{ChatRole::kUser, ""}});  // says why it knows none before anything is read
    convert::answer_turns(file.model(), &arguments.generate);
  }
  run.engine.max_context = room(file, arguments.context);
  Engine engine(file, run.engine);
  TextSource source(run.texts, run.file, warn, show_prompt);
  const bool several = is_stream(run.texts, run.file) && !convert::input_is_typed();
  answer_stream(run, {[&](Input* input) {
                        *input = {};
                        return source.next(&input->first);
                      },
                      [&](const std::vector<Input>& prompts) {
                        for (const Input& prompt : prompts) show(arguments, engine, prompt.first, several);
                      }});
}

/// A decoder and texts.
void add_input(CLI::App& command, RunOptions* run, const char* text, const char* texts, const char* lines) {
  command.option_defaults()->group("Input");
  command.add_option("FILE", run->model, "A .bantam file of a decoder")->required()->type_name("FILE.bantam");
  add_texts(command, text, &run->texts, texts);
  command.add_option("--file", run->file, lines)->type_name("FILE");
}

void run_perplexity(PerplexityArguments& arguments) {
  RunOptions& run = arguments.run;
  require_texts("text", run.file, &run.texts);
  const ModelFile file(run.model);
  require_decoder(file);
  run.engine.max_context = room(file, arguments.context);
  // Scores of the whole vocabulary for each of these rows.
  constexpr uint32_t kRows = 16;
  run.engine.max_tokens = std::min(kRows, run.engine.max_context);
  const uint32_t overlap = arguments.overlap.value_or(run.engine.max_context / 2);
  if (overlap >= run.engine.max_context) {
    fail(ExitCode::kUsage, "--overlap {}: windows have {} tokens", overlap, run.engine.max_context);
  }
  Engine engine(file, run.engine);
  TextSource source(run.texts, run.file, warn, show_prompt);
  convert::Likelihood all;
  size_t texts = 0;
  for (std::string text; source.next(&text); ++texts) {
    if (!text.empty()) convert::foretell(engine, text, overlap, &all);
  }
  if (all.tokens == 0) fail(ExitCode::kInvalid, "there is no text of two tokens, of which one foretells the other");
  if (run.json) {
    Json object = json_object("perplexity");
    object["perplexity"] = all.perplexity();
    object["log_probability"] = all.log;
    object["tokens"] = all.tokens;
    object["texts"] = texts;
    object["bits_per_byte"] = all.bits_per_byte();
    out().line(object);
  } else {
    out().print("perplexity {:.4f}  ({} tokens of {} texts, {:.4f} bits a byte)\n", all.perplexity(), all.tokens, texts,
                all.bits_per_byte());
  }
  out().flush();
}

void add_perplexity(CLI::App& app) {
  auto arguments = std::make_shared<PerplexityArguments>();
  CLI::App* command = app.add_subcommand("perplexity", "Measure how likely a decoder finds texts");
  command->group(kExamineGroup);
  add_input(*command, &arguments->run, "TEXT", "Texts; none, or -: standard input, one a line",
            "Read texts from this file, one a line");
  command->option_defaults()->group("Output");
  command->add_flag("--json", arguments->run.json, "Print one JSON object");
  command->option_defaults()->group("Running");
  command
      ->add_option("--context", arguments->context,
                   "Most tokens of a window (default: as many as the model has places for, up to 2048)")
      ->check(between(2, 1 << 20))
      ->type_name("N");
  command
      ->add_option("--overlap", arguments->overlap,
                   "Tokens that a window shares with the one before it (default: half of --context)")
      ->type_name("N");
  add_engine_options(*command, &arguments->run.engine);
  command->footer(
      "Perplexity is exp of the mean negative logarithm of each token's probability: as many tokens would be equally\n"
      "likely. It compares files of one tokenizer, such as int8 with f32.\n\n"
      "Examples:\n"
      "  bantam perplexity stories.bantam \"Once upon a time there was a girl.\"\n"
      "  bantam perplexity stories.bantam --file texts.txt --json");
  command->callback([arguments] { run_perplexity(*arguments); });
}

void add_sampling_options(CLI::App& command, convert::GenerateOptions* options) {
  Sampling& sampling = options->sampling;
  command.add_option("--max-new", options->max_new, "Most new tokens (default 128)")
      ->check(between(1, 1 << 20))
      ->type_name("N");
  command.add_option("--min-new", options->min_new, "New tokens before one may end the text (default 0)")
      ->type_name("N");
  command.add_option("--stop", options->stop, "A text that ends the text, and is left out; may be given several times")
      ->type_name("TEXT");
  command
      .add_option("--temperature", sampling.temperature,
                  "Choose by chance: below 1 likelier tokens gain, above 1 others do (default 0: always the likeliest)")
      ->check(between(0.0F, 100.0F))
      ->type_name("T");
  command.add_option("--top-k", sampling.top_k, "By chance: among the K likeliest (default 0: all)")->type_name("K");
  command.add_option("--top-p", sampling.top_p, "By chance: among the likeliest that have P together (default 1)")
      ->check(between(1e-6F, 1.0F))
      ->type_name("P");
  command
      .add_option("--min-p", sampling.min_p,
                  "By chance: among those of at least P of the likeliest's share (default 0)")
      ->check(between(0.0F, 1.0F))
      ->type_name("P");
  command.add_option("--seed", sampling.seed, "By chance: the same seed gives the same text everywhere (default 0)")
      ->type_name("N");
  command
      .add_option("--repetition-penalty", sampling.repetition_penalty,
                  "Above 1, tokens that have been become less likely (default 1)")
      ->check(between(0.01F, 100.0F))
      ->type_name("X");
  command
      .add_option("--no-repeat-ngram", sampling.no_repeat_ngram, "No row of N tokens comes twice (default 0: any may)")
      ->type_name("N");
}

}  // namespace

void add_generate(CLI::App& app) {
  auto arguments = std::make_shared<GenerateArguments>();
  arguments->run.command = "generate";
  CLI::App* command = app.add_subcommand("generate", "Go on with a text");
  command->group(kAnswerGroup);
  add_input(*command, &arguments->run, "PROMPT", "Prompts; none, or -: standard input, one a line",
            "Read prompts from this file, one a line");
  command->add_flag("--chat", arguments->chat,
                    "A prompt is what the user says; text goes on with the assistant's answer");
  command->add_option("--system", arguments->system, "With --chat: what the system says first")->type_name("TEXT");
  command->add_flag(
      "--messages", arguments->messages,
      "A prompt is a conversation: a JSON list of {\"role\": \"user\", \"content\": \"...\"} on one line");
  command->option_defaults()->group("Choosing tokens");
  add_sampling_options(*command, &arguments->generate);
  command->option_defaults()->group("Output");
  command->add_flag("--echo", arguments->echo, "Print the prompt, too");
  command->add_flag("--json", arguments->run.json, "Print one JSON object a prompt");
  command->add_flag("--log-probs", arguments->generate.sampling.log_probability,
                    "With --json: the logarithm of each new token's probability");
  command->option_defaults()->group("Running");
  command
      ->add_option("--context", arguments->context,
                   "Most tokens, the prompt's included (default: as many as the model has places for, up to 2048)")
      ->check(between(2, 1 << 20))
      ->type_name("N");
  add_engine_options(*command, &arguments->run.engine);
  command->footer(
      "Text appears as it is made. Without --temperature the likeliest token is taken each time.\n\n"
      "Examples:\n"
      "  bantam generate stories.bantam \"Once upon a time\"\n"
      "  bantam generate stories.bantam \"Once upon a time\" --temperature 0.8 --top-p 0.9 --seed 7\n"
      "  bantam generate stories.bantam --file prompts.txt --max-new 32 --json\n"
      "  bantam generate assistant.bantam --chat \"What is the tallest mountain?\" --system \"Answer in one word.\"");
  command->callback([arguments] { run_generate(*arguments); });
  add_perplexity(app);
}

}  // namespace bantam::cli
