// distill: declares and checks the command's options; cli/train_main.cpp does the work.
#include "cli/distill.h"

#include <unistd.h>

#include <charconv>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <optional>

#include "cli/answer/beside.h"
#include "cli/commands.h"
#include "cli/frame/command.h"
#include "cli/frame/errors.h"

namespace bantam::cli {
namespace {

constexpr const char* kDistillFooter =
    "Without --teacher, distill fine-tunes on labels only. DATA has the fields of `bantam eval`: "
    "text + label or labels, text_a + text_b + label or score, text + intent + tokens + slots, "
    "tokens + tags; for encoder-decoders src + tgt; for decoders texts, one per line. After an "
    "interruption, the same command resumes from the checkpoint in DIR and ends with the same weights.\n\n"
    "Examples:\n"
    "  bantam distill --teacher big --student small --data train.jsonl --validation valid.jsonl "
    "-o trained --epochs 20\n"
    "  bantam distill --student model --data train.jsonl -o tuned --freeze encoder\n"
    "  bantam distill --teacher marian --student marian-6-3 --data pairs.jsonl -o translator --freeze encoder\n"
    "  bantam distill --teacher big --student small --data train.jsonl -o sparse --prune 0.8 "
    "--pattern 1x4 --quantize int8";

struct DistillArguments {
  train::DistillOptions options;
  bool json = false;
  std::optional<double> hard, soft;
  std::string layers;
};

/// Parses "1:2,2:4": pairs of a student's layer and a teacher's layer.
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

train::DistillOptions checked(const DistillArguments& arguments) {
  train::DistillOptions options = arguments.options;
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
  train::DistillOptions& o = arguments->options;
  command.add_option("--teacher", o.teacher, "DIR", "Directory of the model to learn from");
  command
      .add_option("--student", o.student, "DIR|RECIPE",
                  "Directory of the model to train, or a recipe for making it from the teacher (docs/students.md)")
      .required();
  command
      .add_option("--data", o.data, "FILE",
                  "Training examples, one JSON object per line (decoders: or one text per line)")
      .required();
  command.add_option("--validation", o.validation, "FILE",
                     "Validation examples, for choosing the best epoch; never used for training");
  command
      .add_option("-o,--output", o.output, "DIR",
                  "Output directory for the model, the training curve and, while training, a checkpoint")
      .required();
  command.add_option("--save-as", o.dtype, "TYPE",
                     "Type of the stored weights: f32 (default), f16, or source (as in the student)",
                     replaced({{"f32", "F32"}, {"f16", "F16"}, {"source", ""}}));
  command.add_option("--task", o.task, "TASK", "Task of the student, if its directory does not state it; see convert");
  command.add_option("--max-tokens", o.max_tokens, "N", "Cut texts after N tokens (default: the student's maximum)",
                     between(2U, 1U << 20));
  command.add_option("--texts", o.texts, "FILE", "Texts without labels, one per line; only the teacher labels them");
  command.add_option("--augment", o.augment, "N",
                     "Add N varied copies. Joint and tag data: with slot values exchanged; texts to classify: "
                     "cut, mixed and with words exchanged, labelled by the teacher only",
                     between(0U, 1000U));
  command.add_option("--augment-rate", o.augment_rate, "P",
                     "Fraction of slots or words to exchange with --augment (default: slots 0.6, words 0.15)",
                     between(0.0, 1.0));
  command.add_option("--limit", o.limit, "N", "Use only the first N examples of DATA");
  command.add_flag("--skip-bad", o.skip_bad, "Skip malformed lines and report their number");
  command.add_option("--save-every", o.save_every, "S",
                     "Seconds between checkpoints (default 60; longer on slow disks)", between(0.0, 86400.0));
  command.add_option("--stop-after", o.stop_after, "N",
                     "Stop with a checkpoint after N steps; the same command continues from there");
  command.add_flag("--json", arguments->json, "Print the result as one JSON object");
}

void add_loss_options(Command& command, DistillArguments* arguments) {
  command.heading("Loss");
  train::Settings& s = arguments->options.settings;
  const auto weight = [&](const char* name, auto& target, const char* what) {
    command.add_option(name, target, "W", what, between(0.0, 1e6));
  };
  weight("--hard", arguments->hard, "Weight of the data's labels in the loss (default 1)");
  weight("--soft", arguments->soft, "Weight of the teacher's softened outputs in the loss (default 1 with a teacher)");
  weight("--hidden", s.loss.hidden, "Weight of the teacher's hidden states in the loss (default 0)");
  weight("--attention", s.loss.attention, "Weight of the teacher's attention probabilities in the loss (default 0)");
  weight("--relation", s.loss.relation,
         "Weight of the relations of queries, keys and values in the loss, as in MiniLM (default 0)");
  command.add_option("--temperature", s.temperature, "T", "Temperature that softens the outputs (default 2)",
                     between(0.1, 100.0));
  command.add_option("--label-smoothing", s.smoothing, "P",
                     "Next-token labels: probability spread over the vocabulary (default 0)", between(0.0, 0.99));
  command.add_option("--layers", arguments->layers, "PAIRS",
                     "Pairs of layers to compare: STUDENT:TEACHER,... (default: evenly spread)");
  command.add_option("--relation-heads", s.relation_heads, "N",
                     "Number of heads for --relation (default: the student's heads)", between(1U, 4096U));
}

void add_training_options(Command& command, train::Settings* s) {
  command.heading("Training");
  command.add_option("--epochs", s->epochs, "N", "Passes over the data (default 3)", between(1U, 1000000U));
  command.add_option("--batch", s->batch, "N", "Examples per step (default 32)", between(1U, 65536U));
  command.add_option("--learning-rate", s->learning_rate, "R", "Peak learning rate of AdamW (default 5e-4)",
                     between(0.0, 10.0));
  command.add_option("--weight-decay", s->weight_decay, "D", "Weight decay of AdamW, for matrices (default 0.01)",
                     between(0.0, 10.0));
  command.add_option("--warmup", s->warmup, "P",
                     "Fraction of all steps in which the learning rate rises (default 0.05)", between(0.0, 1.0));
  command.add_option("--dropout", s->dropout, "P", "Dropout probability (default 0.1)", between(0.0, 0.99));
  command.add_option("--clip", s->clip, "G", "Maximum norm of the gradient (default 1; 0: no limit)",
                     between(0.0, 1e9));
  command.add_option("--ema", s->ema, "D", "Write a moving average of the weights with this decay, such as 0.999",
                     between(0.0, 0.999999));
  command.add_option("--patience", s->patience, "N", "Stop after N epochs without a better validation score");
  command.add_option("--seed", s->seed, "N",
                     "Random seed (default 1); the same seed and threads give the same weights");
  command.add_option("--threads", s->threads, "N", "Number of threads (default 1)", between(1U, 1024U));
  command.add_option("--precision", s->precision, "TYPE",
                     "Precision of matrix products: f32 (default), or bf16, which is faster on processors that "
                     "support it; weights stay f32",
                     choices<train::Precision>({{"f32", train::Precision::kF32}, {"bf16", train::Precision::kBf16}}));
  command.add_option(
      "--freeze", s->freeze, "PART",
      "Keep parts unchanged: embeddings, or encoder (everything but the head; in encoder-decoders, the encoder)",
      choices<train::Freeze>({{"embeddings", train::Freeze::kEmbeddings}, {"encoder", train::Freeze::kEncoder}}));
}

void add_compression_options(Command& command, train::Settings* s) {
  command.heading("Compression");
  command.add_option("--prune", s->prune.sparsity, "S", "Fraction of zeros to reach in the encoder's linear layers");
  command.add_option("--pattern", s->prune.pattern, "P",
                     "Weights that become 0 together: 1x4 (default; four inputs of one output), 4x16 (of 16 "
                     "outputs), 2:4 or unstructured");
  command.add_option("--prune-scope", s->prune.scope, "SCOPE",
                     "global (default): the fraction applies to all layers together; uniform: to each layer",
                     choices<convert::PruneScope>(
                         {{"global", convert::PruneScope::kGlobal}, {"uniform", convert::PruneScope::kUniform}}));
  command.add_option("--prune-by", s->prune.by, "HOW",
                     "How to rank weights: gradients (default: how much the loss would change without the "
                     "weight), magnitude, or activations (magnitude times a measure of the weight's input)",
                     choices<train::PruneBy>({{"magnitude", train::PruneBy::kMagnitude},
                                              {"activations", train::PruneBy::kActivations},
                                              {"gradients", train::PruneBy::kGradients}}));
  command.add_option("--prune-begin", s->prune.begin, "P", "Fraction of training at which zeros begin (default 0.1)");
  command.add_option("--prune-end", s->prune.end, "P", "Fraction of training at which all zeros are set (default 0.6)");
  command.add_option("--quantize", s->quantize, "TYPE", "Train for int8 or int4 weights with int8 activations",
                     choices<train::FakeQuant>({{"int8", train::FakeQuant::kInt8}, {"int4", train::FakeQuant::kInt4}}));
  command.add_option("--group", s->group, "N", "int4: number of weights that share a scale (default 32)",
                     between(4U, 65536U));
  command.add_option("--quantize-begin", s->quantize_begin, "P",
                     "Fraction of training at which quantization begins (default 0)", between(0.0, 1.0));
}

}  // namespace

void add_distill(Program& program, const RunDistill& run) {
  auto arguments = std::make_shared<DistillArguments>();
  Command& command = program.add_command("distill", "Train a small model from a large one, or from labels", kMakeGroup);
  command.usual({"--teacher", "--validation", "--texts", "--soft", "--epochs", "--batch", "--learning-rate", "--seed",
                 "--threads", "--json", "--prune", "--quantize"});
  command.footer(kDistillFooter);
  add_data_options(command, arguments.get());
  add_loss_options(command, arguments.get());
  add_training_options(command, &arguments->options.settings);
  add_compression_options(command, &arguments->options.settings);
  command.action([arguments, run] { run(checked(*arguments), arguments->json); });
}

void run_trainer(char** argv, uint32_t threads) {
  // The libraries read these variables when they are loaded.
  const std::string count = fmt::format("{}", threads);
  for (const char* name : {"OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"}) setenv(name, count.c_str(), 1);
  start_beside("bantam-train", argv);
  fail(ExitCode::kUnsupported,
       "distill: this build of bantam cannot train: there is no bantam-train beside it; install libtorch "
       "(sudo apt-get install libtorch-dev libopenblas0-pthread) and build bantam again with -DBANTAM_TRAIN=ON");
}

}  // namespace bantam::cli
