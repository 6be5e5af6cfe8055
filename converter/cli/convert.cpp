// bantam convert: turns a Hugging Face directory, an ONNX file or a TensorFlow Lite file into a .bantam file.
#include <cstdlib>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/commands.h"
#include "cli/convert_report.h"
#include "cli/frame/appearance.h"
#include "cli/frame/build_info.h"
#include "cli/frame/command.h"
#include "cli/frame/errors.h"
#include "cli/frame/output.h"
#include "cli/frame/progress.h"
#include "cli/student_options.h"
#include "graph/task_parts.h"
#include "network/blocks/long_attention.h"
#include "network/heads.h"
#include "pipeline/convert.h"
#include "pipeline/option_words.h"
#include "pipeline/report_json.h"
#include "prune/costs.h"

namespace bantam::cli {
namespace {

/// Takes the cores and instruction sets whose costs are known.
Check target_cpus() {
  std::map<std::string, std::string> names = {{"any", ""}};
  for (const std::string& name : convert::sparse_targets()) names.emplace(name, name);
  return replaced(names);
}

constexpr const char* kConvertExamples =
    "Examples:\n"
    "  bantam convert models/voice-commands -o voice.bantam\n"
    "  bantam convert minilm-sst2 -o sst2.bantam --expect minilm-sst2/expected.jsonl\n"
    "  bantam convert minilm-sst2 -o sst2.bantam --max-tokens 128 --keep 'embeddings=f16'\n"
    "  bantam convert minilm/onnx/model.onnx -o minilm.bantam\n"
    "  bantam convert minilm-sst2 -o sst2.bantam --budget size=21MB --sensitivity costs.json\n"
    "  bantam convert minilm-sst2 -o sst2.bantam --prune 0.25 --pattern heads --calibrate train.txt\n"
    "  bantam convert my-model -o my.bantam --weights f32 --parity texts.txt --json\n"
    "  bantam convert models/voice-commands -o voice.bantam --activations static --calibrate sentences.txt\n\n"
    "SRC is a directory saved by transformers or sentence-transformers: config.json, "
    "model.safetensors (or its shards), and tokenizer.json, vocab.txt, or vocab.json with "
    "merges.txt. SRC may also be an ONNX file, or a directory with one (model.onnx) and no other "
    "weights; config.json and the tokenizer are next to it or in the directory above. A "
    "TensorFlow Lite file (.tflite) contains its words and labels, or they are next to it: "
    "docs/tflite.md. A fastText model or a file of word vectors needs no other file: docs/wordvectors.md.\n\n"
    "convert compares the new file with an f32 build of the same model. If, with 95 % "
    "confidence, more labels flip than --max-label-flips allows, convert writes nothing, "
    "searches for settings that pass, names them, and exits with code 6.";

struct ConvertArguments {
  const Command* command = nullptr;
  convert::ConvertOptions options;
  std::vector<std::string> keep;
  LayoutFlags student;
  bool json = false;
};

/// Takes shares; the error is "a number from 0 to 1 is expected, such as 0.02".
Check share_between(double low, double high) {
  const auto check = [low, high](const std::string& word) -> std::string {
    char* end = nullptr;
    const double value = std::strtod(word.c_str(), &end);
    if (!word.empty() && *end == '\0' && value >= low && value <= high) return "";
    return fmt::format("{} is not a share: a number from {} to {} is expected, such as 0.02 for 2 %", word, low, high);
  };
  return {check, {}};
}

/// Takes names of types for --keep.
Check types() {
  Check check = one_of({"int8", "int4", "ternary", "f16", "f32"});
  check.correct = [known = check.correct](std::string& word) -> std::string {
    const std::optional<fb::DType> type = convert::find_type(word);
    if (!type) return known(word);
    word = std::to_string(static_cast<int>(*type));
    return "";
  };
  return check;
}

/// Refuses options that have no effect without another option.
void check_partners(const Command& command, const convert::ConvertOptions& options) {
  const auto given = [&command](const char* name) { return command.given(name); };
  convert::Problems problems;
  const auto want = [&](const char* name, bool partner, const char* add) {
    if (given(name) && !partner)
      problems.add(ExitCode::kUsage,
                   fmt::format("{} does nothing without {}: add it, or leave out {}", name, add, name));
  };
  bool int4 = options.types.weights == fb::DType::i4;
  for (const convert::Keep& keep : options.types.keep) int4 = int4 || keep.type == fb::DType::i4;
  want("--group", int4, "--weights int4 or --keep 'RE=int4'");
  for (const char* name : {"--pattern", "--prune-scope", "--prune-by"}) want(name, given("--prune"), "--prune SHARE");
  want("--typical-tokens", options.types.sparse == convert::Sparse::kAuto, "--sparse auto");
  want("--max-rejected", given("--calibrate-scores"), "--calibrate-scores FILE.jsonl");
  want("--percentile", given("--calibrate-by"), "--calibrate-by percentile");
  problems.raise();
}

/// Returns the lines that say why nothing was written and which settings would pass.
std::vector<std::string> refusal(const convert::Report& report) {
  const convert::GateReport& gate = report.gate;
  std::vector<std::string> lines = {fmt::format("quality gate failed, {} was not written", report.output)};
  lines.insert(lines.end(), report.gate_failures.begin(), report.gate_failures.end());
  if (gate.built_in) {
    lines.push_back(
        fmt::format("{} judged the file: some hundred texts like those that it will see judge better, by "
                    "--gate-data FILE, and cost no byte",
                    gate.texts));
  }
  const bool found = !gate.attempts.empty() && gate.attempts.back().passed;
  if (found) {
    lines.push_back(
        fmt::format("what passes: {}; --auto takes it", attempt_line(gate.attempts.back(), gate.refused_file_bytes)));
  }
  for (size_t i = 0; i + (found ? 1 : 0) < gate.attempts.size(); ++i)
    lines.push_back("tried: " + attempt_line(gate.attempts[i], gate.refused_file_bytes));
  if (gate.out_of_time)
    lines.emplace_back("the search for what passes ended after three minutes: --auto goes to its end");
  if (!found) lines.emplace_back("nothing that was tried passes; a larger --max-label-flips allows more");
  return lines;
}

void run_convert(ConvertArguments& arguments) {
  convert::ConvertOptions& options = arguments.options;
  options.tool = std::string("bantam ") + kVersion;
  for (const std::string& keep : arguments.keep) options.types.keep.push_back(convert::parse_keep(keep));
  check_partners(*arguments.command, options);
  if (!arguments.student.recipe.empty()) options.student = layout_recipe(arguments.student);
  Progress progress;
  options.progress = [&progress](const char* what, double done) { progress.show(what, done); };
  const convert::Report report = convert::convert(options);
  progress.clear();
  if (!quiet()) {
    for (const convert::SourceKey& key : report.source_keys) warn(to_line(key));
  }
  if (arguments.json) {
    out().write(convert::to_json(report) + "\n");
  } else if (!quiet()) {
    print_report(report);
  }
  out().flush();
  if (!report.gate_failures.empty()) {
    throw Error(ExitCode::kGate, refusal(report));
  }
}

}  // namespace

void add_convert(Program& program) {
  auto arguments = std::make_shared<ConvertArguments>();
  Command& command =
      program.add_command("convert", "Convert a model (directory, ONNX or TFLite) to a .bantam file", kMakeGroup);
  arguments->command = &command;
  command.usual({"--weights", "--keep", "--student", "--prune", "--max-tokens", "--activations", "--calibrate",
                 "--task", "--labels", "--data", "--auto", "--json"});
  command.footer(kConvertExamples);
  command
      .add_option("SRC", arguments->options.source, "DIR|FILE",
                  "Model directory, or an ONNX, TensorFlow Lite, GGUF or fastText file")
      .required();
  command.heading("Files");
  command
      .add_option("-o,--output", arguments->options.output, "FILE",
                  "File to write; if convert fails, it leaves no partial file")
      .required();
  command.add_option("--globals", arguments->options.globals, "TOKENS",
                     "Longformer: the global tokens: none, first, question (before the first separator), second "
                     "(the second text) or marked (run --marks). Default: as in transformers for the task. LED's "
                     "sources: none (default) or first",
                     one_of(convert::global_words()));
  command.add_option(
      "--random-blocks", arguments->options.random_blocks, "SEED",
      "Big Bird: seed for the random attention blocks (default: block 0 each time, as in transformers' evaluation)");
  command.add_option("--aggregation", arguments->options.aggregation, "STRATEGY",
                     "How token labels become entities: none, simple, first, average or max, as in transformers' "
                     "pipeline; or words: the label of each word's first token, joined by --tag-scheme. Default: "
                     "first if tokens show which of them continue a word, else simple; words for BIOES labels, "
                     "CRFs and models with intents",
                     one_of({"none", "simple", "first", "average", "max", "words"}));
  command.heading("Weight types");
  command.add_option("--budget", arguments->options.budget, "BUDGET",
                     "Choose the type of each matrix within a budget, from the costs in --sensitivity: size=8MB "
                     "(or MiB), loss=0.01 (divergence from f32) or latency=0.4 (share of the f32 linear layers' time)");
  command.add_option("--sensitivity", arguments->options.sensitivity, "FILE.json",
                     "Costs measured by `bantam sensitivity`, for --budget");
  command.heading("A smaller model");
  command.add_option(
      "--student", arguments->student.recipe, "RECIPE",
      "Convert a smaller layout of SRC: a recipe as for `bantam student`, but layers may differ in width");
  command.heading("Weight types");
  command.add_option(
      "--weights", arguments->options.types.weights, "TYPE",
      "Type of the weights: int8 (default), int4 (linear layers; embedding tables become int8), ternary (two bits: "
      "linear layers of models that were trained with weights -1, 0 and 1; the others become int8), f16 or f32",
      types());
  command.add_option("--group", arguments->options.types.group, "N",
                     "int4: number of inputs whose weights share a scale: 8 to 1024, a multiple of 8 (default 32)",
                     between(8u, 1024u));
  command.heading("A smaller model");
  command.add_option("--prune", arguments->options.prune.share, "SHARE",
                     "Share of the linear layers' weights to set to 0, smallest first, such as 0.8 (default 0); "
                     "with --pattern heads or ffn, share of heads or feed-forward columns to remove");
  command.add_option("--pattern", arguments->options.prune.pattern, "PATTERN",
                     "Weights that become 0 together: 1x4 (default; four inputs of one output, which kernels "
                     "skip), 4x16, 2:4 or unstructured; or parts to remove whole: heads (attention heads) or ffn "
                     "(feed-forward columns)",
                     choices(convert::pattern_words()));
  command.add_option("--prune-scope", arguments->options.prune.scope, "SCOPE",
                     "global (default): the smallest across all layers; uniform: the same share in each layer",
                     choices(convert::scope_words()));
  command.add_option("--prune-by", arguments->options.prune.by_activation, "HOW",
                     "How to rank weights: magnitude (default), or activations: magnitude times the norm of the "
                     "weight's input on the --calibrate texts. Heads and ffn: activations (default) ranks them by "
                     "what they add to the layer's output on these texts, or on built-in texts",
                     choices(convert::measure_words()));
  command.add_option("--sparse", arguments->options.types.sparse, "WHEN",
                     "When to store int8 weights without their zeros: never, always (in blocks of four, which "
                     "kernels skip), smallest (fewest bytes, at any speed) or auto (default: if measured to be "
                     "faster; smallest for --pattern unstructured and 2:4, whose zeros kernels cannot skip)",
                     choices(convert::sparse_words()));
  command.add_option("--typical-tokens", arguments->options.types.typical_tokens, "N",
                     "Tokens per text at which --sparse auto must be faster (default 16)", between(1u, 4096u));
  command.add_option(
      "--target-cpu", arguments->options.types.target_cpu, "NAME",
      "Type of core, or instruction set, on which --sparse auto must be faster (default any: all that were "
      "measured)",
      target_cpus());
  command.heading("Memory and activations");
  command.add_option("--residual", arguments->options.types.residual, "TYPE",
                     "Type of the values passed between layers in int8 files: f32 (default), or i8 for devices "
                     "with little memory: a quarter of the bytes per token; selects --plan small",
                     choices(convert::residual_words()));
  command.add_option("--plan", arguments->options.types.plan, "PLAN",
                     "Goal of the memory plan: fast (default with f32 residuals), or small (default with i8 "
                     "residuals, static activations, and attention to blocks or to windows with global tokens). "
                     "small keeps the keys and values of one layer at a time, a little slower with several "
                     "threads. Use fast on servers, also with static activations",
                     choices(convert::plan_words()));
  command.add_option("--max-tokens", arguments->options.max_tokens, "N",
                     "Maximum tokens per text (default: as many as the model supports)", between(1u, 1u << 20));
  command.add_flag("--ids-only", arguments->options.ids_only,
                   "Leave the tokenizer out, even an unsupported one: the file then takes token ids");
  command.add_option("--entities", arguments->options.entities, "FILE",
                     "Models with an entity table (ERNIE): file with the names of the entities to keep, one per line "
                     "(default: all)");
  command.add_option("--tower", arguments->options.tower, "TOWER",
                     "Directories with a text and an image model (CLIP, SigLIP): the model to convert",
                     one_of({"text", "vision"}));
  command.add_option("--inputs", arguments->options.inputs, "NAMES",
                     "ONNX and TensorFlow Lite: roles of the inputs, if names and types do not show them: "
                     "ids=NAME,mask=NAME,segments=NAME,positions=NAME, only those that exist");
  command.add_option(
      "--graph-output", arguments->options.graph_output, "NAME",
      "ONNX and TensorFlow Lite, several outputs: the output to use (default: the usual one for the task)");
  command.add_option("--shortlist", arguments->options.shortlist, "FILE|none",
                     "Marian students: the binary lexical shortlist (lex.*.bin), which lists the words that a "
                     "translation may contain; none: all words (default: the shortlist next to the model)");
  command.heading("Task");
  command.add_option("--task", arguments->options.task, "TASK",
                     "Task of the model, if SRC does not state it: " + convert::task_list(convert::imported_heads()));
  command.add_option("--tag-scheme", arguments->options.tag_scheme, "SCHEME",
                     "Tagging scheme: plain, iob1, iob2 or bioes (default: from the labels)");
  command.heading("Weight types");
  command
      .add_option("--keep", arguments->keep, "RE=TYPE",
                  "REGEX=f32|f16|int8|int4|ternary: type for weights whose name matches; may be given several times")
      .one_at_a_time();
  command.heading("Memory and activations");
  command.add_option("--activations", arguments->options.activations, "KIND",
                     "dynamic (default): int8 layers scale each row at run time, with f32 between them; static: "
                     "integers only, with scales from --calibrate: for cores without floating point, and faster "
                     "on servers with --plan fast",
                     choices(convert::activation_words()));
  command.add_option("--calibrate", arguments->options.calibrate, "FILE",
                     "A few hundred texts like those the model will see, one per line, for --activations static and "
                     "--rounding gptq");
  command.add_option("--calibrate-by", arguments->options.ranges.by, "HOW",
                     "How to choose the scales of static activations: minmax (default: cover all values on the "
                     "--calibrate texts), percentile (all but the most extreme values) or mse (least error)",
                     choices(convert::range_words()));
  command.add_option("--percentile", arguments->options.ranges.percentile, "P",
                     "Percentile of the activations, for --calibrate-by percentile (default 99.99)");
  command.heading("Weight types");
  command.add_option("--rounding", arguments->options.rounding, "HOW",
                     "nearest (default), or gptq: choose the integers that keep the layers' outputs closest to "
                     "the model's on the --calibrate texts (without them: built-in texts); takes some seconds",
                     choices(convert::rounding_words()));
  command.heading("Task");
  command.add_option("--calibrate-scores", arguments->options.calibrate_scores, "FILE.jsonl",
                     "Labelled validation data (JSON lines as for eval) to fit a temperature, and a score below "
                     "which an answer is out of scope; texts labelled out_of_scope help");
  command.add_option("--max-rejected", arguments->options.max_rejected, "P",
                     "Share of right answers that may become out of scope, if no text has that label (default 0.01)",
                     share_between(0, 0.5));
  command.heading("Quality check");
  command.add_flag("--strict-source", arguments->options.strict_source,
                   "Refuse a source whose JSON files have unread keys that may change answers; without it, "
                   "convert lists these keys and stores the list in the file (docs/converter.md)");
  command.add_option(
      "--gate-data", arguments->options.gate_data, "FILE",
      "Texts for the quality check, one per line or JSON lines as for eval. The check counts lost "
      "labels if the data has labels of the model, else label flips. Default: the texts of "
      "--calibrate-scores, --calibrate or --sensitivity, else built-in texts in the vocabulary's languages");
  command.add_flag("--auto", arguments->options.automatic,
                   "If the quality check refuses the file, try --rounding gptq, then larger types for some "
                   "matrices and for all, cheapest in bytes first, and write the first file that passes");
  command.add_option("--parity", arguments->options.parity, "FILE|all|none",
                     "Texts to compare with f32, one per line, by label flips only; all: every built-in text, in "
                     "every language, with unusual forms; none: no comparison");
  command.add_option("--expect", arguments->options.expect, "FILE.jsonl",
                     "Also compare with stored outputs: JSON lines with ids and logits");
  command.add_option("--max-label-flips", arguments->options.max_label_flips, "P",
                     "Share of labels that may flip (default 0.02): differ from those of f32, though these led by more "
                     "than 0.05 (difference of logits); convert refuses the file if, with 95 % confidence, more flip. "
                     "Labelled data: share of labels lost; embeddings: 1 - cosine; decoders: rise of perplexity",
                     share_between(0, 1));
  command.heading("Files");
  command.add_flag("--json", arguments->json, "Print the report as one JSON object");
  command.action([arguments] { run_convert(*arguments); });
}

}  // namespace bantam::cli
