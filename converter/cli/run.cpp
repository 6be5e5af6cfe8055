// run, classify, choose, tag, answer, embed, fill, similar: their options and help.
#include "cli/run.h"

#include <CLI/CLI.hpp>
#include <memory>

#include "cli/commands.h"
#include "cli/errors.h"
#include "cli/text_options.h"

namespace bantam::cli {
namespace {

struct Variant {
  const char* name;
  const char* summary;
  TaskKind task;
  const char* examples;
};

constexpr Variant kVariants[] = {
    {"run", "Answer texts with the task that the file is for", TaskKind::kNone,
     "  bantam run voice.bantam \"wake me at seven\"\n"
     "  cat lines.txt | bantam run voice.bantam - --batch 8 --json\n"
     "  bantam run qa.bantam --question \"Who wrote it?\" --context \"Jane Austen wrote it.\"\n"
     "  bantam run model.bantam --ids 101,2054,102 --raw\n"
     "  bantam run voice.bantam --uart < lines.txt    # what the firmware would answer"},
    {"classify", "Label whole texts (or pairs)", TaskKind::kClassify,
     "  bantam classify sentiment.bantam \"a joy to watch\" --top 2\n"
     "  bantam classify nli.bantam \"A man sleeps.\" --pair \"A man is awake.\"\n"
     "  bantam classify topics.bantam --file letters.txt --stride 32 --json"},
    {"choose", "Choose the best continuation", TaskKind::kChoose,
     "  bantam choose swag.bantam \"She opened the door and\" --pair \"walked in.\" --pair \"ate it.\""},
    {"tag", "Find entities or slots, with byte offsets", TaskKind::kTag,
     "  bantam tag ner.bantam \"Ada Lovelace lived in London\" --json\n"
     "  bantam tag ner.bantam --file book.txt --stride 64"},
    {"answer", "Answer a question from a context", TaskKind::kAnswer,
     "  bantam answer qa.bantam --question \"Who wrote it?\" --context \"Jane Austen wrote it.\"\n"
     "  bantam answer qa.bantam - --context \"Jane Austen wrote it.\" < questions.txt\n"
     "  bantam answer qa.bantam --file paragraphs.txt --question \"Who wrote it?\" --stride 64"},
    {"embed", "Turn texts into vectors", TaskKind::kEmbed,
     "  bantam embed minilm.bantam \"a sentence\" --json\n"
     "  bantam embed minilm.bantam - --batch 16 --json < lines.txt"},
    {"fill", "Guess what stands where [MASK] is", TaskKind::kFill,
     "  bantam fill bert.bantam \"Paris is the [MASK] of France.\" --top 3"},
    {"similar", "Compare texts by their embeddings", TaskKind::kEmbed,
     "  bantam similar minilm.bantam \"a cat\" \"a kitten\" \"a car\"      # the first with each other\n"
     "  bantam similar minilm.bantam - --pair \"a cat\" < lines.txt    # each line with the pair text"},
};

void add_text_options(CLI::App& command, RunOptions* options) {
  command.add_option("FILE", options->model, "A .bantam file")->required();
  add_texts(command, "TEXT", &options->texts, "Texts; - reads standard input, one text a line");
  command.add_option("--file", options->file, "Read texts from this file, one a line");
  add_texts(command, "--pair", &options->pairs, "The second text of a pair; once for each choice in multiple choice");
  add_text(command, "--question", &options->question, "Question; every TEXT is then a context");
  add_text(command, "--context", &options->context, "Context; every TEXT is then a question");
  command.add_option("--top", options->top, "Most labels or candidates (default 5; 0: all)");
  command.add_option("--stride", options->stride,
                     "Slide a window over text that does not fit; neighbours share N tokens (classify, tag, answer)");
  command.add_flag("--strict", options->strict, "Fail (exit 4) where text would be truncated");
  command.add_option("--batch", options->engine.batch, "Texts of one forward pass")->check(CLI::Range(1, 4096));
  add_engine_options(command, &options->engine);
  command.add_flag("--json", options->json, "Print one JSON object a line");
  command.add_flag("--time", options->time, "Also print the milliseconds of each answer (of its batch)");
  command.add_flag("--raw", options->raw, "Print every output of the graph as JSON");
}

void add_variant(CLI::App& app, const Variant& variant) {
  CLI::App* command = app.add_subcommand(variant.name, variant.summary);
  auto options = std::make_shared<RunOptions>();
  options->command = variant.name;
  add_text_options(*command, options.get());
  if (variant.task == TaskKind::kNone) {
    command->add_option("--ids", options->ids, "Token ids instead of text, such as 101,2054,102; prints like --raw");
    command->add_option("--segments", options->segments, "Segment of each id, such as 0,0,1 (default: all 0)");
    command->add_flag("--uart", options->uart,
                      "Answer standard input's lines as `bantam firmware`'s image answers its UART");
    command->add_option("--max-tokens", options->engine.max_tokens, "With --uart: the image's --max-tokens");
  }
  command->footer(std::string("Examples:\n") + variant.examples);
  command->callback([options, variant] {
    const bool ids = !options->ids.empty();
    if (!ids && !options->segments.empty()) fail(ExitCode::kUsage, "--segments: goes with --ids only; leave it out");
    if (ids && (!options->texts.empty() || !options->file.empty())) {
      fail(ExitCode::kUsage, "--ids: goes without texts; leave out the text or --ids");
    }
    const bool texts = !options->texts.empty() || !options->file.empty();
    if (options->uart && (ids || texts))
      fail(ExitCode::kUsage, "--uart: reads standard input only; leave out the rest");
    if (!options->uart && options->engine.max_tokens != 0)
      fail(ExitCode::kUsage, "--max-tokens: goes with --uart only");
    if (options->uart) {
      run_uart(*options);
    } else if (ids) {
      run_ids(*options);
    } else if (options->command == "similar") {
      run_similar(*options);
    } else {
      run_texts(*options, variant.task);
    }
  });
}

}  // namespace

void add_run(CLI::App& app) {
  for (const Variant& variant : kVariants) add_variant(app, variant);
}

}  // namespace bantam::cli
