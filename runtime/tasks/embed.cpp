// Sentence embeddings.
#include "bantam/tasks.h"
#include "tasks/labels.h"

namespace bantam {
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

Status embed_tokens(const Session& session, uint32_t sequence, OutputView* out) {
  if (!has_part(session.model().task(), kTokenVectorsPart)) return Status::kNoSuchTask;
  if (out == nullptr) return Status::kInvalidArgument;
  return tasks::head_output(session, kTokenVectorHead, sequence, out);
}

}  // namespace bantam
