#include "describe/file_report.h"

#include "base/strings.h"
#include "describe/tables.h"
#include "format/view.h"
#include "graph/task_parts.h"

namespace bantam::convert {

FileReport describe_file(const ModelFile& file, const ModelSource* source) {
  const Model& model = file.model();
  const fb::Model& stored = root(model);
  FileReport report;
  report.path = file.path();
  report.name = to_string(model.name());
  report.task = task_name(model.task());
  report.architecture = to_string(as_text(stored.architecture()));
  report.licence = to_string(model.licence());
  report.tool = to_string(model.tool());
  report.bytes = file.size();
  report.parameters = parameter_count(model);
  report.vocabulary = model.vocabulary();
  report.max_tokens = model.max_sequence();
  for (uint32_t set = 0; set < model.label_set_count(); ++set) {
    std::vector<std::string>& labels = report.labels.emplace_back();
    for (uint32_t i = 0; i < model.label_count(set); ++i) labels.push_back(to_string(model.label(set, i)));
  }
  report.components = file_components(model);
  report.matrices = describe_matrices(model, source);
  if (source != nullptr) report.made_from_source = made_from(model, *source);
  return report;
}

}  // namespace bantam::convert
