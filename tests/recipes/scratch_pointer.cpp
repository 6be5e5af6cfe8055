// Reads a file NAME.scratch: {"config": settings, "weights": folder}. tests/recipes/scratch.py adds this to a copy of
// the tree.
#include "source/model_source.h"
#include "source/source_path.h"

namespace bantam::convert {

bool is_scratch_pointer(const SourcePath& named) { return named.is_file() && named.path.extension() == ".scratch"; }

ModelSource open_scratch_pointer(const SourcePath& named, const SourceOptions&) {
  const Json& said = named.files->object(named.file);
  ModelSource source;
  source.files = std::make_shared<const Directory>(named.path.parent_path() / said.at("weights").get<std::string>());
  source.config = said.at("config");
  source.config_name = named.file;
  read_checkpoint(&source);
  return source;
}

}  // namespace bantam::convert
