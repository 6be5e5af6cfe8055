// Sentence embeddings.
#include "bantam/tasks.h"

#include <string.h>

#include "format/view.h"
#include "tasks/labels.h"
#include "tasks/select.h"

namespace bantam {

Text property(const Model& model, Text key) {
  const auto* properties = root(model).properties();
  for (uint32_t i = 0; properties != nullptr && i < properties->size(); ++i) {
    const Text name = as_text(properties->Get(i)->key());
    if (name.size == key.size && memcmp(name.data, key.data, key.size) == 0)
      return as_text(properties->Get(i)->value());
  }
  return {};
}

Text text_prompt(const Model& model, TextRole role) {
  const fb::Task* task = root(model).task();
  if (task == nullptr) return {};
  Text own = {};
  if (role == TextRole::kQuery) own = property(model, {"prompt.query", 12});
  if (role == TextRole::kDocument) own = property(model, {"prompt.document", 15});
  return own.data != nullptr ? own : as_text(task->prompt());
}

Status embed(const Session& session, uint32_t sequence, const float** out, uint32_t* width) {
  if (!has_part(session.model().task(), kVectorPart)) return Status::kNoSuchTask;
  if (out == nullptr || width == nullptr) return Status::kInvalidArgument;
  OutputView view;
  const Status status = tasks::head_output(session, kEmbeddingHead, sequence, &view);
  if (status != Status::kOk) return status;
  *out = view.data;
  *width = view.width;
  return Status::kOk;
}

Status terms(const Session& session, uint32_t sequence, Candidate* out, uint32_t capacity, uint32_t* count) {
  if (!has_part(session.model().task(), kTermsPart)) return Status::kNoSuchTask;
  if (count == nullptr || (capacity > 0 && out == nullptr)) return Status::kInvalidArgument;
  OutputView view;
  const Status status = tasks::head_output(session, kEmbeddingHead, sequence, &view);
  if (status != Status::kOk) return status;
  *count = tasks::select_best<int32_t>(tasks::Logits{view.data, 1, view.width}, out, capacity);
  while (*count > 0 && !(out[*count - 1].score > 0.0f)) --*count;
  return Status::kOk;
}

Status embed_tokens(const Session& session, uint32_t sequence, OutputView* out) {
  if (!has_part(session.model().task(), kTokenVectorsPart)) return Status::kNoSuchTask;
  if (out == nullptr) return Status::kInvalidArgument;
  return tasks::head_output(session, kTokenVectorHead, sequence, out);
}

}  // namespace bantam
