// distill: the command's options, checked; cli/distill_run.cpp does the work.
#include "cli/distill.h"

#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <optional>

#include "cli/beside.h"
#include "cli/commands.h"
#include "cli/frame/command.h"
#include "cli/frame/errors.h"

namespace bantam::cli {
namespace {

constexpr const char* kDistillFooter =
    "Without --teacher it is fine-tuning: labels alone. DATA has the fields of `bantam eval`: text + label or labels,\n"
    "text_a + text_b + label or score, text + intent + tokens + slots, tokens + tags; for encoder-decoders src + tgt, "
    "for\n"
    "decoders texts, one a line. Whatever stops it, the same command goes on from the checkpoint in DIR and ends with "
    "the\n"
    "same weights.\n\n"
    "Examples:\n"
    "  bantam distill --teacher big --student small --data train.jsonl --validation valid.jsonl -o trained --epochs "
    "20\n"
    "  bantam distill --student model --data train.jsonl -o tuned --freeze encoder\n"
    "  bantam distill --teacher marian --student marian-6-3 --data pairs.jsonl -o translator --freeze encoder\n"
    "  bantam distill --teacher big --student small --data train.jsonl -o sparse --prune 0.8 --pattern 1x4 --quantize "
    "int8";

struct DistillArguments {
  DistillOptions options;
  std::optional<double> hard, soft;
  std::string layers;
};

/// "1:2,2:4": student's layer, teacher's layer.
std::vector<std::pair<uint32_t, uint32_t>> parse_layers(const std::string& text) {
  std::vector<std::pair<uint32_t, uint32_t>> layers;
  const char *next = text.data(), *end = next + text.size();
  while (next != end) {
    uint32_t numbers[2] = {0, 0};
    for (int i = 0; i < 2; ++i) {
      const auto parsed = std::from_chars(next, end, numbers[i]);
      const bool good = parsed.ec == std::errc() &&
                        (i == 0 ? parsed.ptr != end && *parsed.ptr == ':' : parsed.ptr == end || *parsed.ptr == ',');
      if (!good) {
        fail(ExitCode::kUsage, "--layers {}: wanted pairs STUDENT:TEACHER such as 0:0,1:3,2:6 (0: the embeddings)",
             text);
      }
      next = parsed.ptr == end ? end : parsed.ptr + 1;
    }
    layers.emplace_back(numbers[0], numbers[1]);
  }
  return layers;
}

DistillOptions checked(const DistillArguments& arguments) {
  DistillOptions options = arguments.options;
  train::LossWeights& loss = options.settings.loss;
  const bool teacher = !options.teacher.empty();
  loss.hard = arguments.hard.value_or(1.0);
  loss.soft = arguments.soft.value_or(teacher ? 1.0 : 0.0);
  options.settings.layers = parse_layers(arguments.layers);
  convert::Problems problems;
  if (!teacher && loss.needs_teacher()) {
    problems.add(ExitCode::kUsage,
                 "--soft, --hidden, --attention and --relation compare with a teacher; add --teacher");
  }
  if (loss.hard <= 0 && !loss.needs_teacher()) {
    problems.add(ExitCode::kUsage, "every part of the loss has weight 0: there is nothing to learn");
  }
  const train::PruneSettings& prune = options.settings.prune;
  if (!(prune.sparsity >= 0 && prune.sparsity < 1)) {
    problems.add(ExitCode::kUsage,
                 fmt::format("--prune {}: wanted a fraction of zeros, 0 or more and less than 1", prune.sparsity));
  }
  if (!(prune.begin >= 0 && prune.begin < prune.end && prune.end <= 1)) {
    problems.add(ExitCode::kUsage,
                 fmt::format("--prune-begin {} and --prune-end {}: fractions of training, the first one smaller",
                             prune.begin, prune.end));
  }
  if (!options.texts.empty() && !loss.needs_teacher()) {
    problems.add(
        ExitCode::kUsage,
        "--texts have no labels: only a teacher can answer for them; add --teacher and a --soft or --hidden above 0");
  }
  if (options.settings.patience != 0 && options.validation.empty()) {
    problems.add(ExitCode::kUsage, "--patience needs --validation");
  }
  problems.raise();
  return options;
}

void add_data_options(Command& command, DistillArguments* arguments) {
  command.heading("Data and output");
  DistillOptions& o = arguments->options;
  command.add_option("--teacher", o.teacher, "Directory of the model to learn from").value("DIR");
  command
      .add_option("--student", o.student,
                  "Directory of the model to train, or a recipe: what it keeps of the teacher (docs/students.md)")
      .required()
      .value("DIR|RECIPE");
  command.add_option("--data", o.data, "Examples to learn, one JSON object a line (decoders: or a text a line)")
      .required()
      .value("FILE");
  command.add_option("--validation", o.validation, "Examples that choose the best epoch; never learned from")
      .value("FILE");
  command.add_option("-o,--output", o.output, "Directory for the result, a curve, and while training a checkpoint")
      .required()
      .value("DIR");
  const std::map<std::string, std::string> types = {{"f32", "F32"}, {"f16", "F16"}, {"source", ""}};
  command.add_option("--save-as", o.dtype, "Type of the weights written: f32 (default), f16, or source: the student's")
      .takes(replaced(types))
      .value("TYPE");
  command.add_option("--task", o.task, "What the student is for, when its directory does not say it; see convert")
      .value("TASK");
  command.add_option("--max-tokens", o.max_tokens, "Cut texts after so many tokens (default: what the student takes)")
      .takes(between(2U, 1U << 20))
      .value("N");
  command.add_option("--texts", o.texts, "Texts without labels, a line each, for which the teacher answers alone")
      .value("FILE");
  command
      .add_option(
          "--augment", o.augment,
          "Add N copies: of joint and tag data with slot values exchanged; of texts to classify cut out and with\n"
          "words exchanged, for which the teacher answers alone")
      .takes(between(0U, 1000U))
      .value("N");
  command
      .add_option("--augment-rate", o.augment_rate,
                  "Fraction of slots or words that are exchanged there (default 0.6, of words 0.15)")
      .takes(between(0.0, 1.0))
      .value("P");
  command.add_option("--limit", o.limit, "Use the first N examples of DATA only").value("N");
  command.add_flag("--skip-bad", o.skip_bad, "Leave malformed lines out and report how many there were");
  command.add_option("--save-every", o.save_every, "Seconds between checkpoints (default 60; on slow disks more)")
      .takes(between(0.0, 86400.0))
      .value("S");
  command.add_option("--stop-after", o.stop_after, "Stop with a checkpoint after N steps; the same command goes on")
      .value("N");
  command.add_flag("--json", o.json, "Print the result as one JSON object");
}

void add_loss_options(Command& command, DistillArguments* arguments) {
  command.heading("Loss");
  train::Settings& s = arguments->options.settings;
  const auto weight = [&](const char* name, auto& target, const char* what) {
    command.add_option(name, target, what).takes(between(0.0, 1e6)).value("W");
  };
  weight("--hard", arguments->hard, "Weight of the data's labels in the loss (default 1)");
  weight("--soft", arguments->soft, "Weight of the teacher's softened outputs (default 1 with a teacher)");
  weight("--hidden", s.loss.hidden, "Weight of the teacher's hidden states (default 0)");
  weight("--attention", s.loss.attention, "Weight of the teacher's attention probabilities (default 0)");
  weight("--relation", s.loss.relation, "Weight of relations of queries, keys and values, as in MiniLM (default 0)");
  command.add_option("--temperature", s.temperature, "That softens outputs (default 2)")
      .takes(between(0.1, 100.0))
      .value("T");
  command
      .add_option("--label-smoothing", s.smoothing,
                  "Of next tokens as labels: probability that is spread over the vocabulary (default 0)")
      .takes(between(0.0, 0.99))
      .value("P");
  command.add_option("--layers", arguments->layers, "Layers to compare, STUDENT:TEACHER,... (default: evenly spread)")
      .value("PAIRS");
  command.add_option("--relation-heads", s.relation_heads, "Heads of relations (default: the student's heads)")
      .takes(between(1U, 4096U))
      .value("N");
}

void add_training_options(Command& command, train::Settings* s) {
  command.heading("Training");
  command.add_option("--epochs", s->epochs, "Passes over the data (default 3)").takes(between(1U, 1000000U)).value("N");
  command.add_option("--batch", s->batch, "Examples of one step (default 32)").takes(between(1U, 65536U)).value("N");
  command.add_option("--learning-rate", s->learning_rate, "Of AdamW, at its highest (default 5e-4)")
      .takes(between(0.0, 10.0))
      .value("R");
  command.add_option("--weight-decay", s->weight_decay, "Of AdamW, on matrices (default 0.01)")
      .takes(between(0.0, 10.0))
      .value("D");
  command.add_option("--warmup", s->warmup, "Fraction of all steps in which the rate rises (default 0.05)")
      .takes(between(0.0, 1.0))
      .value("P");
  command.add_option("--dropout", s->dropout, "Probability (default 0.1)").takes(between(0.0, 0.99)).value("P");
  command.add_option("--clip", s->clip, "Largest norm of the gradient; 0: any (default 1)")
      .takes(between(0.0, 1e9))
      .value("G");
  command.add_option("--ema", s->ema, "Decay of a moving average of the weights, such as 0.999; it is what is written")
      .takes(between(0.0, 0.999999))
      .value("D");
  command.add_option("--patience", s->patience, "Stop after N epochs without a better validation score").value("N");
  command.add_option("--seed", s->seed, "Of all chance (default 1); the same seed and threads give the same weights")
      .value("N");
  command.add_option("--threads", s->threads, "Threads (default 1)").takes(between(1U, 1024U)).value("N");
  const std::map<std::string, train::Precision> precisions = {{"f32", train::Precision::kF32},
                                                              {"bf16", train::Precision::kBf16}};
  command
      .add_option("--precision", s->precision,
                  "Of matrix products: f32 (default) or bf16, faster where the processor has it; weights stay f32")
      .takes(choices(precisions))
      .value("TYPE");
  const std::map<std::string, train::Freeze> freeze = {{"embeddings", train::Freeze::kEmbeddings},
                                                       {"encoder", train::Freeze::kEncoder}};
  command
      .add_option("--freeze", s->freeze,
                  "Leave as they are: embeddings, or encoder (all but the head; of encoder-decoders the encoder)")
      .takes(choices(freeze))
      .value("PART");
}

void add_compression_options(Command& command, train::Settings* s) {
  command.heading("Compression");
  command.add_option("--prune", s->prune.sparsity, "Fraction of zeros in the encoder's linear layers at the end")
      .value("S");
  command
      .add_option("--pattern", s->prune.pattern,
                  "1x4 (default: four inputs of an output), 4x16 (of 16 outputs), 2:4 or unstructured")
      .value("P");
  const std::map<std::string, convert::PruneScope> scopes = {{"global", convert::PruneScope::kGlobal},
                                                             {"uniform", convert::PruneScope::kUniform}};
  command
      .add_option("--prune-scope", s->prune.scope,
                  "global (default): the share is of all layers together; uniform: of each")
      .takes(choices(scopes))
      .value("SCOPE");
  const std::map<std::string, train::PruneBy> measures = {{"magnitude", train::PruneBy::kMagnitude},
                                                          {"activations", train::PruneBy::kActivations},
                                                          {"gradients", train::PruneBy::kGradients}};
  command
      .add_option("--prune-by", s->prune.by,
                  "What a weight counts: what the loss would lose with it (gradients, the default), its magnitude, or\n"
                  "that times what its input is like (activations)")
      .takes(choices(measures))
      .value("HOW");
  command.add_option("--prune-begin", s->prune.begin, "Fraction of training at which zeros begin (default 0.1)")
      .value("P");
  command.add_option("--prune-end", s->prune.end, "Fraction of training from which there are all (default 0.6)")
      .value("P");
  const std::map<std::string, train::FakeQuant> quantize = {{"int8", train::FakeQuant::kInt8},
                                                            {"int4", train::FakeQuant::kInt4}};
  command.add_option("--quantize", s->quantize, "Train for int8 or int4 weights with int8 activations")
      .takes(choices(quantize))
      .value("TYPE");
  command.add_option("--group", s->group, "int4: weights that share a scale (default 32)")
      .takes(between(4U, 65536U))
      .value("N");
  command.add_option("--quantize-begin", s->quantize_begin, "Fraction of training at which that begins (default 0)")
      .takes(between(0.0, 1.0))
      .value("P");
}

}  // namespace

void add_distill(Program& program, const std::function<void(const DistillOptions&)>& run) {
  auto arguments = std::make_shared<DistillArguments>();
  Command& command = program.add_command("distill", "Train a small model from a large one, or from labels");
  command.group(kMakeGroup);
  command.usual({"--validation", "--texts", "--hard", "--soft", "--hidden", "--epochs", "--batch", "--learning-rate",
                 "--seed", "--threads", "--json", "--prune", "--quantize"});
  command.footer(kDistillFooter);
  add_data_options(command, arguments.get());
  add_loss_options(command, arguments.get());
  add_training_options(command, &arguments->options.settings);
  add_compression_options(command, &arguments->options.settings);
  command.action([arguments, run] { run(checked(*arguments)); });
}

void run_trainer(char** argv, uint32_t threads) {
  // Libraries read these when they are loaded.
  const std::string count = fmt::format("{}", threads);
  for (const char* name : {"OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"}) setenv(name, count.c_str(), 1);
  start_beside("bantam-train", argv);
  fail(ExitCode::kUnsupported,
       "distill: this build of bantam cannot train: there is no bantam-train beside it; install libtorch "
       "(sudo apt-get install libtorch-dev libopenblas0-pthread) and build bantam again with -DBANTAM_TRAIN=ON");
}

}  // namespace bantam::cli
