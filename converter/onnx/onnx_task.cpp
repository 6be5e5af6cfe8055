#include "onnx/onnx_task.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <set>
#include <utility>

#include "base/error.h"
#include "graph/task_parts.h"
#include "network/blocks/vectors.h"
#include "network/heads.h"
#include "network/record_source.h"
#include "network/task_outputs.h"
#include "source/label_sets.h"
#include "source/labels.h"
#include "source/token_vectors.h"

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

/// Returns true if a linear layer follows the last norm of the layers.
bool has_head(const std::vector<Block>& blocks, int32_t id) {
  while (true) {
    const Block& block = blocks[static_cast<size_t>(id)];
    if (block.kind == Block::Kind::kLinear) return true;
    if (block.inputs.empty() || block.kind == Block::Kind::kAdd || block.kind == Block::Kind::kRecurrent) return false;
    if (block.kind == Block::Kind::kStage && block.stage.kind == Stage::Kind::kNorm) {
      // A head may contain a norm.
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

/// The task that the files beside the graph state; none if they state none, or if the graph's outputs are more
/// specific.
fb::TaskKind stated_task(const ModelSource& source, const Fields& config) {
  if (source.modules.give_token_vectors() || is_colbert(source.config)) return fb::TaskKind::token_vectors;
  if (source.modules.give_terms()) return fb::TaskKind::sparse_embed;
  if (config.has("intent_labels") && config.has("slot_labels")) return fb::TaskKind::joint;
  const std::string of = architecture(config);
  if (contains(of, "ForNextSentencePrediction")) return fb::TaskKind::next_sentence;
  if (contains(of, "ForMultipleChoice")) return fb::TaskKind::choose;
  return fb::TaskKind::none;
}

/// Finds by name the two outputs that together answer `task`. If the task is stated, intents and slots may also be the
/// only output of texts and the only output of tokens. Empty if there are no such two.
std::vector<const Output*> two_outputs(fb::TaskKind task, bool stated, const Outputs& outputs,
                                       const std::vector<Block>& blocks) {
  const auto both = [&](const char* first, const char* second) {
    std::vector<const Output*> found = {named(outputs, {first}), named(outputs, {second})};
    if (found[0] == nullptr || found[1] == nullptr) found.clear();
    return found;
  };
  if (task == fb::TaskKind::answer) return both("start_logits", "end_logits");
  if (task == fb::TaskKind::pretraining) return both("prediction_logits", "seq_relationship_logits");
  std::vector<const Output*> found = both("intent_logits", "slot_logits");
  if (!found.empty() || !stated) return found;
  found.resize(2);
  for (const Output& output : outputs) {
    const Output*& place = found[blocks[static_cast<size_t>(output.block)].of_tokens ? 1 : 0];
    if (place != nullptr) return {};
    place = &output;
  }
  return found[0] == nullptr || found[1] == nullptr ? std::vector<const Output*>() : found;
}

/// The number of rows of the largest word table; 0: the graph has none.
uint32_t vocabulary_of(const std::vector<Block>& blocks) {
  uint32_t vocabulary = 0;
  for (const Block& block : blocks) {
    if (block.kind != Block::Kind::kEmbed || block.index != fb::IndexSource::ids) continue;
    vocabulary = std::max(vocabulary, static_cast<uint32_t>(block.weight.dims()[0]));
  }
  return vocabulary;
}

/// Returns true if an output with `columns` numbers for each token or for each text suits the task.
bool suits(fb::TaskKind task, bool of_tokens, uint32_t columns, uint32_t vocabulary) {
  switch (task) {
    case fb::TaskKind::none:
    case fb::TaskKind::embed:
      return true;
    case fb::TaskKind::classify:
    case fb::TaskKind::multi_label:
    case fb::TaskKind::regress:
      return !of_tokens;
    case fb::TaskKind::choose:
      return !of_tokens && columns == 1;
    case fb::TaskKind::next_sentence:
      return !of_tokens && columns == 2;
    case fb::TaskKind::tag:
    case fb::TaskKind::token_vectors:
      return of_tokens;
    case fb::TaskKind::fill:
    case fb::TaskKind::generate:
    case fb::TaskKind::sparse_embed:
      return of_tokens && columns == vocabulary;
    default:
      return false;
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

/// Chooses all outputs as raw numbers.
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

Choice choose(const Outputs& outputs, const ImportOptions& options, const ModelSource& source, const Fields& config,
              const std::vector<Block>& blocks, const std::string& file) {
  Choice choice;
  const bool asked = !options.task.empty();
  fb::TaskKind task = asked ? parse_head(options.task) : stated_task(source, config);
  if (asked && task == fb::TaskKind::none) return all_of(outputs, file);
  for (const fb::TaskKind two : {fb::TaskKind::answer, fb::TaskKind::pretraining, fb::TaskKind::joint}) {
    if (task != fb::TaskKind::none && task != two) continue;
    const std::vector<const Output*> found = two_outputs(two, task == two, outputs, blocks);
    if (found.empty()) continue;
    choice.task = two;
    choice.outputs = {*found[0], *found[1]};
    return choice;
  }
  const Output* first =
      named(outputs, {"sentence_embedding", "logits", "prediction_logits", "last_hidden_state", "token_embeddings"});
  const bool usual = first != nullptr;
  if (first == nullptr) first = &outputs.front();
  const Block& block = blocks[static_cast<size_t>(first->block)];
  choice.outputs = {*first};
  if (!usual && outputs.size() > 1) {
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
  const bool causal =
      std::any_of(blocks.begin(), blocks.end(), [](const Block& any) { return any.mask == fb::MaskKind::causal; });
  const uint32_t vocabulary = vocabulary_of(blocks);
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
  if (asked || (task != fb::TaskKind::none && suits(task, block.of_tokens, block.columns, vocabulary))) {
    choice.task = task;
  }
  // Tasks compute the probabilities themselves, from the scores before the sigmoid.
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
  const bool bare = choice.task != fb::TaskKind::tag || !first->squeezed;
  if (!bare || !suits(choice.task, block.of_tokens, block.columns, vocabulary)) {
    throw Error(
        ExitCode::kUnsupported,
        fmt::format("{}: output \"{}\" ({} columns for each {}) is not that of the task {}; --task NAME says another",
                    file, first->name, block.columns, block.of_tokens ? "token" : "text",
                    fb::EnumNameTaskKind(choice.task)));
  }
  choice.pools = choice.task == fb::TaskKind::embed && block.of_tokens;
  return choice;
}

SentencePooling add_task(const Choice& choice, const Emitted& emitted, const ModelSource& source,
                         const ImportOptions& options, const Fields& config, Problems& problems, Graph& graph,
                         Builder& builder) {
  TaskOutputs outputs(choice.task, builder, config, options);
  SentencePooling pooling;
  builder.enter(fb::Part::head);
  const auto tensor = [&](size_t i) { return emitted.tensors.at(choice.outputs[i].block); };
  const auto fits = [&](const char* key, size_t labels, size_t i) {
    const uint32_t columns = builder.width(tensor(i));
    if (labels == columns) return true;
    config.problem(ExitCode::kInvalid, key,
                   fmt::format("output \"{}\" has {} columns, not {}", choice.outputs[i].name, columns, labels));
    return false;
  };
  const auto listed = [&](const char* output, const char* key, fb::OutputRole role, size_t i) {
    const bool has = config.has(key);
    std::vector<std::string> labels = has ? read_label_list(config, key) : made_labels(builder.width(tensor(i)));
    if (fits(key, labels.size(), i)) outputs.labels(output, role, tensor(i), one_set(std::move(labels)));
  };
  const auto labelled = [&](fb::OutputRole role) {
    std::vector<NamedLabels> sets = read_label_sets(config);
    size_t all = 0;
    for (const NamedLabels& set : sets) {
      all += set.labels.size();
      if (set.tensor.empty()) continue;
      config.problem(ExitCode::kUnsupported, "label_sets",
                     fmt::format("\"{}\" names a tensor, which a graph does not have under that name; the sets of a "
                                 "graph share the columns of its output",
                                 set.name));
    }
    if (sets.empty()) {
      sets.push_back(one_set(read_labels(config, builder.width(tensor(0)))));
      sets.front().parents = read_label_parents(config, sets.front().labels);
    } else if (!fits("label_sets", all, 0)) {
      return;
    }
    outputs.label_sets(role, tensor(0), std::move(sets));
  };
  switch (choice.task) {
    case fb::TaskKind::answer:
      outputs.answer(tensor(0), tensor(1));
      break;
    case fb::TaskKind::pretraining:
      outputs.words("prediction_logits", tensor(0));
      outputs.next_sentence("seq_relationship_logits", tensor(1));
      break;
    case fb::TaskKind::joint:
      listed("intent_logits", "intent_labels", fb::OutputRole::labels, 0);
      listed("slot_logits", "slot_labels", fb::OutputRole::tags, 1);
      break;
    case fb::TaskKind::classify:
    case fb::TaskKind::multi_label:
    case fb::TaskKind::regress:
      if (is_cross_encoder(source)) {
        pooling = read_cross_encoder(source, problems, graph.notes);
        outputs.task().prompt = pooling.prompt;
      }
      labelled(fb::OutputRole::labels);
      break;
    case fb::TaskKind::next_sentence:
      outputs.labels("logits", fb::OutputRole::next, tensor(0),
                     one_set({kNextSentenceLabels.begin(), kNextSentenceLabels.end()}));
      break;
    case fb::TaskKind::choose:
      outputs.choice(tensor(0));
      break;
    case fb::TaskKind::tag:
      labelled(fb::OutputRole::tags);
      break;
    case fb::TaskKind::fill:
      outputs.words("logits", tensor(0));
      break;
    case fb::TaskKind::generate:
      outputs.next_words(tensor(0), emitted.vocabulary, false, nullptr);
      break;
    case fb::TaskKind::sparse_embed:
      pooling = read_term_pooling(source, problems, graph.notes);
      outputs.terms(tensor(0), pooling, problems);
      break;
    case fb::TaskKind::token_vectors:
      pooling = read_token_modules(source, builder.width(tensor(0)), problems);
      pooling.normalize = true;
      problems.raise();
      outputs.token_vectors(add_token_vectors(builder, tensor(0), pooling));
      break;
    case fb::TaskKind::embed:
      if (choice.pools) {
        pooling = read_sentence_pooling(source, builder.width(tensor(0)), problems, graph.notes);
        problems.raise();
      }
      outputs.vector(choice.pools ? add_pooled_vector(builder, tensor(0), pooling) : tensor(0), pooling);
      break;
    default:
      for (size_t i = 0; i < choice.outputs.size(); ++i) {
        builder.output(choice.outputs[i].name, fb::OutputRole::none, tensor(i), choice.outputs[i].squeezed);
      }
  }
  outputs.finish(graph);
  if ((traits(choice.task).parts & (kVectorPart | kTermsPart)) != 0) record_pooling(graph, pooling);
  return pooling;
}

}  // namespace bantam::convert::onnx
