// run, classify, choose, tag, answer, embed, fill, similar: their options and help.
#include "cli/answer/run.h"

#include <memory>
#include <string_view>

#include "cli/answer/pairs.h"
#include "cli/commands.h"
#include "cli/frame/command.h"
#include "cli/frame/errors.h"
#include "data/text_source.h"

namespace bantam::cli {
namespace {

/// The arguments that a command takes besides texts, --strict, --json and the engine's options.
enum Takes : unsigned {
  kPair = 1u << 0,
  kQuestion = 1u << 1,
  kTop = 1u << 2,
  kStride = 1u << 3,
  kBatch = 1u << 4,
  kTime = 1u << 5,
  kRaw = 1u << 6,
  kIds = 1u << 7,
  kOffsets = 1u << 8,
  kVectors = 1u << 9,
  kZeroShot = 1u << 10,
  kLabels = 1u << 11,
};

struct Variant {
  const char* name;
  const char* summary;
  uint32_t parts;  // the parts that the command prints
  unsigned takes;
  const char* examples;
};

constexpr Variant kVariants[] = {
    {"run", "Answer texts with the model's own task", ~0u,
     kPair | kQuestion | kTop | kStride | kBatch | kTime | kRaw | kIds | kOffsets | kLabels,
     "  bantam run voice.bantam \"play some jazz by miles davis\"\n"
     "  # not for this model: it says so\n"
     "  bantam run voice.bantam \"turn off the lights\"\n"
     "  bantam run voice.bantam --batch 8 --json < lines.txt\n"
     "  bantam run qa.bantam --question \"Who wrote it?\" --context \"Jane Austen wrote it.\"\n"
     "  bantam run voice.bantam --ids 2,2368,3 --raw\n"
     "  # answer as the firmware would\n"
     "  bantam run voice.bantam --uart < lines.txt"},
    {"classify", "Classify texts or pairs of texts", kLabelsPart | kFollowsPart,
     kPair | kTop | kStride | kBatch | kTime | kRaw | kZeroShot,
     "  bantam classify sentiment.bantam \"a joy to watch\" --top 2\n"
     "  bantam classify nli.bantam \"A man sleeps.\" --pair \"A man is awake.\"\n"
     "  bantam classify sentiment.bantam --file lines.txt --stride 32 --json\n"
     "  # your own labels, with an inference (NLI) model\n"
     "  bantam classify nli.bantam \"wake me at seven\" --labels music,alarms,weather --entailment LABEL_0\n"
     "  # ... or for an image, with CLIP's two towers\n"
     "  bantam classify clip-vision.bantam cat.jpg --labels cat,dog --label-model clip-text.bantam"},
    {"choose", "Choose the best continuation of a text", kChoicePart, kPair | kTime | kRaw,
     "  bantam choose swag.bantam \"She opened the door and\" --pair \"walked in.\" --pair \"ate it.\""},
    {"tag", "Find entities or slots and their positions", kWordsPart | kFoundPart,
     kOffsets | kStride | kBatch | kTime | kRaw | kLabels,
     "  bantam tag ner.bantam \"Ada Lovelace lived in London\" --json\n"
     "  # positions as Python counts them\n"
     "  bantam tag ner.bantam \"Zo\xc3\xab lived in London\" --offsets chars --json\n"
     "  bantam tag ner.bantam --file lines.txt --stride 8\n"
     "  # your own labels, with a GLiNER model\n"
     "  bantam tag gliner.bantam \"Ada Lovelace lived in London\" --labels person,city"},
    {"answer", "Answer a question from a context", kSpanPart, kOffsets | kQuestion | kStride | kBatch | kTime | kRaw,
     "  bantam answer qa.bantam --question \"Who wrote it?\" --context \"Jane Austen wrote it.\"\n"
     "  bantam answer qa.bantam --context \"Jane Austen wrote it.\" < questions.txt\n"
     "  bantam answer qa.bantam --file lines.txt --question \"Who wrote it?\" --stride 8"},
    {"embed", "Turn texts into vectors or weighted terms", kVectorPart | kTermsPart | kTokenVectorsPart,
     kVectors | kBatch | kTime | kRaw,
     "  bantam embed minilm.bantam \"a sentence\" --json\n"
     "  bantam embed minilm.bantam --batch 16 --json < lines.txt\n"
     "  # one row per line, for numpy.load\n"
     "  bantam embed minilm.bantam --batch 16 --output vectors.npy < lines.txt\n"
     "  # terms and their weights, from a SPLADE model\n"
     "  bantam embed splade.bantam \"a sentence\" --json\n"
     "  # one vector per token of a query\n"
     "  bantam embed colbert.bantam --query \"a sentence\" --json"},
    {"fill", "Predict the words at [MASK]", kMasksPart, kTop | kBatch | kTime | kRaw,
     "  bantam fill bert.bantam \"Paris is the [MASK] of France.\" --top 3"},
    {"similar", "Compare texts by their embeddings", kVectorPart, kPair,
     "  # compare the first text with each other one\n"
     "  bantam similar minilm.bantam \"a cat\" \"a kitten\" \"a car\"\n"
     "  # compare each line with the --pair text\n"
     "  bantam similar minilm.bantam - --pair \"a cat\" < lines.txt"},
};

void add_input_options(Command& command, const Variant& variant, RunOptions* options) {
  command.add_option("FILE", options->model, "FILE.bantam", "A .bantam file").required();
  command.add_texts("TEXT", &options->texts, "Texts; if none or -, read standard input, one per line");
  command.add_option("--file", options->file, "FILE",
                     "Read texts from this file, one per line; of JSON lines and tables, the \"text\" of each record, "
                     "and its \"entities\" if the model takes them; gzip too");
  if (variant.takes & kPair) {
    const bool choose = variant.parts == kChoicePart;
    const char* what = choose ? "A continuation; give one --pair for each"
                              : "Second text of a pair; in multiple choice, give one for each choice";
    const bool similar = std::string_view(variant.name) == "similar";
    command.add_texts("--pair", &options->pairs, similar ? "Text to compare with every TEXT" : what);
  }
  if (variant.takes & kQuestion) {
    command.add_text("--question", &options->question, "Question; every TEXT is then a context");
    command.add_text("--context", &options->context, "Context; every TEXT is then a question");
  }
  if (variant.takes & kIds) {
    command.add_option("--ids", options->ids, "IDS",
                       "Token ids instead of text, such as 101,2054,102; prints like --raw");
    command.add_option("--decoder-ids", options->decoder_ids, "IDS",
                       "With --ids, encoder-decoders: ids for the decoder (default: the id that begins texts, then "
                       "--ids without the last one)");
    command.add_option(
        "--segments", options->segments, "SEGMENTS",
        "Segment of each id, such as 0,0,1 (default: all 0; Big Bird's answers: 1 behind the separator)");
    command.add_option(
        "--marks", options->marks, "MARKS",
        "With --ids: mark of each id, such as 0,7,0; in models with entities, the number of the entity (0: none)");
    command.add_flag("--uart", options->uart,
                     "Answer lines of standard input as an image from `bantam firmware` answers its UART");
    command.add_flag(
        "--frame", options->frame,
        "Image and sound models: print the pixels or samples of each file, as --uart and a device read them");
    command.add_option("--max-tokens", options->engine.max_tokens, "N", "With --uart: the image's --max-tokens");
  }
  if (variant.takes & kStride) {
    command.add_option(
        "--stride", options->stride, "N",
        "Read long texts in overlapping windows; neighbouring windows share N tokens (classify, tag, answer)");
  }
  command.add_flag("--strict", options->strict, "Fail (exit 4) instead of truncating a text");
}

void add_zero_shot_options(Command& command, ZeroShot* asked) {
  command
      .add_option("--labels", asked->labels, "A,B,C",
                  "Your own labels, for a natural language inference model (how strongly the text entails "
                  "each), or with --label-model")
      .separated_by(',');
  command.add_option(
      "--hypothesis", asked->hypothesis, "TEXT",
      "With --labels: the hypothesis, with two braces for the label (default: \"This example is\" and the label)");
  command.add_option(
      "--label-model", asked->label_model, "FILE",
      "With --labels: text model that belongs to FILE, such as that of CLIP or SigLIP for images; "
      "labels are scored by how near their vectors are to FILE's (--hypothesis: \"a photo of a\" and the label)");
  command.add_option("--entailment", asked->entailment, "LABEL",
                     "With --labels: the model's label that means entailment");
  command.add_flag("--several", asked->several, "With --labels: several labels may apply; score each one separately");
}

void add_find_options(Command& command, RunOptions* options) {
  command
      .add_option("--labels", options->labels, "A,B,C",
                  "Names of what to find, in your own words, for models that take labels (GLiNER)")
      .separated_by(',');
  command.add_option("--threshold", options->find.threshold, "P",
                     "With --labels: find spans whose probability is over P (default: the file's setting)",
                     between(0.0, 1.0));
  command.add_flag("--nested", options->find.nested, "With --labels: allow spans inside other spans");
  command.add_flag("--several", options->find.several, "With --labels: allow several labels per span");
}

void add_output_options(Command& command, const Variant& variant, RunOptions* options) {
  if (variant.takes & kTop) {
    command.add_option("--top", options->top, "N", "Print at most N labels or candidates (default 5; 0: all)");
  }
  command.add_flag("--json", options->json, "Print one JSON object per line");
  if (variant.takes & kTime) {
    command.add_flag("--time", options->time, "Also print the milliseconds of each answer (or of its batch)");
  }
  if (variant.takes & kOffsets) {
    command.add_option("--offsets", options->offsets, "UNIT",
                       "Unit of positions in a text: bytes (default), chars (code points, as in Python) or utf16 "
                       "(as in JavaScript and Java)",
                       position_units());
  }
  if (variant.takes & kVectors) {
    command.add_option("-o,--output", options->output, "FILE.npy",
                       "Write the vectors to this file, one f32 row per text, for numpy.load");
    command.add_flag("--query", options->query, "Treat texts as queries: add the file's prompt for queries");
    command.add_flag("--document", options->document, "Treat texts as documents: add the file's prompt for documents");
    command.add_option("--truncate-dim", options->truncate_dim, "N",
                       "Keep only the first N numbers of each vector (Matryoshka models)", between(1, 1 << 16));
  }
  if (variant.takes & kRaw) command.add_flag("--raw", options->raw, "Print all outputs of the graph as JSON");
}

/// Refuses options that contradict each other.
void refuse_if(bool wrong, const char* message) {
  if (wrong) fail(ExitCode::kUsage, "{}", message);
}

void add_variant(Program& program, const Variant& variant) {
  Command& command = program.add_command(variant.name, variant.summary, kAnswerGroup);
  auto options = std::make_shared<RunOptions>();
  options->command = variant.name;
  command.heading("Input");
  add_input_options(command, variant, options.get());
  auto zero_shot = std::make_shared<ZeroShot>();
  if (variant.takes & kZeroShot) add_zero_shot_options(command, zero_shot.get());
  if (variant.takes & kLabels) {
    add_aggregation_option(command, &options->aggregation);
    add_find_options(command, options.get());
  }
  command.heading("Output");
  add_output_options(command, variant, options.get());
  command.heading("Running");
  if (variant.takes & kBatch) {
    command.add_option(
        "--batch", options->batch, "N",
        "Texts per forward pass (default: for files and pipes as many as fill the threads' tiles, else 1)",
        between(1, 4096));
  }
  add_engine_options(command, &options->engine);
  command.usual({"--file", "--pair", "--question", "--context", "--labels", "--stride", "--strict", "--top", "--json",
                 "--offsets", "--batch", "--threads"});
  command.footer(std::string("Examples:\n") + variant.examples);
  command.action([options, variant, zero_shot] {
    options->engine.batch = options->batch.value_or(1);
    const bool ids = !options->ids.empty();
    refuse_if(!ids && !options->segments.empty(), "--segments: goes with --ids only; leave it out");
    refuse_if(!ids && !options->marks.empty(), "--marks: goes with --ids only; leave it out");
    refuse_if(ids && (!options->texts.empty() || !options->file.empty()),
              "--ids: goes without texts; leave out the text or --ids");
    const FindOptions& find = options->find;
    refuse_if(options->labels.empty() && (find.threshold != 0 || find.nested || find.several),
              "--labels: missing; --threshold, --nested and --several go with it");
    refuse_if(!options->labels.empty() && (ids || options->uart || options->stride),
              "--labels: goes without --ids, --uart and --stride");
    refuse_if(options->aggregation != Aggregation::kFile && (ids || options->uart),
              "--aggregation: goes without --ids and --uart");
    bool texts = !options->texts.empty() || !options->file.empty();
    refuse_if(options->uart && (ids || texts), "--uart: reads standard input only; leave out the rest");
    refuse_if(!options->uart && options->engine.max_tokens != 0, "--max-tokens: goes with --uart only");
    texts = texts || ids || options->uart || (options->question && options->context);
    if (!texts && convert::input_is_given()) options->texts = {"-"};
    const bool judges = zero_shot->several || !zero_shot->entailment.empty();
    refuse_if(
        zero_shot->labels.empty() && (judges || !zero_shot->hypothesis.empty() || !zero_shot->label_model.empty()),
        "--labels: missing; --hypothesis, --entailment, --several and --label-model go with it");
    refuse_if(judges && !zero_shot->label_model.empty(), "--label-model: goes without --entailment and --several");
    refuse_if(
        !zero_shot->labels.empty() && (options->raw || options->time || options->stride || !options->pairs.empty()),
        "--labels: goes without --pair, --stride, --time and --raw");
    if (!zero_shot->labels.empty()) {
      zero_shot->label_model.empty() ? run_zero_shot(*options, *zero_shot) : run_two_towers(*options, *zero_shot);
    } else if (options->frame) {
      refuse_if(options->uart || ids || options->raw || options->json || options->time || !options->pairs.empty(),
                "--frame: prints pixels and takes images alone; leave out the rest");
      run_frames(*options);
    } else if (options->uart) {
      run_uart(*options);
    } else if (ids) {
      run_ids(*options);
    } else if (options->command == "similar") {
      run_similar(*options);
    } else {
      refuse_if(!options->output.empty() && (options->json || options->raw || options->time),
                "--output: goes without --json, --raw and --time");
      run_texts(*options, variant.parts);
    }
  });
}

}  // namespace

const char* command_for(uint32_t parts) {
  for (const Variant& variant : kVariants) {
    if (parts != 0 && variant.parts != ~0u && (parts & ~variant.parts) == 0) return variant.name;
  }
  return kVariants[0].name;
}

bool fits_command(const std::string& command, uint32_t parts) {
  for (const Variant& variant : kVariants) {
    if (command == variant.name) return (variant.parts & parts) != 0;
  }
  return false;
}

void add_run(Program& program) {
  for (const Variant& variant : kVariants) add_variant(program, variant);
}

}  // namespace bantam::cli
