// ERNIE with entities (arXiv 1905.07129), as its authors publish it: ernie_config.json, the weights of BERT with layers of entities,
// and entity2vec.vec and entity2id.txt, vectors of entities and their names. Or all of it as config.json and weights say.
#ifndef BANTAM_CONVERTER_SOURCE_KNOWLEDGE_ERNIE_H_
#define BANTAM_CONVERTER_SOURCE_KNOWLEDGE_ERNIE_H_

namespace bantam::convert {

constexpr const char* kErnieSettings = "ernie_config.json";
/// Under this key the config of a source has the names of entities, in the order of the table's rows.
constexpr const char* kEntityNames = "entity_names";

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_SOURCE_KNOWLEDGE_ERNIE_H_
