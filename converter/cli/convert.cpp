// bantam convert: a Hugging Face directory, an ONNX or a TensorFlow Lite file to a .bantam file.
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

/// Cores and instruction sets whose costs are known.
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
    "SRC is a directory as transformers or sentence-transformers saves it: config.json, model.safetensors (or its\n"
    "shards), and tokenizer.json, vocab.txt, or vocab.json with merges.txt. Or it is an ONNX file, or a directory "
    "with\n"
    "one (model.onnx) and no other weights; config.json and the tokenizer lie beside it or in the directory above.\n"
    "A TensorFlow Lite file (.tflite) brings its words and labels, or they lie beside it: docs/tflite.md. A model of\n"
    "fastText or a file of word vectors needs nothing else: docs/wordvectors.md.\n"
    "The produced file is compared with an f32\n"
    "build of the same model; when more than a share P of the labels differ for certain, nothing is written, what\n"
    "passes is searched and named, and the exit code is 6.";

struct ConvertArguments {
  const Command* command = nullptr;
  convert::ConvertOptions options;
  std::string source;
  std::string output;
  std::string expect;
  std::string sensitivity;
  std::string calibrate_scores;
  std::string gate_data;
  std::string entities;
  std::string shortlist;
  std::vector<std::string> keep;
  LayoutFlags student;
  bool json = false;
};

/// For shares: "a number from 0 to 1 is expected, such as 0.02".
Check share_between(double low, double high) {
  const auto check = [low, high](const std::string& word) -> std::string {
    char* end = nullptr;
    const double value = std::strtod(word.c_str(), &end);
    if (!word.empty() && *end == '\0' && value >= low && value <= high) return "";
    return fmt::format("{} is not a share: a number from {} to {} is expected, such as 0.02 for 2 %", word, low, high);
  };
  return {check, {}};
}

/// Names of types, as --keep takes them.
Check types() {
  Check check = one_of({"int8", "int4", "f16", "f32"});
  check.correct = [known = check.correct](std::string& word) -> std::string {
    const std::optional<fb::DType> type = convert::find_type(word);
    if (!type) return known(word);
    word = std::to_string(static_cast<int>(*type));
    return "";
  };
  return check;
}

/// Options that do nothing without another one.
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

