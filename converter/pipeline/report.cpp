#include "pipeline/report.h"

#include <fmt/format.h>

#include <algorithm>

#include "bantam/session.h"
#include "base/readable.h"
#include "format/weight_codec.h"
#include "graph/access.h"
#include "graph/tensor_classes.h"

namespace bantam::convert {
namespace {

constexpr const char* kClasses[] = {"embeddings", "attention", "ffn", "recurrent", "heads", "norms and biases"};

uint64_t blob_bytes(const std::unique_ptr<fb::Blob>& blob) { return blob ? blob->size() : 0; }

uint64_t stored_bytes(const fb::TensorT& tensor) {
  return blob_bytes(tensor.data) + blob_bytes(tensor.scales) + blob_bytes(tensor.sums);
}

void add_type(std::string* types, const char* type) {
  if (types->find(type) != std::string::npos) return;
  *types += types->empty() ? type : std::string(" + ") + type;
}

std::vector<TensorClass> classify_tensors(const Graph& graph) {
  const std::vector<std::string> names = tensor_classes(graph);
  std::vector<TensorClass> classes;
  for (const char* name : kClasses) {
    TensorClass row;
    row.name = name;
    for (size_t i = 0; i < names.size(); ++i) {
      if (names[i] != name) continue;
      const fb::TensorT& tensor = *graph.model.tensors[i];
      ++row.tensors;
      row.bytes_before += tensor.source_bytes;
      row.bytes_after += stored_bytes(tensor);
      const WeightCodec* codec = find_weight_codec(tensor.layout);
      add_type(&row.types, codec != nullptr ? codec->name : type_name(tensor.type));
      if (row.worst_tensor.empty() || tensor.error > row.worst_error) {
        row.worst_error = tensor.error;
        row.worst_tensor = tensor.name;
      }
    }
    if (row.tensors > 0) classes.push_back(std::move(row));
  }
  return classes;
}

std::vector<ArenaSize> arena_sizes(const FileBytes& bytes) {
  Model model;
  if (Model::open(bytes.data(), bytes.size(), &model) != Status::kOk) return {};
  const uint32_t most = model.max_sequence() == 0 ? 512 : model.max_sequence();
  std::vector<uint32_t> lengths = {16, 64, 128, most};
  std::vector<ArenaSize> sizes;
  for (const uint32_t tokens : lengths) {
    if (tokens > most || (!sizes.empty() && tokens <= sizes.back().tokens)) continue;
    SessionOptions options;
    options.max_tokens = tokens;
    sizes.push_back({tokens, arena_bytes(model, options)});
  }
  return sizes;
}

std::vector<std::string> suggest(const Built& built, const std::vector<ArenaSize>& arena) {
  std::vector<std::string> result;
  uint64_t positions = 0;
  const Graph& graph = built.graph;
  constexpr uint32_t kShort = 128;
  if (graph.model.max_sequence <= kShort) return result;
  for (const auto& op : main_subgraph(graph).ops) {
    const fb::EmbedT* embed = op->attributes.AsEmbed();
    if (embed == nullptr) continue;
    for (const auto& table : embed->tables) {
      const fb::TensorT& t = tensor(graph, named_input(*op, table->tensor));
      if (table->source != fb::IndexSource::positions || rows(t) <= kShort) continue;
      positions += stored_bytes(t) * (rows(t) - kShort) / rows(t);
    }
  }
  uint64_t at_short = 0;
  for (const ArenaSize& size : arena) at_short = size.tokens == kShort ? size.bytes : at_short;
  if (at_short > 0) {
    result.push_back(fmt::format("--max-tokens {}: {} less, and the largest arena {} instead of {}", kShort,
                                 readable_bytes(positions), readable_bytes(at_short),
                                 readable_bytes(arena.back().bytes)));
  }
  return result;
}

}  // namespace

Report describe(const Built& built, const TypeOptions& options) {
  Report report;
  const Graph& graph = built.graph;
  report.task = graph.model.task ? fb::EnumNameTaskKind(graph.model.task->kind) : "none";
  report.weights = type_name(options.weights);
  report.file_bytes = built.bytes.size();
  report.classes = classify_tensors(graph);
  const fb::Blob* lists =
      graph.model.task && graph.model.task->shortlist ? graph.model.task->shortlist->lists.get() : nullptr;
  for (const RawBlob& blob : graph.blobs) {
    (blob.target == lists ? report.shortlist_bytes : report.tokenizer_bytes) += blob.bytes.size();
  }
  report.graph_bytes = report.file_bytes - report.tokenizer_bytes - report.shortlist_bytes;
  for (const TensorClass& row : report.classes) report.graph_bytes -= row.bytes_after;
  report.arena = arena_sizes(built.bytes);
  report.passes = built.passes;
  for (const auto& property : graph.model.properties) {
    if (property->key == kSourceKeys) report.source_keys = parse_source_keys(property->value);
  }
  report.notes = graph.notes;
  report.smaller = suggest(built, report.arena);
  return report;
}

}  // namespace bantam::convert
