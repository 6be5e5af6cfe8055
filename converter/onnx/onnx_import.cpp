#include "onnx/onnx_import.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "base/error.h"
#include "graph/builder.h"
#include "graph/task_parts.h"
#include "network/heads.h"
#include "network/languages.h"
#include "network/record_source.h"
#include "network/settings/config.h"
#include "network/task_outputs.h"
#include "network/text_limits.h"
#include "onnx/emit.h"
#include "onnx/inputs.h"
#include "onnx/lowering/lowering.h"
#include "onnx/onnx_task.h"
#include "source/export_file.h"
#include "source/generation.h"
#include "source/source_path.h"

namespace bantam::convert {
namespace fs = std::filesystem;
namespace {

/// The file that the path names or that lies in the directory.
std::string onnx_file(const SourcePath& named) {
  return export_file(named, ".onnx",
                     {"model.onnx", "onnx/model.onnx", "model_quantized.onnx", "onnx/model_quantized.onnx"});
}

constexpr uint32_t kUsualTokens = 512;  // maximum text length in tokens if nothing specifies it
/// Maximum text length in tokens for which masks and positions are run.
constexpr int64_t kLongestRun = 1024;

/// Lowers the file's nodes with texts that are long enough to show the effects of its masks and positions.
std::unique_ptr<onnx::Lowering> lowered_by(const onnx::Model& model, onnx::Trial trial, uint32_t max_tokens,
                                           uint32_t usual) {
  int64_t& tokens = trial.long_text;
  while (true) {
    auto lowering = std::make_unique<onnx::Lowering>(model, trial);
    lowering->run();
    // Effects beyond the maximum text length do not matter.
    const auto most = static_cast<int64_t>(onnx::positions_of(lowering->blocks(), max_tokens, usual));
    const int64_t wanted = std::min(lowering->wanted_text(), most);
    if (wanted <= tokens) return lowering;
    if (wanted > kLongestRun) {
      throw Error(
          ExitCode::kUnsupported,
          fmt::format("{}: what its masks or places do shows in texts of {} tokens, and texts of {} at most are "
                      "tried; give --max-tokens {} or fewer",
                      model.path.string(), wanted, kLongestRun, kLongestRun));
    }
    tokens = wanted;
  }
}

/// As lowered_by(), for a file that may have been made for one text at a time, whatever its inputs say, and whose mask
/// may be true at padding, as PyTorch's key_padding_mask is. Errors describe the attempt with the usual form.
std::unique_ptr<onnx::Lowering> lowered(const onnx::Model& model, uint32_t max_tokens, uint32_t usual) {
  std::vector<onnx::Trial> trials(2);
  trials[1].one_text = true;
  const bool truths = std::any_of(model.graph.inputs.begin(), model.graph.inputs.end(),
                                  [](const onnx::Port& port) { return port.type == onnx::Type::boolean; });
  for (size_t i = 0; truths && i < 2; ++i) {
    trials.push_back(trials[i]);
    trials.back().mask_hides = true;
  }
  std::optional<Error> first;
  for (const onnx::Trial& trial : trials) {
    try {
      return lowered_by(model, trial, max_tokens, usual);
    } catch (const Error& error) {
      if (error.code() != ExitCode::kUnsupported) throw;
      if (!first) first = error;
    }
  }
  throw Error(*first);
}

}  // namespace

// An .onnx file, or a directory that holds one (or onnx/model.onnx) and no weights of another kind.
bool is_onnx(const SourcePath& named) { return !onnx_file(named).empty(); }

// config.json, the tokenizer and modules.json may lie beside the file or in the directory above.
ModelSource open_onnx(const SourcePath& named, const SourceOptions& options) {
  const std::string name = onnx_file(named);
  const fs::path file = export_path(named, name);
  ModelSource source;
  source.files = named.files;
  onnx::Model model = onnx::read_model(file);
  model.given = onnx::parse_inputs(options.inputs);
  model.chosen_output = options.output;
  onnx::find_fixed_length(model);
  source.onnx = std::make_shared<const onnx::Model>(std::move(model));
  const Directory& files = *named.files;
  const std::string beside = fs::path(name).parent_path().generic_string();
  const std::string above = beside.empty() ? ".." : fs::path(beside).parent_path().generic_string();
  // Look in the directory above only if files are separated by kind (onnx/model.onnx).
  const auto folder_of = [&](const char* wanted) {
    return files.has(name_in(beside, wanted)) || !files.has(name_in(above, wanted)) ? beside : above;
  };
  source.around = folder_of(kModulesFile);
  source.config = files.object_or_empty(name_in(folder_of("config.json"), "config.json"));
  add_generation_settings(files, folder_of(kGenerationFile), &source.config);
  source.inside = beside;
  for (const char* wanted : kTokenizerFiles) {
    if (files.has(name_in(beside, wanted))) break;
    if (!files.has(name_in(above, wanted))) continue;
    source.inside = above;
    break;
  }
  source.tokenizer = read_tokenizer_files(files, source.inside);
  source.weight_files = {file};
  for (const fs::path& data : source.onnx->data_files) source.weight_files.push_back(data);
  return source;
}

Graph import_onnx(const ModelSource& source, const ImportOptions& options) {
  const std::string file = source.onnx->path.string();
  Graph graph;
  Problems problems;
  KeyReads asked;
  const Fields fields(source.config, "config.json", problems, &asked);
  const uint32_t usual = fields.count("max_position_embeddings", kMaxPositions, kUsualTokens);
  uint32_t max_tokens = options.max_tokens;
  if (source.onnx->tokens != 0) {  // the graph does not support longer texts
    const auto made_for = static_cast<uint32_t>(source.onnx->tokens);
    max_tokens = max_tokens == 0 ? made_for : std::min(max_tokens, made_for);
  }
  const std::unique_ptr<onnx::Lowering> read = lowered(*source.onnx, max_tokens, usual);
  onnx::Lowering& lowering = *read;
  const uint32_t positions = onnx::positions_of(lowering.blocks(), max_tokens, usual);
  const onnx::Outputs outputs = onnx::read_outputs(*source.onnx, lowering);
  const onnx::Choice choice = onnx::choose(outputs, options, source, fields, lowering.blocks(), file);
  Builder builder(graph);
  std::vector<int32_t> needed;
  for (const onnx::Output& output : choice.outputs) needed.push_back(output.block);
  const onnx::Emitted emitted = onnx::emit(lowering.blocks(), needed, positions, source.onnx, graph, builder);
  const SentencePooling pooling = onnx::add_task(choice, emitted, source, options, fields, problems, graph, builder);
  problems.raise();
  graph.model.max_sequence = positions;
  if (!options.ids_only) {
    TextLimits limits;
    limits.positions = limits.model_positions = positions;
    limits.vocabulary = emitted.vocabulary;
    limits.model_type = source.onnx->format;
    // Scores of the next token do not depend on padding after it.
    limits.filled = source.onnx->filled && (traits(choice.task).parts & kNextWordsPart) == 0;
    if (limits.filled) limits.model_positions = static_cast<uint32_t>(source.onnx->tokens);
    limits.table_of = file;
    add_tokenizer(graph, source.tokenizer, limits, pooling, problems);
    add_languages(graph, emitted.vocabulary);
  }
  for (const auto* notes : {&source.notes, &source.onnx->notes, &choice.notes}) {
    graph.notes.insert(graph.notes.end(), notes->begin(), notes->end());
  }
  graph.notes.insert(graph.notes.end(), lowering.notes().begin(), lowering.notes().end());
  if (emitted.kept + emitted.requantised != 0) {
    graph.notes.push_back(
        fmt::format("of the file's matrices of integers {} stay as they are, with their scales; {} are rounded anew, "
                    "which have another "
                    "zero than 0, or one scale for rows that have one each here",
                    emitted.kept, emitted.requantised));
  }
  finish_task(graph, source, fields, options, problems);
  record_provenance(graph, source, fields, problems);
  const std::string opset = source.onnx->opset == 0 ? "" : fmt::format("opset {}, ", source.onnx->opset);
  record_property(graph, source.onnx->format, opset + source.onnx->producer);
  problems.raise();
  KeyUse use;
  use.reads = &asked;
  use.graph_states_layers = true;
  record_source_keys(graph, source, options, use, problems);
  problems.raise();
  return graph;
}

}  // namespace bantam::convert
