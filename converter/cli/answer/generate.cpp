// bantam generate: continues prompts, or generates texts from others with an encoder-decoder. translate, summarize and
// complete do the same as filters, with one output line for each input line.
#include "run/generate.h"

#include <algorithm>
#include <memory>

#include "cli/answer/decoder.h"
#include "cli/answer/neighbours.h"
#include "cli/answer/stream.h"
#include "cli/answer/text_options.h"
#include "cli/commands.h"
#include "cli/frame/appearance.h"
#include "cli/frame/command.h"
#include "cli/frame/errors.h"
#include "cli/frame/output.h"
#include "data/text_source.h"
#include "run/chat.h"

namespace bantam::cli {

using convert::Decoding;
using convert::GenerateOptions;
using convert::Made;
using convert::TextSource;

namespace {

/// Options of generate, and those of its filters among them, for the short help.
const Words kUsualOptions = {"--file",  "--chat",        "--system", "--from", "--to",     "--max-new", "--stop",
                             "--beams", "--temperature", "--top-p",  "--seed", "--format", "--json",    "--threads"};

/// The purpose of a command that generates text.
enum class Purpose { kGenerate, kTranslate, kSummarize, kComplete };

struct GenerateArguments {
  RunOptions run;
  GenerateOptions generate;
  FormArguments form;
  uint32_t context = 0;
  uint32_t batch = 8;
  bool echo = false, only_new = false;
  bool no_cut = false;
  Purpose purpose = Purpose::kGenerate;
  bool chat = false, messages = false;
  std::string system;
  NeighbourArguments neighbours;
};

void require_source(const ModelFile& file, const char* command) {
  if (file.model().source_vocabulary() != 0) return;
  fail(ExitCode::kUnsupported,
       "{}: is a decoder, which continues texts; {} takes an encoder-decoder, generate takes this file", file.path(),
       command);
}

/// The text that the model continues: the prompt, or the conversation that the prompt is or begins.
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

Json as_json(const GenerateArguments& arguments, const std::string& given, const Made& made) {
  Json object = json_object(arguments.run.command);
  object["text"] = given;
  object["generated"] = made.text;
  object["ids"] = made.ids;
  object["prompt_tokens"] = made.given_tokens;
  if (made.cut_tokens != 0) object["cut_tokens"] = made.cut_tokens;
  object["finish"] = convert::finish_name(made.finish);
  if (made.score != 0) object["score"] = made.score;
  if (arguments.generate.log_probabilities) object["log_probabilities"] = made.log_probabilities;
  for (const convert::AnswerScore& answer : made.answers) {
    object["answers"].push_back(
        {{"text", answer.text}, {"tokens", answer.tokens}, {"log_probability", answer.log_probability}});
  }
  return object;
}

/// As it is made.
void show_one(const GenerateArguments& arguments, Engine& engine, const Decoding& decoding,
              const convert::Retrieve& retrieve, const std::string& given, bool several) {
  const std::string prompt = text_of(arguments, engine.model(), given);
  if (arguments.run.json) {
    out().line(as_json(arguments, prompt, convert::generate(engine, decoding, {prompt}, nullptr, retrieve).front()));
    return out().flush();
  }
  if (several) out().print("{}\n", bold(printable(given)));
  if (arguments.echo) out().write(prompt);
  bool ended = false;  // what has been shown ends a line
  size_t shown = 0;
  const auto show = [&](std::string_view piece) {
    out().write(piece);
    out().flush();
    shown += piece.size();
    ended = piece.empty() ? ended : piece.back() == '\n';
  };
  const Made made = convert::generate(engine, decoding, {prompt}, show, retrieve).front();
  if (shown < made.text.size()) show(std::string_view(made.text).substr(shown));
  if (!ended) out().write("\n");
  out().flush();
}

std::string in_a_line(std::string text) {
  std::replace(text.begin(), text.end(), '\n', ' ');
  std::replace(text.begin(), text.end(), '\r', ' ');
  return text;
}

void show_lines(const GenerateArguments& arguments, Engine& engine, const Decoding& decoding,
                const convert::Retrieve& retrieve, const std::vector<Input>& inputs) {
  std::vector<std::string> texts;
  texts.reserve(inputs.size());
  for (const Input& input : inputs) texts.push_back(input.first);
  const std::vector<Made> all = convert::generate(engine, decoding, texts, nullptr, retrieve);
  for (size_t i = 0; i < all.size(); ++i) {
    const Made& made = all[i];
    if (made.cut_tokens != 0 && !arguments.run.json) {
      warn(fmt::format("the last {} of {} tokens of a text do not fit the model, and are left out", made.cut_tokens,
                       made.given_tokens + made.cut_tokens));
    }
    if (arguments.run.json) {
      out().line(as_json(arguments, texts[i], made));
    } else {
      out().print("{}{}\n", arguments.echo ? in_a_line(texts[i]) : "", in_a_line(made.text));
    }
  }
  out().flush();
}

/// The way of generating that the command is for, where the file names it.
std::string way_of(const Model& model, const GenerateArguments& arguments) {
  constexpr const char* kSummaries = "summarization";
  const bool wanted = arguments.purpose == Purpose::kSummarize && arguments.generate.use.empty();
  return wanted && convert::has_way(model, kSummaries) ? kSummaries : arguments.generate.use;
}

void run_generate(GenerateArguments& arguments) {
  RunOptions& run = arguments.run;
  const bool lines = arguments.purpose != Purpose::kGenerate;
  require_texts(lines ? "text" : "prompt", run.file, &run.texts);
  const ModelFile file(run.model);
  require_generating(file);
  require_contexts(file);
  if (arguments.purpose == Purpose::kTranslate || arguments.purpose == Purpose::kSummarize) {
    require_source(file, run.command.c_str());
  }
  read_form(arguments.form, &arguments.generate.form);
  arguments.generate.use = way_of(file.model(), arguments);
  arguments.chat = arguments.chat || arguments.messages || !arguments.system.empty();
  if (arguments.chat) {
    convert::chat_text(file.model(), {{ChatRole::kUser, ""}});  // says why it knows none before anything is read
    const std::vector<std::string> stop = arguments.generate.stop;
    convert::answer_turns(file.model(), &arguments.generate);
    // A text of a given form ends by that.
    if (arguments.generate.form.is_given()) arguments.generate.stop = stop;
  }
  const Decoding decoding = convert::resolve_decoding(file.model(), arguments.generate);
  const bool several = has_headings(run);
  const convert::Retrieve retrieve = retriever(arguments.neighbours, file, run.engine);
  if (retrieve != nullptr && (decoding.has_beams() || decoding.contexts() != 1 || decoding.form.scores)) {
    fail(ExitCode::kUsage,
         "--index: texts are found for one text at a time; leave --beams, --best-of and --answer-scores out");
  }
  const bool one = !lines || !several || decoding.has_beams() || retrieve != nullptr;
  const uint32_t texts = one ? 1 : arguments.batch;
  Engine engine(file, convert::with_contexts(file.model(), decoding, run.engine, texts, arguments.context));
  run.engine.batch = texts;
  TextSource source(run.texts, run.file, warn, show_prompt);
  answer_stream(run, {one_by_one(source), [&](const std::vector<Input>& inputs) {
                        if (lines) return show_lines(arguments, engine, decoding, retrieve, inputs);
                        for (const Input& input : inputs) {
                          show_one(arguments, engine, decoding, retrieve, input.first, several);
                        }
                      }});
}

std::shared_ptr<GenerateArguments> arguments_of(const char* command, Purpose purpose) {
  auto arguments = std::make_shared<GenerateArguments>();
  arguments->run.command = command;
  arguments->purpose = purpose;
  return arguments;
}

void add_choices(Command& command, GenerateArguments* arguments) {
  command.heading("Choosing tokens");
  add_decoding_options(command, &arguments->generate);
}

void add_running(Command& command, GenerateArguments* arguments) {
  command.heading("Output");
  command.add_flag("--json", arguments->run.json, "Print one JSON object per text");
  command.add_flag("--log-probs", arguments->generate.log_probabilities,
                   "With --json: also print the log-probability of each new token");
  command.heading("Running");
  command.add_option("--context", arguments->context, "N",
                     "Maximum tokens, with the prompt (default: the model's maximum, but not over 2048)",
                     between(2, 1 << 20));
  if (arguments->purpose != Purpose::kGenerate) {
    command.add_option("--batch", arguments->batch, "N",
                       "Maximum number of texts to generate at a time, without beams (default 8)", between(1, 64));
  }
  add_engine_options(command, &arguments->run.engine);
}

void add_languages(Command& command, GenerateArguments* arguments) {
  command.heading("Languages");
  add_language_options(command, &arguments->generate);
}

constexpr const char* kCutHelp = "Cut texts that are longer than the model takes";

void add_translate(Program& program) {
  auto arguments = arguments_of("translate", Purpose::kTranslate);
  Command& command = program.add_command("translate", "Translate texts, one per line", kAnswerGroup);
  add_prompts(command, &arguments->run, "A .bantam file of an encoder-decoder", "TEXT",
              "Texts; if none or -, read standard input, one per line", "Translate this file, line by line");
  command.add_flag("--cut", arguments->generate.cut, kCutHelp);
  add_languages(command, arguments.get());
  add_choices(command, arguments.get());
  add_running(command, arguments.get());
  command.usual(kUsualOptions);
  command.footer(
      "Each input line gives one output line. The file sets beams and lengths unless options do.\n\n"
      "Examples:\n"
      "  bantam translate en-de.bantam \"Good morning.\"\n"
      "  bantam translate nllb.bantam --from eng_Latn --to deu_Latn --file lines.txt\n"
      "  bantam translate t5.bantam --from en --to de --beams 1 --json < lines.txt");
  command.action([arguments] { run_generate(*arguments); });
}

void add_summarize(Program& program) {
  auto arguments = arguments_of("summarize", Purpose::kSummarize);
  Command& command = program.add_command("summarize", "Summarize texts, one per line", kAnswerGroup);
  add_prompts(command, &arguments->run, "A .bantam file of an encoder-decoder", "TEXT",
              "Texts; if none or -, read standard input, one per line", "Summarize this file, line by line");
  command.add_flag("--no-cut", arguments->no_cut,
                   "Refuse texts that are longer than the model takes; by default they are cut, with a warning");
  add_choices(command, arguments.get());
  add_running(command, arguments.get());
  command.usual(kUsualOptions);
  command.footer(
      "Each input line gives one output line. The file sets beams and lengths unless options do.\n\n"
      "Examples:\n"
      "  bantam summarize bart.bantam \"$(cat article.txt)\"\n"
      "  bantam summarize bart.bantam --file articles.txt --max-new 60 --json");
  command.action([arguments] {
    arguments->generate.cut = !arguments->no_cut;
    run_generate(*arguments);
  });
}

void add_complete(Program& program) {
  auto arguments = arguments_of("complete", Purpose::kComplete);
  arguments->generate.stop = {"\n"};
  Command& command = program.add_command("complete", "Complete lines of text", kAnswerGroup);
  add_prompts(command, &arguments->run, "A .bantam file of a decoder", "TEXT",
              "Beginnings of lines; if none or -, read standard input, one per line",
              "Complete the lines of this file");
  add_neighbour_options(command, &arguments->neighbours);
  command.heading("Output");
  command.add_flag("--only-new", arguments->only_new, "Print only the new part of each line");
  add_choices(command, arguments.get());
  add_running(command, arguments.get());
  command.usual(kUsualOptions);
  command.footer(
      "Each input line gives one output line, which ends where the model ends the text or "
      "begins another line.\n\n"
      "Examples:\n"
      "  bantam complete stories.bantam \"Once upon a time\" --max-new 12\n"
      "  bantam complete stories.bantam --file beginnings.txt --only-new");
  command.action([arguments] {
    arguments->echo = !arguments->only_new;
    run_generate(*arguments);
  });
}

}  // namespace

void add_generate(Program& program) {
  auto arguments = arguments_of("generate", Purpose::kGenerate);
  Command& command = program.add_command("generate", "Generate text from prompts", kAnswerGroup);
  add_prompts(command, &arguments->run, "A .bantam file of a decoder or an encoder-decoder", "PROMPT",
              "Prompts; if none or -, read standard input, one per line", "Read prompts from this file, one per line");
  command.add_flag("--cut", arguments->generate.cut, kCutHelp);
  command.add_flag("--chat", arguments->chat,
                   "Treat each prompt as a user's message and generate the assistant's answer");
  command.add_option("--system", arguments->system, "TEXT", "With --chat: the system message");
  command.add_flag("--messages", arguments->messages,
                   "Treat each prompt as a conversation: on one line, a JSON list of messages with role and content");
  command.heading("Retrieved texts");
  add_neighbour_options(command, &arguments->neighbours);
  command.heading("Form of the text");
  add_form_options(command, &arguments->form, &arguments->generate.form);
  add_languages(command, arguments.get());
  add_choices(command, arguments.get());
  command.heading("Output");
  command.add_flag("--echo", arguments->echo, "Also print the prompt");
  add_running(command, arguments.get());
  command.usual(kUsualOptions);
  command.footer(
      "Text appears while it is generated, except with beams. Without --temperature, generate "
      "always takes the likeliest token.\n\n"
      "Examples:\n"
      "  bantam generate stories.bantam \"Once upon a time\"\n"
      "  bantam generate stories.bantam \"Once upon a time\" --temperature 0.8 --top-p 0.9 --seed 7\n"
      "  bantam generate stories.bantam --file prompts.txt --max-new 32 --json\n"
      "  bantam generate retro.bantam --index lines.index --embedder minilm.bantam \"The moon is\"\n"
      "  bantam generate assistant.bantam --file reviews.txt --answer \" good\" --answer \" bad\"\n"
      "  bantam generate assistant.bantam --chat \"Who wrote Faust, and when?\" --field author:string --field "
      "year:integer\n"
      "  bantam generate assistant.bantam --chat \"What is the tallest mountain?\" --system \"Answer in one word.\"");
  command.action([arguments] { run_generate(*arguments); });
  add_translate(program);
  add_summarize(program);
  add_complete(program);
}

}  // namespace bantam::cli
