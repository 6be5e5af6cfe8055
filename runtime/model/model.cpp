#include "bantam/model.h"

#include "format/header.h"
#include "format/view.h"
#include "linked.h"
#include "model/verify.h"

namespace bantam {
namespace {

const fb::LabelSet* label_set(const Model& model, uint32_t set) {
  return set < model.label_set_count() ? bantam::root(model).task()->label_sets()->Get(set) : nullptr;
}

}  // namespace

Status Model::open(const void* bytes, size_t size, Model* out, Fault* fault) {
  if (bytes == nullptr || out == nullptr) return Status::kInvalidArgument;
  if (reinterpret_cast<uintptr_t>(bytes) % 16 != 0) return Status::kMisaligned;
  Model model;
  model.bytes_ = static_cast<const uint8_t*>(bytes);
  model.size_ = size;
  FileHeader header;
  const Status status = read_header(model.bytes_, size, &header, fault);
  if (status != Status::kOk) return status;
  const uint8_t* graph = model.bytes_ + header.graph_offset;
  model.data_ = model.bytes_ + header.data_offset;
  const Status verified = verify_graph(graph, static_cast<size_t>(header.graph_size), model.data_,
                                       static_cast<size_t>(header.data_size), fault);
  if (verified != Status::kOk) return verified;
  model.root_ = fb::GetModel(graph);
  *out = model;
  return Status::kOk;
}

TaskKind Model::task() const {
  const fb::Task* task = bantam::root(*this).task();
  return task == nullptr ? TaskKind::kNone : static_cast<TaskKind>(task->kind());
}

Text Model::name() const { return as_text(bantam::root(*this).name()); }
Text Model::tool() const { return as_text(bantam::root(*this).tool()); }
Text Model::licence() const { return as_text(bantam::root(*this).licence()); }
uint32_t Model::max_sequence() const { return bantam::root(*this).max_sequence(); }
uint32_t Model::max_source() const { return bantam::root(*this).max_source(); }
uint32_t Model::source_vocabulary() const {
  const fb::Model& model = bantam::root(*this);
  return has_source(model) && bantam::chunk_tokens(model) == 0 ? ids_input(model, fb::Phase::source)->limit() : 0;
}
uint32_t Model::chunk_tokens() const { return bantam::chunk_tokens(bantam::root(*this)); }
uint32_t Model::input_count() const { return count(bantam::root(*this).inputs()); }
uint32_t Model::output_count() const { return count(bantam::root(*this).outputs()); }

Text Model::output_name(uint32_t output) const {
  return output < output_count() ? as_text(bantam::root(*this).outputs()->Get(output)->name()) : Text{};
}

bool Model::has_tokenizer() const { return linked::kTokenizer && count(bantam::root(*this).tokenizers()) > 0; }

uint32_t Model::vocabulary() const {
  const fb::Input* ids = find_input(bantam::root(*this), fb::InputKind::ids);
  return ids == nullptr ? 0 : ids->limit();
}

uint32_t Model::segment_types() const { return bantam::segment_types(bantam::root(*this)); }

uint32_t Model::mark_types() const { return bantam::mark_types(bantam::root(*this)); }

uint32_t Model::feature_width() const { return bantam::feature_width(bantam::root(*this)); }

Text Model::mark_name(uint32_t mark) const {
  const fb::Input* marks = linked::kMarks ? find_input(bantam::root(*this), fb::InputKind::marks) : nullptr;
  return marks == nullptr || mark == 0 || mark > count(marks->names()) ? Text{}
                                                                       : as_text(marks->names()->Get(mark - 1));
}

uint32_t Model::label_set_count() const {
  const fb::Task* task = bantam::root(*this).task();
  return task == nullptr ? 0 : count(task->label_sets());
}

uint32_t Model::label_count(uint32_t set) const {
  const fb::LabelSet* labels = label_set(*this, set);
  return labels == nullptr ? 0 : count(labels->labels());
}

Text Model::label(uint32_t set, uint32_t index) const {
  return index < label_count(set) ? as_text(label_set(*this, set)->labels()->Get(index)) : Text{};
}

Text Model::label_set_name(uint32_t set) const {
  const fb::LabelSet* labels = label_set(*this, set);
  return labels == nullptr ? Text{} : as_text(labels->name());
}

bool Model::has_levels(uint32_t set) const {
  const fb::LabelSet* labels = label_set(*this, set);
  return labels != nullptr && count(labels->parents()) > 0;
}

int32_t Model::label_above(uint32_t set, uint32_t index) const {
  const fb::LabelSet* labels = label_set(*this, set);
  return labels == nullptr || index >= count(labels->parents()) ? -1 : labels->parents()->Get(index);
}

}  // namespace bantam
