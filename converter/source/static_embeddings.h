// Directories of static embeddings: a table with a row a token, as model2vec and sentence-transformers (StaticEmbedding) save it.
#ifndef BANTAM_CONVERTER_SOURCE_STATIC_EMBEDDINGS_H_
#define BANTAM_CONVERTER_SOURCE_STATIC_EMBEDDINGS_H_

#include <filesystem>

#include "source/model_source.h"

namespace bantam::convert {

/// True where modules.json begins with a StaticEmbedding module; without modules.json, where config.json is of model2vec's
/// kind, or names no model_type while model.safetensors holds "embeddings". Throws Error for JSON that cannot be read.
bool is_static_embeddings(const std::filesystem::path& directory);

/// Such a directory as a model whose config.json says "model2vec", and whose one tensor "embeddings" has a row for each token id:
/// row `mapping`[id] of the stored table times `weights`[id], where those are there. What model2vec saved has a row of zeros
/// for the unknown token, which that library leaves out. Throws Error. Memory: the table as f32.
ModelSource open_static_embeddings(const std::filesystem::path& directory);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_SOURCE_STATIC_EMBEDDINGS_H_
