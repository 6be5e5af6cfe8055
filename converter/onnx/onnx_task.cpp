#include "onnx/onnx_task.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <set>
#include <utility>

#include "base/error.h"
#include "network/blocks/vectors.h"
#include "network/heads.h"
#include "source/labels.h"

namespace bantam::convert::onnx {
namespace {

bool contains(const std::string& text, const char* part) { return text.find(part) != std::string::npos; }

std::string architecture(const Fields& config) {
  if (!config.has("architectures") || !config.raw("architectures").is_array() || config.raw("architectures").empty())
    return "";
  const Json& first = config.raw("architectures").front();
  return first.is_string() ? first.get<std::string>() : "";
}

const Output* named(const Outputs& outputs, std::initializer_list<const char*> names) {
  for (const char* name : names) {
    for (const Output& output : outputs) {
      if (output.name == name) return &output;
    }
  }
  return nullptr;
}

/// Is there a linear layer behind the last norm of the layers?
bool has_head(const std::vector<Block>& blocks, int32_t id) {
  while (true) {
    const Block& block = blocks[static_cast<size_t>(id)];
    if (block.kind == Block::Kind::kLinear) return true;
    if (block.inputs.empty() || block.kind == Block::Kind::kAdd || block.kind == Block::Kind::kRecurrent) return false;
    if (block.kind == Block::Kind::kStage && block.stage.kind == Stage::Kind::kNorm) {
      // A head may have a norm of its own.
      const Block& before = blocks[static_cast<size_t>(block.inputs[0])];
      if (before.kind == Block::Kind::kAdd || before.kind == Block::Kind::kLinear) return false;
    }
    id = block.inputs[0];
  }
}

fb::TaskKind sequence_task(const Fields& config, uint32_t columns) {
  const std::string type = config.text("problem_type", "");
  if (type == "regression") return fb::TaskKind::regress;
  if (type == "multi_label_classification") return fb::TaskKind::multi_label;
  return type.empty() && columns == 1 ? fb::TaskKind::regress : fb::TaskKind::classify;
}

}  // namespace

Outputs read_outputs(const Model& model, Lowering& lowering) {
  Outputs outputs;
  std::set<std::string> seen;
  for (const Port& port : model.graph.outputs) {
    Output output;
    output.name = port.name;
    output.block = lowering.output(port.name, &output.squeezed);
    if (output.block >= 0 && seen.insert(port.name).second) outputs.push_back(std::move(output));
  }
  if (!outputs.empty()) return outputs;
  throw Error(ExitCode::kUnsupported,
              fmt::format("{}: none of its outputs are rows of tokens or texts", model.path.string()));
}

Choice choose(const Outputs& outputs, const ImportOptions& options, const Fields& config,
              const std::vector<Block>& blocks, const std::string& file) {
  Choice choice;
  const auto at = [&](const Output& output) -> const Block& { return blocks[static_cast<size_t>(output.block)]; };
  const Output *begin = named(outputs, {"start_logits"}), *end = named(outputs, {"end_logits"});
  const bool asked = !options.task.empty();
  const fb::TaskKind task = asked ? parse_head(options.task) : fb::TaskKind::none;
  if (begin != nullptr && end != nullptr && (!asked || task == fb::TaskKind::answer)) {
    choice.task = fb::TaskKind::answer;
    choice.outputs = {*begin, *end};
    return choice;
  }
  const Output* first =
      named(outputs, {"sentence_embedding", "logits", "prediction_logits", "last_hidden_state", "token_embeddings"});
  if (first == nullptr) first = &outputs.front();
  const Block& block = at(*first);
  choice.outputs = {*first};
  const bool head = has_head(blocks, first->block);
  bool causal = false;
  uint32_t vocabulary = 0;
  for (const Block& any : blocks) {
    causal = causal || any.mask == fb::MaskKind::causal;
    if (any.kind == Block::Kind::kEmbed && any.index == fb::IndexSource::ids) {
      vocabulary = std::max(vocabulary, static_cast<uint32_t>(any.weight.dims()[0]));
    }
  }
  if (block.of_tokens) {
    const bool words = block.columns == vocabulary;
    choice.task = !head             ? fb::TaskKind::embed
                  : words && causal ? fb::TaskKind::generate
                  : words           ? fb::TaskKind::fill
                                    : fb::TaskKind::tag;
  } else {
    const std::string of = architecture(config);
    const bool labels =
        first->name == "logits" || contains(of, "ForSequenceClassification") || contains(of, "CrossEncoder");
    const bool vector = contains(first->name, "embedding") || (!head && !labels);
    choice.task = vector ? fb::TaskKind::embed : sequence_task(config, block.columns);
  }
  if (asked) choice.task = task;
  const auto fits = [&] {
    switch (choice.task) {
      case fb::TaskKind::none:
      case fb::TaskKind::embed:
        return true;
      case fb::TaskKind::classify:
      case fb::TaskKind::multi_label:
      case fb::TaskKind::regress:
        return !block.of_tokens;
      case fb::TaskKind::tag:
        return block.of_tokens && !first->squeezed;
      case fb::TaskKind::fill:
      case fb::TaskKind::generate:
        return block.of_tokens && block.columns == vocabulary;
      default:
        return false;
    }
  };
  if (!fits()) {
    throw Error(
        ExitCode::kUnsupported,
        fmt::format("{}: output \"{}\" ({} columns for each {}) is not that of the task {}; --task NAME says another",
                    file, first->name, block.columns, block.of_tokens ? "token" : "text",
                    fb::EnumNameTaskKind(choice.task)));
  }
  choice.pools = choice.task == fb::TaskKind::embed && block.of_tokens;
  if (choice.task == fb::TaskKind::none) choice.outputs = outputs;
  return choice;
}

void add_task(const Choice& choice, const Emitted& emitted, const ModelSource& source, const ImportOptions& options,
              const Fields& config, Problems& problems, Graph& graph, Builder& builder, SentencePooling* pooling) {
  auto task = std::make_unique<fb::TaskT>();
  task->kind = choice.task;
  builder.enter(fb::Part::head);
  const auto tensor = [&](const Output& output) { return emitted.tensors.at(output.block); };
  const Output& first = choice.outputs.front();
  const auto labelled = [&](fb::OutputRole role, bool tags) {
    auto set = std::make_unique<fb::LabelSetT>();
    const uint32_t columns = builder.width(tensor(first));
    set->labels = read_labels(config, columns);
    if (tags) {
      set->scheme = options.tag_scheme.empty() ? guess_tag_scheme(set->labels) : parse_tag_scheme(options.tag_scheme);
    }
    set->output = builder.output("logits", role, tensor(first));
    task->label_sets.push_back(std::move(set));
  };
  switch (choice.task) {
    case fb::TaskKind::answer:
      builder.output("start_logits", fb::OutputRole::begin, tensor(choice.outputs[0]), true);
      builder.output("end_logits", fb::OutputRole::end, tensor(choice.outputs[1]), true);
      break;
    case fb::TaskKind::classify:
    case fb::TaskKind::multi_label:
    case fb::TaskKind::regress:
      labelled(fb::OutputRole::labels, false);
      break;
    case fb::TaskKind::tag:
      labelled(fb::OutputRole::tags, true);
      break;
    case fb::TaskKind::fill:
      builder.output("logits", fb::OutputRole::words, tensor(first));
      break;
    case fb::TaskKind::generate:
      builder.output("logits", fb::OutputRole::next_words, tensor(first));
      break;
    case fb::TaskKind::embed: {
      int32_t x = tensor(first);
      if (choice.pools) {
        *pooling = read_sentence_pooling(source, builder.width(x), problems, graph.notes);
        problems.raise();
        x = add_pooled_vector(builder, x, *pooling);
      }
      task->prompt = pooling->prompt;
      builder.output("sentence_embedding", fb::OutputRole::embedding, x);
      break;
    }
    default:
      for (const Output& output : choice.outputs) {
        builder.output(output.name, fb::OutputRole::none, tensor(output), output.squeezed);
      }
  }
  graph.model.task = std::move(task);
}

}  // namespace bantam::convert::onnx
