#include "firmware/device_file.h"

#include <algorithm>

#include "pack/helium.h"
#include "pack/rewrite.h"

namespace bantam::firmware {
namespace {

bool says_licence(const std::string& key) {
  return key.find("licen") != std::string::npos || key.find("copyright") != std::string::npos;
}

void drop_provenance(fb::ModelT* model) {
  model->architecture.clear();
  model->description.clear();
  auto& properties = model->properties;
  properties.erase(std::remove_if(properties.begin(), properties.end(),
                                  [](const auto& property) { return !says_licence(property->key); }),
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

convert::FileBytes device_file(const void* bytes, size_t size, const std::string& isa) {
  const convert::FileBytes bare = convert::rewrite_file(
      static_cast<const uint8_t*>(bytes), size, [](convert::FileEditor& editor) { drop_provenance(&editor.model()); });
  const convert::FileBytes small = convert::with_small_tokenizers(bare.data(), bare.size());
  return isa == "mve" ? convert::with_helium_rows(small.data(), small.size()) : small;
}

}  // namespace bantam::firmware
