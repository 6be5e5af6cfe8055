#include "network/families/own/own_layers.h"

#include "model/task_traits.h"

namespace bantam::convert {

bool LayerSite::of_texts() const { return (traits(task).parts & (kLabelsPart | kVectorPart)) != 0; }

bool LayerSite::of_tokens() const { return task == fb::TaskKind::none || (traits(task).parts & kWordsPart) != 0; }

}  // namespace bantam::convert
