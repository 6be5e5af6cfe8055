#include "run/passes.h"

#include <algorithm>
#include <string>

#include "format/view.h"
#include "graph/task_parts.h"
#include "run/engine.h"

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
  if (shifted == kLastInFront) {
    std::vector<int32_t> ids = source;
    std::rotate(ids.begin(), ids.end() - 1, ids.end());
    return ids;
  }
  if (task != nullptr && count(task->generations()) != 0 && task->generations()->Get(0)->start_id() >= 0) {
    return {task->generations()->Get(0)->start_id()};
  }
  return {source.front() < static_cast<int32_t>(model.vocabulary()) ? source.front() : 0};
}

std::vector<int32_t> shifted_decoder_ids(const Model& model, const std::vector<int32_t>& source) {
  std::vector<int32_t> ids = default_decoder_ids(model, source);
  if (ids.size() != 1 || model.source_vocabulary() != model.vocabulary()) return ids;
  if (!property_of(model, kTurnsSource).empty()) ids.front() = source.back();
  ids.insert(ids.end(), source.begin(), source.end() - 1);
  return ids;
}

std::vector<int32_t> default_segments(const Model& model, const std::vector<int32_t>& ids) {
  const std::string stored = property_of(model, kSegmentEnd);
  if (stored.empty() || model.segment_types() < 2) return {};
  std::vector<int32_t> segments(ids.size(), 1);
  const auto end = std::find_if(ids.begin(), ids.end(), [&](int32_t id) { return std::to_string(id) == stored; });
  std::fill(segments.begin(), end == ids.end() ? segments.begin() + 1 : segments.begin() + (end - ids.begin()) + 1, 0);
  return segments;
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
