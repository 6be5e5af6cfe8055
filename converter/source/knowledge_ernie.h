// ERNIE with entities (arXiv 1905.07129) as its authors publish it: ernie_config.json, BERT's weights with layers for
// entities, and entity2vec.vec and entity2id.txt with the entities' vectors and names. Alternatively, config.json and
// the weights contain all of this.
#ifndef BANTAM_CONVERTER_SOURCE_KNOWLEDGE_ERNIE_H_
#define BANTAM_CONVERTER_SOURCE_KNOWLEDGE_ERNIE_H_

namespace bantam::convert {

constexpr const char* kErnieSettings = "ernie_config.json";
/// The key of a source's config with the names of the entities, in the order of the table's rows.
constexpr const char* kEntityNames = "entity_names";

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_SOURCE_KNOWLEDGE_ERNIE_H_
