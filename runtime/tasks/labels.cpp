#include "tasks/labels.h"

#include "format/view.h"

namespace bantam::tasks {
namespace {

Text text_of(const char* zero_terminated) {
  size_t size = 0;
  while (zero_terminated[size] != '\0') ++size;
  return {zero_terminated, size};
}

/// The prefix that `first` stands for in `scheme`, or 0 when it is not one.
char prefix_of(char first, fb::TagScheme scheme) {
  if (first == 'B' || first == 'I') return first;
  if (scheme != fb::TagScheme::bioes) return 0;
  if (first == 'E' || first == 'L') return 'E';
  if (first == 'S' || first == 'U') return 'S';
  return 0;
}

}  // namespace

const fb::Task* task_of(const Model& model) { return model.is_open() ? root(model).task() : nullptr; }

const fb::LabelSet* label_set(const Model& model, uint32_t set) {
  const fb::Task* task = task_of(model);
  if (task == nullptr || task->label_sets() == nullptr || set >= task->label_sets()->size()) return nullptr;
  return task->label_sets()->Get(set);
}

uint32_t find_output(const Model& model, const char* name) {
  const uint32_t count = model.output_count();
  for (uint32_t i = 0; i < count; ++i) {
    if (same_text(model.output_name(i), text_of(name))) return i;
  }
  return count;
}

Status label_output(const Session& session, uint32_t set, uint32_t sequence, OutputView* out) {
  const fb::LabelSet* labels = label_set(session.model(), set);
  if (labels == nullptr) return Status::kNoSuchTask;
  return session.output(labels->output(), sequence, out);
}

bool same_text(Text a, Text b) {
  if (a.size != b.size) return false;
  for (size_t i = 0; i < a.size; ++i) {
    if (a.data[i] != b.data[i]) return false;
  }
  return true;
}

Tag parse_tag(Text label, fb::TagScheme scheme) {
  if (label.size == 1 && label.data[0] == 'O') return {'O', label};
  if (scheme == fb::TagScheme::plain) return {0, label};
  const char prefix = label.size > 0 ? prefix_of(label.data[0], scheme) : '\0';
  if (prefix == 0) return {'O', label};
  if (label.size == 1) return {prefix, {label.data + 1, 0}};  // bare "B", "I": one kind of entity without a name
  if (label.data[1] != '-') return {'O', label};
  return {prefix, {label.data + 2, label.size - 2}};
}

}  // namespace bantam::tasks