/// Why nothing was written, and what passes.
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
  options.source = arguments.source;
  options.output = arguments.output;
  options.expect = arguments.expect;
  options.sensitivity = arguments.sensitivity;
  options.calibrate_scores = arguments.calibrate_scores;
  options.gate_data = arguments.gate_data;
  options.entities = arguments.entities;
  options.shortlist = arguments.shortlist;
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
  Command& command = program.add_command("convert", "Convert a directory, ONNX or TFLite file to a .bantam file");
  arguments->command = &command;
  command.group(kMakeGroup);
  command.usual({"--weights", "--keep", "--student", "--prune", "--max-tokens", "--activations", "--calibrate",
                 "--task", "--labels", "--data", "--auto", "--json"});
  command.footer(kConvertExamples);
  command
      .add_option("SRC", arguments->source,
                  "Directory of the model, or an ONNX, TensorFlow Lite, GGUF or fastText file")
      .required()
      .value("DIR|FILE");
  command.heading("Files");
  command.add_option("-o,--output", arguments->output, "File to write; appears whole or not at all")
      .required()
      .value("FILE");
  command
      .add_option(
          "--globals", arguments->options.globals,
          "Of Longformer, tokens that see all and are seen by all: none, first, question (those in front of the\n"
          "first separator), second (the second text) or marked (run --marks) (default: as transformers has them\n"
          "for the task)")
      .takes(one_of(convert::global_words()))
      .value("TOKENS");
  command
      .add_option(
          "--random-blocks", arguments->options.random_blocks,
          "Of Big Bird: draws the random blocks by this seed (default: block 0, as transformers has them when it\n"
          "evaluates)")
      .value("SEED");
  command
      .add_option(
          "--aggregation", arguments->options.aggregation,
          "How labels of tokens become entities: none, simple, first, average or max, as transformers' pipeline\n"
          "aggregates them, or words: the label of each word's first token, joined by --tag-scheme\n"
          "(default: first where tokens say which of them continue a word, else simple; words of BIOES labels,\n"
          "of CRFs and of models that have intents, too)")
      .takes(one_of({"none", "simple", "first", "average", "max", "words"}))
      .value("STRATEGY");
  command.heading("Types of weights");
  command
      .add_option(
          "--budget", arguments->options.budget,
          "Choose each matrix's type within size=8MB (or MiB), loss=0.01 (divergence from f32) or latency=0.4 (share\n"
          "of the time of f32 linear layers), by the costs of --sensitivity")
      .value("BUDGET");
  command.add_option("--sensitivity", arguments->sensitivity, "What `bantam sensitivity` measured, for --budget")
      .value("FILE.json");
  command.heading("A smaller model");
  command
      .add_option("--student", arguments->student.recipe,
                  "Convert a smaller layout of SRC: a recipe as for `bantam student`, whose layers may differ in width")
      .value("RECIPE");
  command.heading("Types of weights");
  command
      .add_option("--weights", arguments->options.types.weights,
                  "Type of the weights: int8 (default), int4 (of linear layers; tables of embeddings: int8), f16\n"
                  "or f32")
      .takes(types())
      .value("TYPE");
  command
      .add_option("--group", arguments->options.types.group,
                  "Inputs of int4 weights that share a factor: 8 to 1024, a multiple of 8 (default 32)")
      .takes(between(8u, 1024u))
      .value("N");
  command.heading("A smaller model");
  command
      .add_option(
          "--prune", arguments->options.prune.share,
          "Share of the linear layers' weights to set to 0, the smallest, such as 0.8 (default 0); of heads or\n"
          "feed-forward columns to leave out")
      .value("SHARE");
  command
      .add_option("--pattern", arguments->options.prune.pattern,
                  "What becomes 0 together: 1x4 (default: four inputs of an output, which kernels skip), 4x16,\n"
                  "2:4 or unstructured; or what goes whole: heads (of attention) or ffn (feed-forward columns)")
      .takes(choices(convert::pattern_words()))
      .value("PATTERN");
  command
      .add_option("--prune-scope", arguments->options.prune.scope,
                  "global (default): the smallest of all layers; uniform: the same share of each")
      .takes(choices(convert::scope_words()))
      .value("SCOPE");
  command
      .add_option(
          "--prune-by", arguments->options.prune.by_activation,
          "magnitude (default), or activations: times the norm of the weight's input on --calibrate's texts; of\n"
          "heads and ffn (default there) what they add to the layer's output on those, or on built-in texts")
      .takes(choices(convert::measure_words()))
      .value("HOW");
  command
      .add_option("--sparse", arguments->options.types.sparse,
                  "Store int8 weights without their zeros: never, always (in blocks of four, which kernels skip),\n"
                  "smallest (in the fewest bytes, whatever the time), or auto (default: where that was measured to\n"
                  "be faster; smallest with --pattern unstructured and 2:4, whose zeros kernels cannot skip)")
      .takes(choices(convert::sparse_words()))
      .value("WHEN");
  command
      .add_option("--typical-tokens", arguments->options.types.typical_tokens,
                  "Tokens of the texts for which --sparse auto shall be faster (default 16)")
      .takes(between(1u, 4096u))
      .value("N");
  command
      .add_option(
          "--target-cpu", arguments->options.types.target_cpu,
          "Kind of core, or instruction set, on which --sparse auto shall be faster (default any: on each that was\n"
          "measured)")
      .takes(target_cpus())
      .value("NAME");
  command.heading("Memory and activations");
  command
      .add_option("--residual", arguments->options.types.residual,
                  "Type of what flows from layer to layer in int8 files: f32 (default), or i8, which a device with\n"
                  "little memory wants: a quarter of the bytes a token, and --plan small")
      .takes(choices(convert::residual_words()))
      .value("TYPE");
  command
      .add_option(
          "--plan", arguments->options.types.plan,
          "What the memory plan is for: fast (default with f32 residuals), or small (default with i8 ones, static\n"
          "activations, and attention to windows with global tokens or to blocks): keys and values of one layer at a\n"
          "time, which costs several threads a little speed; servers want fast, with static activations, too")
      .takes(choices(convert::plan_words()))
      .value("PLAN");
  command
      .add_option("--max-tokens", arguments->options.max_tokens, "Most tokens of a text (default: all the model has)")
      .takes(between(1u, 1u << 20))
      .value("N");
  command.add_flag("--ids-only", arguments->options.ids_only,
                   "Leave the tokenizer out, one that is not supported too: the file takes token ids");
  command
      .add_option("--entities", arguments->entities,
                  "Of a model with a table of entities (ERNIE): names of those that the file keeps, one a line "
                  "(default: all)")
      .value("FILE");
  command
      .add_option(
          "--tower", arguments->options.tower,
          "Of a directory of two models, of texts and of images (CLIP, SigLIP), the one that the file is made of")
      .takes(one_of({"text", "vision"}))
      .value("TOWER");
  command
      .add_option("--inputs", arguments->options.inputs,
                  "Of an ONNX or TensorFlow Lite file, which input is what, where names and types do not say it:\n"
                  "ids=NAME,mask=NAME,segments=NAME,positions=NAME, those that there are")
      .value("NAMES");
  command
      .add_option("--graph-output", arguments->options.graph_output,
                  "Of an ONNX or TensorFlow Lite file with several outputs, the one that the file gives (default:\n"
                  "the usual one of the task)")
      .value("NAME");
  command
      .add_option("--shortlist", arguments->shortlist,
                  "Of Marian's students: the binary lexical shortlist (lex.*.bin), which says the words that a\n"
                  "translation may have; none: all (default: the one that lies beside the model)")
      .value("FILE|none");
  command.heading("Task");
  command
      .add_option("--task", arguments->options.task,
                  "What the model is for, when SRC does not say it: " + convert::task_list(convert::imported_heads()))
      .value("TASK");
  command
      .add_option("--tag-scheme", arguments->options.tag_scheme,
                  "plain, iob1, iob2 or bioes (default: from the labels)")
      .value("SCHEME");
  command.heading("Types of weights");
  command
      .add_option("--keep", arguments->keep,
                  "REGEX=f32|f16|int8|int4: type of the weights whose name matches; may be given several times")
      .value("RE=TYPE")
      .one_at_a_time();
  command.heading("Memory and activations");
  command
      .add_option("--activations", arguments->options.activations,
                  "dynamic (default): int8 layers scale each row while running, f32 between them;\n"
                  "static: integers only, with scales from --calibrate: for cores without floats, and less time\n"
                  "on servers with --plan fast")
      .takes(choices(convert::activation_words()))
      .value("KIND");
  command
      .add_option("--calibrate", arguments->options.calibrate,
                  "Some hundred texts like those the model will see, one a line, for --activations static and\n"
                  "--rounding gptq")
      .value("FILE");
  command
      .add_option("--calibrate-by", arguments->options.ranges.by,
                  "What scales of static activations reach: minmax (default: all that --calibrate's texts hold),\n"
                  "percentile (all but the farthest), or mse (the part that loses least)")
      .takes(choices(convert::range_words()))
      .value("HOW");
  command
      .add_option("--percentile", arguments->options.ranges.percentile,
                  "Of an activation's numbers, for --calibrate-by percentile (default 99.99)")
      .value("P");
  command.heading("Types of weights");
  command
      .add_option("--rounding", arguments->options.rounding,
                  "nearest (default), or gptq: integer weights for which the layers' outputs on the texts of\n"
                  "--calibrate (without: built-in texts) come nearest to the model's, in some seconds")
      .takes(choices(convert::rounding_words()))
      .value("HOW");
  command.heading("Task");
  command
      .add_option(
          "--calibrate-scores", arguments->calibrate_scores,
          "Labelled validation data (lines of JSON as for eval): fits a temperature, and a score below which an\n"
          "answer is out of scope; texts labelled out_of_scope help")
      .value("FILE.jsonl");
  command
      .add_option("--max-rejected", arguments->options.max_rejected,
                  "Share of right answers that may be out of scope, where no text is labelled so (default 0.01)")
      .takes(share_between(0, 0.5))
      .value("P");
  command.heading("Quality check");
  command.add_flag(
      "--strict-source", arguments->options.strict_source,
      "Refuse a source whose JSON files have keys that may change answers and that nothing reads; without\n"
      "it convert lists them and the file keeps the list (docs/converter.md)");
  command
      .add_option("--gate-data", arguments->gate_data,
                  "Texts that judge the file, one a line or lines of JSON as for eval: by the labels that are lost\n"
                  "where the data has labels of the model, else by label flips (default: what --calibrate-scores,\n"
                  "--calibrate or --sensitivity were given, else built-in texts in the vocabulary's languages)")
      .value("FILE");
  command.add_flag("--auto", arguments->options.automatic,
                   "Where the gate refuses the file try --rounding gptq, larger types for some matrices and for all,\n"
                   "in the order of what they cost in bytes, and write the first that passes");
  command
      .add_option("--parity", arguments->options.parity,
                  "Texts to compare with f32, one a line, by label flips alone; all: every built-in text, of every\n"
                  "language, with odd forms; none: nothing is compared")
      .value("FILE|all|none");
  command
      .add_option("--expect", arguments->expect,
                  "Also compare with stored outputs: a line of JSON each, with ids and logits")
      .value("FILE.jsonl");
  command
      .add_option(
          "--max-label-flips", arguments->options.max_label_flips,
          "Share of labels that may differ (default 0.02): the file is refused when with 95 % confidence\n"
          "more do; of labelled data the share that may be lost, of embeddings 1 - cosine, of decoders the rise of\n"
          "perplexity")
      .takes(share_between(0, 1))
      .value("P");
  command.heading("Files");
  command.add_flag("--json", arguments->json, "Print the report as one JSON object");
  command.action([arguments] { run_convert(*arguments); });
}

}  // namespace bantam::cli
