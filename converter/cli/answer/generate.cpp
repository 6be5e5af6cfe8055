// bantam generate: continues prompts, or generates texts from others with an encoder-decoder. translate, summarize and
// complete do the same as filters, with one output line for each input line.
#include "run/generate.h"

#include <algorithm>
#include <memory>

#include "cli/answer/decoder.h"
#include "cli/answer/neighbours.h"
#include "cli/answer/stream.h"
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

/// The options of generate, and of its filters, that the short help prints.
const Words kUsualOptions = {"--file",  "--chat",        "--system", "--from", "--to",     "--max-new", "--stop",
                             "--beams", "--temperature", "--top-p",  "--seed", "--format", "--json",    "--threads"};

/// The options that a command takes besides its texts, the settings of decoding and those of the engine.
enum Making : unsigned {
  kLines = 1u << 0,   // one output line per input line
  kSource = 1u << 1,  // an encoder-decoder
  kCut = 1u << 2,     // --cut
  kNoCut = 1u << 3,   // --no-cut
  kChat = 1u << 4,
  kNeighbours = 1u << 5,
  kForm = 1u << 6,
  kLanguages = 1u << 7,
  kEcho = 1u << 8,        // --echo
  kOnlyNew = 1u << 9,     // --only-new
  kSummaries = 1u << 10,  // uses the file's settings for summaries
};

struct Maker {
  const char *name, *summary;
  unsigned takes;
  const char *model, *text, *texts, *lines;  // descriptions of its arguments in the help
  const char* notes;
};

constexpr const char* kLineTexts = "Texts; if none or -, read standard input, one per line";

const Maker kMakers[] = {
    {"generate", "Generate text from prompts", kCut | kChat | kNeighbours | kForm | kLanguages | kEcho,
     "A .bantam file of a decoder or an encoder-decoder", "PROMPT",
     "Prompts; if none or -, read standard input, one per line", "Read prompts from this file, one per line",
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
     "  bantam generate assistant.bantam --chat \"What is the tallest mountain?\" --system \"Answer in one word.\""},
    {"translate", "Translate texts, one per line", kLines | kSource | kCut | kLanguages,
     "A .bantam file of an encoder-decoder", "TEXT", kLineTexts, "Translate this file, line by line",
     "Each input line gives one output line. The file sets beams and lengths unless options do.\n\n"
     "Examples:\n"
     "  bantam translate en-de.bantam \"Good morning.\"\n"
     "  bantam translate nllb.bantam --from eng_Latn --to deu_Latn --file lines.txt\n"
     "  bantam translate t5.bantam --from en --to de --beams 1 --json < lines.txt"},
    {"summarize", "Summarize texts, one per line", kLines | kSource | kNoCut | kSummaries,
     "A .bantam file of an encoder-decoder", "TEXT", kLineTexts, "Summarize this file, line by line",
     "Each input line gives one output line. The file sets beams and lengths unless options do.\n\n"
     "Examples:\n"
     "  bantam summarize bart.bantam \"$(cat article.txt)\"\n"
     "  bantam summarize bart.bantam --file articles.txt --max-new 60 --json"},
    {"complete", "Complete lines of text", kLines | kNeighbours | kOnlyNew, "A .bantam file of a decoder", "TEXT",
     "Beginnings of lines; if none or -, read standard input, one per line", "Complete the lines of this file",
     "Each input line gives one output line, which ends where the model ends the text or "
     "begins another line.\n\n"
     "Examples:\n"
     "  bantam complete stories.bantam \"Once upon a time\" --max-new 12\n"
     "  bantam complete stories.bantam --file beginnings.txt --only-new"},
};

struct GenerateArguments {
  RunOptions run;
  GenerateOptions generate;
  FormArguments form;
  uint32_t context = 0;
  uint32_t batch = 8;
  bool echo = false, only_new = false;
  bool no_cut = false;
  unsigned takes = 0;
  bool chat = false, messages = false;
  std::string system;
  std::string draft;  // a file that guesses tokens
  NeighbourArguments neighbours;
};

/// The model that guesses, and the file that it runs.
struct OpenDraft {
  ModelFile file;
  convert::DraftModel draft;
  OpenDraft(const std::string& path, const ModelFile& target, const convert::EngineOptions& options, uint32_t texts,
            uint32_t context)
      : file(path), draft(file, target, options, texts, context) {}
};

void require_source(const ModelFile& file, const char* command) {
  if (file.model().source_vocabulary() != 0) return;
  fail(ExitCode::kUnsupported,
       "{}: is a decoder, which continues texts; {} takes an encoder-decoder, generate takes this file", file.path(),
       command);
}

