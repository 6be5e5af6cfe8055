#include "tasks/labels.h"

namespace bantam::tasks {
namespace {

/// Finds the index of the output that `head` reads.
Status find(const Model& model, const Head& head, uint32_t which, uint32_t* output) {
  if (!model.is_open()) return Status::kNoSuchTask;
  const fb::Model& file = root(model);
  const int32_t found = find_head(file, head, which);
  if (found < 0) return Status::kNoSuchTask;
  *output = static_cast<uint32_t>(found);
  return fits(head, tensor(file, file.outputs()->Get(*output)->tensor())) ? Status::kOk : Status::kIndexOutOfRange;
}

/// Returns the prefix that `first` means in `scheme`; 0 if it is no prefix.
char prefix_of(char first, fb::TagScheme scheme) {
  if (first == 'B' || first == 'I') return first;
  if (scheme != fb::TagScheme::bioes) return 0;
  if (first == 'E' || first == 'L') return 'E';
  if (first == 'S' || first == 'U') return 'S';
  return 0;
}

bool is_outside(Text label) { return label.size == 1 && label.data[0] == 'O'; }

}  // namespace

const fb::Task* task_of(const Model& model) { return model.is_open() ? root(model).task() : nullptr; }

const fb::LabelSet* label_set(const Model& model, uint32_t set) {
  const fb::Task* task = task_of(model);
  if (task == nullptr || task->label_sets() == nullptr || set >= task->label_sets()->size()) return nullptr;
  return task->label_sets()->Get(set);
}

Status head_output(const Session& session, const Head& head, OutputView* out) {
  uint32_t output = 0;
  const Status status = find(session.model(), head, 0, &output);
  return status == Status::kOk ? session.output(output, out) : status;
}

Status head_output(const Session& session, const Head& head, uint32_t sequence, OutputView* out, uint32_t which) {
  uint32_t output = 0;
  Status status = find(session.model(), head, which, &output);
  if (status == Status::kOk) status = session.output(output, sequence, out);
  return status == Status::kOk && out->rows == 0 ? Status::kNotRun : status;
}

bool same_text(Text a, Text b) {
  if (a.size != b.size) return false;
  for (size_t i = 0; i < a.size; ++i) {
    if (a.data[i] != b.data[i]) return false;
  }
  return true;
}

Tag parse_tag(Text label, fb::TagScheme scheme) {
  const Tag outside = {'O', label, label};
  if (is_outside(label)) return outside;
  if (scheme == fb::TagScheme::plain) return {0, label, label};
  const char prefix = label.size > 0 ? prefix_of(label.data[0], scheme) : '\0';
  if (prefix == 0 || (label.size > 1 && label.data[1] != '-')) return outside;
  // "B" and "I" alone: one kind of entity without a name.
  const Text name = label.size == 1 ? Text{label.data + 1, 0} : Text{label.data + 2, label.size - 2};
  return {prefix, name, name};
}

Tag parse_tag(Text label, Aggregation aggregation) {
  if (is_outside(label)) return {'O', label, label};
  if (aggregation == Aggregation::kNone) return {'S', label, label};
  const bool marked = label.size > 1 && (label.data[0] == 'B' || label.data[0] == 'I') && label.data[1] == '-';
  uint32_t begin = 0;
  while (begin < label.size && label.data[begin] != '-') ++begin;
  const Text entity = begin == label.size ? label : Text{label.data + begin + 1, label.size - begin - 1};
  if (is_outside(entity)) return {'O', label, label};
  return {marked ? label.data[0] : '\0', marked ? entity : label, entity};
}

}  // namespace bantam::tasks

namespace bantam {

uint32_t word_label_set(const Model& model) { return has_part(model.task(), kLabelsPart) ? 1 : 0; }

Aggregation file_aggregation(const Model& model, uint32_t set) {
  const fb::LabelSet* labels = tasks::label_set(model, set == kTaskSet ? word_label_set(model) : set);
  return labels == nullptr ? Aggregation::kWords : static_cast<Aggregation>(labels->aggregation());
}

uint32_t task_label_sets(const Model& model) { return own_label_sets(traits(model.task()).parts); }

}  // namespace bantam
