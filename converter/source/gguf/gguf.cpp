// Opens a GGUF file as a source of the family of its architecture.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <memory>
#include <utility>

#include "base/fail.h"
#include "base/printable.h"
#include "source/explain.h"
#include "source/gguf/gguf_file.h"
#include "source/gguf/gguf_models.h"
#include "source/gguf/gguf_tokenizer.h"
#include "source/gguf/gguf_weights.h"
#include "source/model_source.h"
#include "source/source_path.h"

namespace bantam::convert {
namespace fs = std::filesystem;
namespace {

ModelCard card_of(const GgufFile& file) {
  ModelCard card;
  card.name = file.text("general.name");
  card.licence = file.text("general.license");
  card.description = file.text("general.description").substr(0, kMaxDescription);
  return card;
}

/// Adds a note, because .bantam files use other groups of weights that share a scale.
void note_blocks(const GgufFile& file, std::vector<std::string>* notes) {
  std::map<std::string, size_t> counts;
  for (const auto& entry : file.tensors()) {
    if (is_blocks(*entry.second.type)) ++counts[entry.second.type->name];
  }
  std::vector<std::string> parts;
  parts.reserve(counts.size());
  for (const auto& [type, count] : counts) parts.push_back(fmt::format("{} of {}", count, type));
  if (parts.empty()) return;
  notes->push_back(
      fmt::format("{} tensors in blocks ({}) were read as the values that they stand for, which the file is compared "
                  "with; --weights "
                  "f32 keeps them as they are, integers are rounded anew",
                  file.path().filename().string(), fmt::join(parts, ", ")));
}

/// Reads the divisors of the angles of rotary positions, one per pair of columns. As both of longrope's lists, they are
/// the only change.
void take_divisors(const GgufFile& file, GgufWeights& weights, Json* config) {
  constexpr const char* kDivisors = "rope_freqs.weight";
  const auto found = weights.tensors().find(kDivisors);
  if (found == weights.tensors().end()) return;
  const std::vector<float> divisors = weights.read(kDivisors);
  weights.leave_out(kDivisors);
  if (config->contains("rope_scaling")) {
    fail(ExitCode::kUnsupported, "{}: tensor \"{}\": beside rope.scaling.type it is not supported",
         file.path().string(), kDivisors);
  }
  (*config)["rope_scaling"] = {
      {"rope_type", "longrope"}, {"short_factor", divisors}, {"long_factor", divisors}, {"attention_factor", 1.0}};
}

}  // namespace

bool is_gguf(const SourcePath& named) {
  return named.is_file() && (named.path.extension() == ".gguf" || begins_as_gguf(named.files->begin(named.file)));
}

// Provides everything that a directory would: settings, tensors with transformers' names, the tokenizer, the card.
// Blocks of integers are dequantized, with a note.
ModelSource open_gguf(const SourcePath& named, const SourceOptions& /*options*/) {
  const fs::path& path = named.path;
  refuse_pointer(path);
  const auto file = std::make_shared<const GgufFile>(path);
  const GgufModel& model = gguf_model(*file);
  ModelSource source;
  Problems problems;
  source.files = Directory::nothing(path);  // the file contains everything
  source.config_name = path.filename().string();
  source.config = gguf_config(model, *file, problems, source.notes);
  auto weights = std::make_unique<GgufWeights>(file, model);
  problems.raise();
  take_divisors(*file, *weights, &source.config);
  source.checkpoint = std::make_shared<const Checkpoint>(std::move(weights));
  source.tokenizer = read_gguf_tokenizer(*file);
  source.weight_files = file->parts();
  source.card = card_of(*file);
  note_blocks(*file, &source.notes);
  return source;
}

}  // namespace bantam::convert
