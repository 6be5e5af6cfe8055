#include "run/chunks.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "base/status_error.h"
#include "format/view.h"
#include "graph/task_parts.h"

namespace bantam::convert {
namespace {

/// Returns the index of the output with the rows of a chunk that the neighbors' encoder reads.
uint32_t rows_output(const Model& model) {
  for (uint32_t i = 0; i < model.output_count(); ++i) {
    const Text name = model.output_name(i);
    if (std::string_view(name.data, name.size) == kChunkRows) return i;
  }
  return model.output_count();
}

}  // namespace

uint32_t most_neighbours(const Model& model) { return model.segment_types() - 1; }

uint32_t most_neighbour_tokens(const Model& model) {
  if (model.max_source() == 0) return 2 * model.chunk_tokens();  // the paper's value
  return (model.max_source() - model.chunk_tokens()) / most_neighbours(model);
}

void encode_chunk(Session& session, const std::string& name, uint32_t source, const std::vector<float>& rows,
                  const Neighbours& neighbours) {
  const Model& model = session.model();
  const uint32_t most = most_neighbours(model), longest = most_neighbour_tokens(model), chunk = model.chunk_tokens();
  if (neighbours.size() > most) {
    fail(ExitCode::kInvalid, "{}: {} texts are given for a chunk; the model takes up to {}", name, neighbours.size(),
         most);
  }
  std::vector<int32_t> ids(chunk), segments(chunk);
  const auto vocabulary = static_cast<int32_t>(ids_input(root(model), fb::Phase::source)->limit());
  for (size_t i = 0; i < neighbours.size(); ++i) {
    const std::vector<int32_t>& text = neighbours[i];
    if (text.empty() || text.size() > longest) {
      fail(ExitCode::kInvalid, "{}: text {} for a chunk has {} tokens; the model takes from 1 to {}", name, i + 1,
           text.size(), longest);
    }
    for (const int32_t id : text) {
      if (id < 0 || id >= vocabulary) {
        fail(ExitCode::kInvalid, "{}: text {} for a chunk has token {}; the model's are from 0 to {}", name, i + 1, id,
             vocabulary - 1);
      }
    }
    ids.insert(ids.end(), text.begin(), text.end());
    segments.insert(segments.end(), text.size(), static_cast<int32_t>(i + 1));
  }
  std::vector<float> features = rows;
  features.resize(ids.size() * model.feature_width());
  Batch batch;
  batch.ids = ids.data();
  batch.segments = segments.data();
  batch.features = features.data();
  batch.tokens = static_cast<uint32_t>(ids.size());
  batch.sources = &source;
  check(session.encode(batch), name);
}

ChunkedText::ChunkedText(Session& session, std::string name, uint32_t context, uint32_t source, Retrieve retrieve)
    : session_(session),
      name_(std::move(name)),
      context_(context),
      source_(source),
      chunk_(session.model().chunk_tokens()),
      rows_output_(rows_output(session.model())),
      retrieve_(std::move(retrieve)) {
  if (rows_output_ == session.model().output_count() && retrieve_ != nullptr) {
    fail(ExitCode::kInvalid, "{}: has no output \"{}\", which what is retrieved needs; convert it again", name_,
         kChunkRows);
  }
  clear();
}

void ChunkedText::clear() {
  check(session_.truncate(context_, 0), name_);
  length_ = 0;
  encoded_ = false;
  ids_.clear();
  rows_.clear();
}

void ChunkedText::run(const int32_t* ids, size_t count, bool last_rows, const Take& take) {
  if (retrieve_ == nullptr) return run_without(ids, count, last_rows, take);
  for (size_t at = 0; at < count;) {
    // This is the last token of a chunk; it and the following tokens attend to the source of this chunk.
    const bool last = (length_ + 1) % chunk_ == 0;
    if (last) finish_chunk(ids[at]);
    const uint32_t left = last ? chunk_ : chunk_ - 1 - length_ % chunk_;
    const auto piece = static_cast<uint32_t>(std::min<size_t>({count - at, session_.max_tokens(), left}));
    run_piece(ids + at, piece, encoded_, false);
    if (!last) ids_.push_back(ids[at]);
    ids_.insert(ids_.end(), ids + at + 1, ids + at + piece);
    keep_rows(last ? 1 : 0);
    length_ += piece;
    take(at, piece);
    at += piece;
  }
}

void ChunkedText::run_without(const int32_t* ids, size_t count, bool last_rows, const Take& take) {
  for (size_t at = 0; at < count;) {
    const auto piece = static_cast<uint32_t>(std::min<size_t>(count - at, session_.max_tokens()));
    run_piece(ids + at, piece, false, last_rows);
    length_ += piece;
    take(at, piece);
    at += piece;
  }
}

void ChunkedText::run_piece(const int32_t* ids, uint32_t count, bool with_source, bool last_rows) {
  Batch batch;
  batch.ids = ids;
  batch.tokens = count;
  batch.contexts = &context_;
  batch.sources = with_source ? &source_ : nullptr;
  batch.last_rows = last_rows;
  check(session_.run(batch), name_);
}

void ChunkedText::keep_rows(uint32_t first) {
  OutputView view;
  check(session_.output(rows_output_, 0, &view), name_);
  for (uint32_t row = first; row < view.rows; ++row) {
    const float* begin = view.data + size_t{row} * view.stride;
    rows_.insert(rows_.end(), begin, begin + view.width);
  }
}

void ChunkedText::finish_chunk(int32_t last) {
  run_piece(&last, 1, false, false);
  keep_rows(0);
  check(session_.truncate(context_, length_), name_);
  ids_.push_back(last);
  const Neighbours neighbours = retrieve_(length_ / chunk_, ids_);
  encoded_ = !neighbours.empty();
  if (encoded_) encode_chunk(session_, name_, source_, rows_, neighbours);
  if (encoded_ && watch_ != nullptr) watch_();
  ids_.clear();
  rows_.clear();
}

}  // namespace bantam::convert
