#include "onnx/tflite/metadata.h"

#include <fmt/format.h>

#include "base/error.h"
#include "base/printable.h"
#include "tflite_metadata_generated.h"

namespace bantam::convert::tflite {
namespace {

namespace fm = bantam::tflite::metadata;

constexpr uint32_t kDeepestMetadata = 16, kMostMetadata = 1U << 14;  // number of tables

std::string text(const flatbuffers::String* from) { return from == nullptr ? "" : from->str(); }

std::string first(const flatbuffers::Vector<flatbuffers::Offset<fm::AssociatedFile>>* files,
                  fm::AssociatedFileType type) {
  if (files == nullptr) return "";
  for (const fm::AssociatedFile* file : *files) {
    if (file->type() == type) return text(file->name());
  }
  return "";
}

std::string any(const flatbuffers::Vector<flatbuffers::Offset<fm::AssociatedFile>>* files) {
  return files == nullptr || files->size() == 0 ? "" : text(files->Get(0)->name());
}

void read_units(const flatbuffers::Vector<flatbuffers::Offset<fm::ProcessUnit>>* units, Metadata* out) {
  if (units == nullptr) return;
  for (const fm::ProcessUnit* unit : *units) {
    if (const auto* bert = unit->options_as<fm::BertTokenizerOptions>()) out->vocabulary = any(bert->vocab_file());
    if (const auto* pieces = unit->options_as<fm::SentencePieceTokenizerOptions>()) {
      out->pieces = any(pieces->sentencePiece_model());
    }
    if (const auto* words = unit->options_as<fm::RegexTokenizerOptions>()) {
      out->vocabulary = any(words->vocab_file());
      out->pattern = text(words->delim_regex_pattern());
    }
  }
}

}  // namespace

Metadata read_metadata(std::string_view bytes, const std::string& path) {
  Metadata out;
  if (bytes.empty()) return out;
  // A FlatBuffer must be aligned in memory, and the bytes in the file need not be.
  const std::string copy(bytes);
  const auto* data = reinterpret_cast<const uint8_t*>(copy.data());
  flatbuffers::Verifier verifier(data, copy.size(), kDeepestMetadata, kMostMetadata);
  if (copy.size() < 8 || !fm::VerifyModelMetadataBuffer(verifier)) {
    throw Error(ExitCode::kInvalid, fmt::format("{}: its metadata are damaged; copy it again", path));
  }
  const fm::ModelMetadata* metadata = fm::GetModelMetadata(data);
  out.name = printable(text(metadata->name()));
  out.description = printable(text(metadata->description()));
  out.author = printable(text(metadata->author()));
  out.licence = printable(text(metadata->license()));
  if (metadata->subgraph_metadata() == nullptr || metadata->subgraph_metadata()->size() == 0) return out;
  const fm::SubGraphMetadata* graph = metadata->subgraph_metadata()->Get(0);
  read_units(graph->input_process_units(), &out);
  if (const auto* inputs = graph->input_tensor_metadata()) {
    for (const fm::TensorMetadata* input : *inputs) {
      out.inputs.push_back(text(input->name()));
      read_units(input->process_units(), &out);
      if (out.vocabulary.empty()) {
        out.vocabulary = first(input->associated_files(), fm::AssociatedFileType::VOCABULARY);
      }
    }
  }
  if (const auto* outputs = graph->output_tensor_metadata()) {
    for (const fm::TensorMetadata* output : *outputs) {
      if (out.labels.empty())
        out.labels = first(output->associated_files(), fm::AssociatedFileType::TENSOR_AXIS_LABELS);
    }
  }
  return out;
}

}  // namespace bantam::convert::tflite