/// Returns the text that the model continues: the prompt itself, or the conversation that the prompt states or begins.
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
  if (arguments.generate.lookup || !arguments.draft.empty()) object["passes"] = made.passes;
  if (arguments.generate.log_probabilities) object["log_probabilities"] = made.log_probabilities;
  for (const convert::AnswerScore& answer : made.answers) {
    object["answers"].push_back(
        {{"text", answer.text}, {"tokens", answer.tokens}, {"log_probability", answer.log_probability}});
  }
  return object;
}

/// Prints a text while it is generated.
void show_one(const GenerateArguments& arguments, Engine& engine, const Decoding& decoding,
              const convert::Retrieve& retrieve, convert::DraftModel* draft, const std::string& given, bool several) {
  const std::string prompt = text_of(arguments, engine.model(), given);
  if (arguments.run.json) {
    const Made made = convert::generate(engine, decoding, {prompt}, nullptr, retrieve, draft).front();
    out().line(as_json(arguments, prompt, made));
    return out().flush();
  }
  if (several) out().print("{}\n", bold(printable(given)));
  if (arguments.echo) out().write(prompt);
  bool ended = false;  // the last character shown ended a line
  size_t shown = 0;
  const auto show = [&](std::string_view piece) {
    out().write(piece);
    out().flush();
    shown += piece.size();
    ended = piece.empty() ? ended : piece.back() == '\n';
  };
  const Made made = convert::generate(engine, decoding, {prompt}, show, retrieve, draft).front();
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
                const convert::Retrieve& retrieve, convert::DraftModel* draft, const std::vector<Input>& inputs) {
  std::vector<std::string> texts;
  texts.reserve(inputs.size());
  for (const Input& input : inputs) texts.push_back(input.first);
  const std::vector<Made> all = convert::generate(engine, decoding, texts, nullptr, retrieve, draft);
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

/// Returns the name of the generation settings to use: the file's "summarization" if the command summarizes and the
/// file has it, otherwise --use.
std::string way_of(const Model& model, const GenerateArguments& arguments) {
  constexpr const char* kWay = "summarization";
  const bool wanted = (arguments.takes & kSummaries) != 0 && arguments.generate.use.empty();
  return wanted && convert::has_way(model, kWay) ? kWay : arguments.generate.use;
}

void check_guesses(const GenerateArguments& arguments, const ModelFile& file, const Decoding& decoding,
                   bool retrieves) {
  const char* option = arguments.generate.lookup ? "--lookup" : "--draft";
  if (!arguments.generate.lookup && arguments.draft.empty()) return;
  if (arguments.generate.lookup && !arguments.draft.empty()) {
    fail(ExitCode::kUsage, "--lookup: --draft guesses, too; leave one of them out");
  }
  if (decoding.has_beams()) fail(ExitCode::kUsage, "{}: beams are not guessed; give --beams 1", option);
  if (retrieves) fail(ExitCode::kUsage, "{}: texts are retrieved token by token; leave out --index", option);
  if (!convert::forgets_tokens(file.model())) {
    fail(ExitCode::kUnsupported, "{}: {} keeps states of its tokens, and cannot forget wrong guesses; leave {} out",
         option, file.path(), option);
  }
  if (arguments.run.engine.backend != "native") {
    fail(ExitCode::kUsage, "{}: only the native kernels give a row the same bits beside others; leave out --backend",
         option);
  }
}

void run_generate(GenerateArguments& arguments) {
  RunOptions& run = arguments.run;
  const bool lines = (arguments.takes & kLines) != 0;
  require_texts(lines ? "text" : "prompt", run.file, &run.texts);
  const ModelFile file(run.model);
  require_generating(file);
  require_contexts(file);
  if ((arguments.takes & kSource) != 0) require_source(file, run.command.c_str());
  if ((arguments.takes & kNoCut) != 0) arguments.generate.cut = !arguments.no_cut;
  if ((arguments.takes & kOnlyNew) != 0) arguments.echo = !arguments.only_new;
  read_form(arguments.form, &arguments.generate.form);
  arguments.generate.use = way_of(file.model(), arguments);
  arguments.chat = arguments.chat || arguments.messages || !arguments.system.empty();
  if (arguments.chat) {
    // Fails before any text is read if the file has no chat format.
    convert::chat_text(file.model(), {{ChatRole::kUser, ""}});
    const std::vector<std::string> stop = arguments.generate.stop;
    convert::answer_turns(file.model(), &arguments.generate);
    // Texts of a required form end when the form is complete, so the chat's stop texts do not apply.
    if (arguments.generate.form.is_given()) arguments.generate.stop = stop;
  }
  const Decoding decoding = convert::resolve_decoding(file.model(), arguments.generate);
  const bool several = has_headings(run);
  const convert::Retrieve retrieve = retriever(arguments.neighbours, file, run.engine);
  if (retrieve != nullptr && (decoding.has_beams() || decoding.contexts() != 1 || decoding.form.scores)) {
    fail(ExitCode::kUsage,
         "--index: texts are found for one text at a time; leave --beams, --best-of and --answer-scores out");
  }
  check_guesses(arguments, file, decoding, retrieve != nullptr);
  const bool one = !lines || !several || decoding.has_beams() || retrieve != nullptr;
  const uint32_t texts = one ? 1 : arguments.batch;
  Engine engine(file, convert::with_contexts(file.model(), decoding, run.engine, texts, arguments.context));
  std::unique_ptr<OpenDraft> opened;
  if (!arguments.draft.empty()) {
    opened = std::make_unique<OpenDraft>(arguments.draft, file, run.engine, texts * decoding.contexts(),
                                         engine.session().max_context());
  }
  convert::DraftModel* draft = opened == nullptr ? nullptr : &opened->draft;
  run.engine.batch = texts;
  TextSource source(run.texts, run.file, warn, show_prompt);
  answer_stream(run, {one_by_one(source), [&](const std::vector<Input>& inputs) {
                        if (lines) return show_lines(arguments, engine, decoding, retrieve, draft, inputs);
                        for (const Input& input : inputs) {
                          show_one(arguments, engine, decoding, retrieve, draft, input.first, several);
                        }
                      }});
}

void add_maker(Program& program, const Maker& maker) {
  auto arguments = std::make_shared<GenerateArguments>();
  convert::GenerateOptions& generate = arguments->generate;
  const auto takes = [&maker](Making what) { return (maker.takes & what) != 0; };
  arguments->run.command = maker.name;
  arguments->takes = maker.takes;
  Command& command = program.add_command(maker.name, maker.summary, kAnswerGroup);
  add_prompts(command, &arguments->run, maker.model, maker.text, maker.texts, maker.lines);
  if (takes(kCut)) command.add_flag("--cut", generate.cut, "Cut texts that are longer than the model takes");
  if (takes(kNoCut)) {
    command.add_flag("--no-cut", arguments->no_cut,
                     "Refuse texts that are longer than the model takes; by default they are cut, with a warning");
  }
  if (takes(kChat)) {
    command.add_flag("--chat", arguments->chat,
                     "Treat each prompt as a user's message and generate the assistant's answer");
    command.add_option("--system", arguments->system, "TEXT", "With --chat: the system message");
    command.add_flag("--messages", arguments->messages,
                     "Treat each prompt as a conversation: on one line, a JSON list of messages with role and content");
    command.heading("Retrieved texts");
  }
  if (takes(kNeighbours)) add_neighbour_options(command, &arguments->neighbours);
  if (takes(kForm)) {
    command.heading("Form of the text");
    add_form_options(command, &arguments->form, &generate.form);
  }
  if (takes(kLanguages)) {
    command.heading("Languages");
    add_language_options(command, &generate);
  }
  if (takes(kOnlyNew)) {
    generate.stop = {"\n"};
    command.heading("Output");
    command.add_flag("--only-new", arguments->only_new, "Print only the new part of each line");
  }
  command.heading("Choosing tokens");
  add_decoding_options(command, &generate);
  command.heading("Guessing tokens");
  command.add_flag("--lookup", generate.lookup,
                   "Guess that the text repeats itself or its prompt: the same text, in fewer passes");
  if (!takes(kSource)) {
    command.add_option("--draft", arguments->draft, "FILE.bantam",
                       "Guess by a smaller model with the same tokenizer: the same text, in fewer passes");
  }
  command.heading("Output");
  if (takes(kEcho)) command.add_flag("--echo", arguments->echo, "Also print the prompt");
  command.add_flag("--json", arguments->run.json, "Print one JSON object per text");
  command.add_flag("--log-probs", generate.log_probabilities,
                   "With --json: also print the log-probability of each new token");
  command.heading("Running");
  command.add_option("--context", arguments->context, "N",
                     "Maximum tokens, with the prompt (default: the model's maximum, but not over 2048)",
                     between(2, 1 << 20));
  if (takes(kLines)) {
    command.add_option("--batch", arguments->batch, "N",
                       "Maximum number of texts to generate at a time, without beams (default 8)", between(1, 64));
  }
  add_engine_options(command, &arguments->run.engine);
  command.usual(kUsualOptions);
  command.footer(maker.notes);
  command.action([arguments] { run_generate(*arguments); });
}

}  // namespace

void add_generate(Program& program) {
  for (const Maker& maker : kMakers) add_maker(program, maker);
}

bool makes_text(const std::string& command) {
  return std::any_of(std::begin(kMakers), std::end(kMakers), [&](const Maker& maker) { return command == maker.name; });
}

}  // namespace bantam::cli
