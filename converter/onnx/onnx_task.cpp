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

bool ends_in_sigmoid(const std::vector<Block>& blocks, int32_t id) {
  const Block& block = blocks[static_cast<size_t>(id)];
  return block.kind == Block::Kind::kStage && block.stage.kind == Stage::Kind::kActivation &&
         block.stage.activation == fb::ActivationKind::sigmoid;
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
    output.block = lowering.output(port.name, &output.squeezed, &output.ending);
    if (output.block < 0 || !seen.insert(port.name).second) continue;
    if (model.chosen_output.empty() || port.name == model.chosen_output) outputs.push_back(std::move(output));
  }
  if (outputs.empty() && !seen.empty()) {
    std::string all;
    for (const std::string& name : seen) all += fmt::format("{}\"{}\"", all.empty() ? "" : ", ", name);
    throw Error(ExitCode::kUsage,
                fmt::format("{}: has no output \"{}\", which --graph-output names; those that are read: {}",
                            model.path.string(), model.chosen_output, all));
  }
  if (!outputs.empty()) return outputs;
  throw Error(ExitCode::kUnsupported,
              fmt::format("{}: none of its outputs are rows of tokens or texts", model.path.string()));
}

/// Numbers as they are, of every output.
Choice all_of(const Outputs& outputs, const std::string& file) {
  for (const Output& output : outputs) {
    if (output.ending.empty()) continue;
    throw Error(ExitCode::kUnsupported,
                fmt::format("{}: output \"{}\" is what {} gives, which tasks make of what is in front of it; --task "
                            "classify or tag reads it",
                            file, output.name, output.ending));
  }
  Choice choice;
  choice.outputs = outputs;
  return choice;
}

Choice choose(const Outputs& outputs, const ImportOptions& options, const Fields& config,
              const std::vector<Block>& blocks, const std::string& file) {
  Choice choice;
  const auto at = [&](const Output& output) -> const Block& { return blocks[static_cast<size_t>(output.block)]; };
  const Output *begin = named(outputs, {"start_logits"}), *end = named(outputs, {"end_logits"});
  const bool asked = !options.task.empty();
  const fb::TaskKind task = asked ? parse_head(options.task) : fb::TaskKind::none;
  if (asked && task == fb::TaskKind::none) return all_of(outputs, file);
  if (begin != nullptr && end != nullptr && (!asked || task == fb::TaskKind::answer)) {
    choice.task = fb::TaskKind::answer;
    choice.outputs = {*begin, *end};
    return choice;
  }
  const Output* first =
      named(outputs, {"sentence_embedding", "logits", "prediction_logits", "last_hidden_state", "token_embeddings"});
  const bool usual = first != nullptr;
  if (first == nullptr) first = &outputs.front();
  const Block& block = at(*first);
  choice.outputs = {*first};
  if (!usual && (!asked || task != fb::TaskKind::none) && outputs.size() > 1) {
    std::string heads;
    size_t count = 0;
    for (const Output& output : outputs) {
      if (!has_head(blocks, output.block)) continue;
      heads += fmt::format("{}\"{}\"", heads.empty() ? "" : ", ", output.name);
      ++count;
    }
    if (count > 1) {
      throw Error(
          ExitCode::kUnsupported,
          fmt::format("{}: its outputs {} are answers of several tasks; choose one with --graph-output NAME, or "
                      "keep all numbers with --task encoder",
                      file, heads));
    }
  }
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
  const bool softmax = !first->ending.empty(), sigmoid = ends_in_sigmoid(blocks, first->block);
  if (softmax && !block.of_tokens) choice.task = fb::TaskKind::classify;
  if (sigmoid && choice.task == fb::TaskKind::classify && config.text("problem_type", "").empty()) {
    choice.task = fb::TaskKind::multi_label;
  }
  if (asked) choice.task = task;
  // Tasks make probabilities of what is in front of them.
  if (sigmoid && choice.task == fb::TaskKind::multi_label) {
    choice.outputs.front().block = blocks[static_cast<size_t>(first->block)].inputs[0];
  }
  const bool probabilities = choice.task == fb::TaskKind::classify || choice.task == fb::TaskKind::tag ||
                             choice.task == fb::TaskKind::fill || choice.task == fb::TaskKind::generate;
  if (softmax && !probabilities) {
    throw Error(ExitCode::kUnsupported,
                fmt::format("{}: output \"{}\" is what {} gives, probabilities of which one is right: --task classify "
                            "reads it",
                            file, first->name, first->ending));
  }
  if (softmax)
    choice.notes.push_back(fmt::format("{} at the end is left out: raw outputs are in front of it", first->ending));
  if (outputs.size() > 1 && choice.task != fb::TaskKind::none) {
    std::string others;
    for (const Output& output : outputs) {
      if (output.name != first->name) others += fmt::format("{}\"{}\"", others.empty() ? "" : ", ", output.name);
    }
    choice.notes.push_back(
        fmt::format("the file gives output \"{}\"; --graph-output takes another: {}", first->name, others));
  }
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
