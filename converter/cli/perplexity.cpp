// bantam perplexity: measures how likely texts are to a decoder.
#include <algorithm>
#include <memory>
#include <optional>

#include "cli/answer/decoder.h"
#include "cli/answer/neighbours.h"
#include "cli/answer/stream.h"
#include "cli/commands.h"
#include "cli/frame/appearance.h"
#include "cli/frame/command.h"
#include "cli/frame/errors.h"
#include "cli/frame/output.h"
#include "data/text_source.h"
#include "run/generate.h"
#include "score/perplexity.h"

namespace bantam::cli {

using convert::TextSource;

namespace {

struct PerplexityArguments {
  RunOptions run;
  uint32_t context = 0;
  std::optional<uint32_t> overlap;
  NeighbourArguments neighbours;
};

void run_perplexity(PerplexityArguments& arguments) {
  RunOptions& run = arguments.run;
  require_texts("text", run.file, &run.texts);
  const ModelFile file(run.model);
  require_generating(file);
  if (file.model().source_vocabulary() != 0) {
    fail(ExitCode::kUnsupported,
         "{}: is an encoder-decoder, whose texts are likely only beside others; perplexity takes a decoder",
         file.path());
  }
  const uint32_t window = convert::default_context(file.model(), arguments.context);
  // The number of rows for which vocabulary scores are kept at a time. Models without contexts run whole windows
  // instead.
  constexpr uint32_t kRows = 16;
  const bool goes_on = convert::keeps_contexts(file.model());
  run.engine.max_context = goes_on ? window : 0;
  run.engine.max_tokens = goes_on ? std::min(kRows, window) : window;
  const uint32_t overlap = arguments.overlap.value_or(window / 2);
  if (overlap >= window) fail(ExitCode::kUsage, "--overlap {}: windows have {} tokens", overlap, window);
  const convert::Retrieve retrieve = retriever(arguments.neighbours, file, run.engine);
  Engine engine(file, run.engine);
  TextSource source(run.texts, run.file, warn, show_prompt);
  convert::Likelihood all;
  size_t texts = 0;
  for (std::string text; source.next(&text); ++texts) {
    if (!text.empty()) convert::foretell(engine, text, overlap, retrieve, &all);
  }
  if (all.tokens == 0) fail(ExitCode::kInvalid, "the input has no text of two tokens or more");
  if (!run.json) {
    out().print("perplexity {:.4f}  ({} tokens of {} texts, {:.4f} bits a byte)\n", all.perplexity(), all.tokens, texts,
                all.bits_per_byte());
    return;
  }
  Json record = json_object("perplexity");
  record.update({{"perplexity", all.perplexity()}, {"log_probability", all.log}, {"tokens", all.tokens}});
  record.update({{"texts", texts}, {"bits_per_byte", all.bits_per_byte()}});
  out().line(record);
}

}  // namespace

void add_perplexity(Program& program) {
  auto arguments = std::make_shared<PerplexityArguments>();
  Command& command = program.add_command("perplexity", "Measure the perplexity of a decoder on texts", kExamineGroup);
  add_prompts(command, &arguments->run, "A .bantam file of a decoder", "TEXT",
              "Texts; if none or -, read standard input, one per line", "Read texts from this file, one per line");
  add_neighbour_options(command, &arguments->neighbours);
  command.heading("Output");
  command.add_flag("--json", arguments->run.json, "Print one JSON object");
  command.heading("Running");
  command.add_option("--context", arguments->context, "N",
                     "Maximum tokens per window (default: the model's maximum, but not over 2048)",
                     between(2, 1 << 20));
  command.add_option("--overlap", arguments->overlap, "N",
                     "Tokens shared by neighbouring windows (default: half of --context)");
  add_engine_options(command, &arguments->run.engine);
  command.footer(
      "Perplexity is the exponential of the tokens' mean negative log-probability: the model is as "
      "unsure as among that many equally likely tokens. Compare only files with the same "
      "tokenizer, such as int8 with f32.\n\n"
      "Examples:\n"
      "  bantam perplexity stories.bantam \"Once upon a time there was a girl.\"\n"
      "  bantam perplexity stories.bantam --file texts.txt --json\n"
      "  bantam perplexity retro.bantam --file texts.txt --index lines.index --embedder minilm.bantam");
  command.action([arguments] { run_perplexity(*arguments); });
}

}  // namespace bantam::cli
