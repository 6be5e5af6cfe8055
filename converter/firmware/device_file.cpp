#include "firmware/device_file.h"

#include <algorithm>
#include <string>
#include <utility>

#include "bantam/sound.h"
#include "format/rewrite.h"

namespace bantam::firmware {
namespace {

/// Returns true for properties that a device's file keeps: licenses, and how a sound model's features are computed.
bool is_kept(const std::string& key) {
  return key.find("licen") != std::string::npos || key.find("copyright") != std::string::npos || key == kSoundKey;
}

void drop_provenance(fb::ModelT* model) {
  model->architecture.clear();
  model->description.clear();
  auto& properties = model->properties;
  properties.erase(std::remove_if(properties.begin(), properties.end(),
                                  [](const auto& property) { return !is_kept(property->key); }),
                   properties.end());
  for (const auto& tensor : model->tensors) {
    tensor->name.clear();
    tensor->source.clear();
    tensor->source_type = fb::DType::f32;
    tensor->source_bytes = 0;
    tensor->error = 0;
  }
  for (const auto& subgraph : model->subgraphs) {
    for (const auto& op : subgraph->ops) op->name.clear();
  }
}

}  // namespace

convert::HeliumFile device_file(const void* bytes, size_t size, const Target& target, uint32_t block_rows,
                                bool keep_sparse) {
  const convert::FileBytes bare = convert::rewrite_file(
      static_cast<const uint8_t*>(bytes), size, [](convert::FileEditor& editor) { drop_provenance(&editor.model()); });
  convert::FileBytes small = convert::with_small_tokenizers(bare.data(), bare.size());
  if (target.rows) {
    // choose_tokens in firmware/image.cpp requires less than all of the flash.
    return convert::with_helium_rows(small.data(), small.size(), {block_rows, keep_sparse, target.model - 1});
  }
  convert::HeliumFile file;
  file.bytes = std::move(small);
  return file;
}

}  // namespace bantam::firmware
