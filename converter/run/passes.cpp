#include "run/passes.h"

#include "format/view.h"

namespace bantam::convert {

std::vector<int32_t> default_decoder_ids(const Model& model, const std::vector<int32_t>& source) {
  const fb::Task* task = root(model).task();
  const int32_t shifted = task == nullptr ? -1 : task->shift_id();
  if (shifted >= 0) {
    std::vector<int32_t> ids = source;
    ids.insert(ids.begin(), shifted);
    ids.pop_back();
    return ids;
  }
  if (task != nullptr && count(task->generations()) != 0 && task->generations()->Get(0)->start_id() >= 0) {
    return {task->generations()->Get(0)->start_id()};
  }
  return {source.front() < static_cast<int32_t>(model.vocabulary()) ? source.front() : 0};
}

Status run_all_passes(Session& session, const Batch& batch) {
  if (session.model().source_vocabulary() == 0) return session.run(batch);
  Status status = session.encode(batch);
  if (status != Status::kOk) return status;
  const auto limit = static_cast<int32_t>(session.model().vocabulary());
  std::vector<int32_t> ids(batch.ids, batch.ids + batch.tokens);
  for (int32_t& id : ids) id %= limit;
  Batch decoder = batch;
  decoder.ids = ids.data();
  return session.run(decoder);
}

}  // namespace bantam::convert
