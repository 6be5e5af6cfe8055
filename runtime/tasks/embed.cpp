// Sentence embeddings.
#include "bantam/tasks.h"
#include "tasks/labels.h"

namespace bantam {
namespace {

/// The output named "sentence_embedding", else the first with one row a sequence, else output_count().
uint32_t embedding_output(const Session& session) {
  const Model& model = session.model();
  const uint32_t named = tasks::find_output(model, "sentence_embedding");
  if (named < model.output_count()) return named;
  OutputView view;
  for (uint32_t i = 0; i < model.output_count(); ++i) {
    if (session.output(i, &view) == Status::kOk && !view.per_token) return i;
  }
  return model.output_count();
}

}  // namespace

Status embed(const Session& session, uint32_t sequence, const float** out, uint32_t* width) {
  if (session.model().task() != TaskKind::kEmbed) return Status::kNoSuchTask;
  if (out == nullptr || width == nullptr) return Status::kInvalidArgument;
  OutputView view;
  const Status status = session.output(embedding_output(session), sequence, &view);
  if (status != Status::kOk) return status;
  if (view.rows == 0) return Status::kNotRun;
  *out = view.data;
  *width = view.width;
  return Status::kOk;
}

}  // namespace bantam
