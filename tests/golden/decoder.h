// A file of a golden decoder or encoder-decoder with a session, and the bits of its answers.
#ifndef BANTAM_TESTS_GOLDEN_DECODER_H_
#define BANTAM_TESTS_GOLDEN_DECODER_H_

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "golden/expected.h"
#include "import/hugging_face.h"
#include "pack/build.h"
#include "tests/session/run_helpers.h"

namespace bantam::golden {

using testing::Arena;
using Bits = std::vector<uint32_t>;

inline std::vector<int32_t> random_tokens(uint32_t count, uint32_t seed, uint32_t vocabulary) {
  std::mt19937 random(seed);
  std::vector<int32_t> ids;
  for (uint32_t i = 0; i < count; ++i) ids.push_back(static_cast<int32_t>(random() % vocabulary));
  return ids;
}

inline std::vector<int32_t> slice(const std::vector<int32_t>& ids, uint32_t begin, size_t end) {
  return {ids.begin() + static_cast<std::ptrdiff_t>(begin), ids.begin() + static_cast<std::ptrdiff_t>(end)};
}

/// Sequences one after the other.
struct Sequences {
  std::vector<int32_t> ids;
  std::vector<uint32_t> offsets = {0};

  explicit Sequences(const std::vector<std::vector<int32_t>>& sequences) {
    for (const auto& sequence : sequences) {
      ids.insert(ids.end(), sequence.begin(), sequence.end());
      offsets.push_back(static_cast<uint32_t>(ids.size()));
    }
  }
  Batch batch() const {
    Batch batch;
    batch.ids = ids.data();
    batch.offsets = offsets.data();
    batch.sequences = static_cast<uint32_t>(offsets.size() - 1);
    batch.tokens = offsets.back();
    return batch;
  }
};

/// A file and a session in an arena that is initially filled with NaNs.
class Decoder {
 public:
  Decoder(const std::string& name, fb::DType weights, const SessionOptions& options) {
    convert::TypeOptions types;
    types.weights = weights;
    bytes_ = convert::build(convert::import_hugging_face(model_directory(name)), types);
    EXPECT_EQ(Model::open(bytes_.data(), bytes_.size(), &model_), Status::kOk);
    const size_t size = arena_bytes(model_, options);
    EXPECT_NE(size, 0U);
    arena_ = std::make_unique<Arena>(size);
    std::memset(arena_->data(), 0xFF, size);  // NaNs
    Fault fault;
    EXPECT_EQ(Session::create(model_, options, arena_->data(), size, &session_, &fault), Status::kOk)
        << std::string(fault.what == nullptr ? "" : fault.what);
  }

  Session& session() { return *session_; }
  const Model& model() const { return model_; }

  /// Runs the pass over sources and stores them under `numbers`; empty: the first numbers.
  void encode(const std::vector<std::vector<int32_t>>& sources, const std::vector<uint32_t>& numbers = {}) {
    const Sequences all(sources);
    Batch batch = all.batch();
    batch.sources = numbers.empty() ? nullptr : numbers.data();
    EXPECT_EQ(session_->encode(batch), Status::kOk);
  }

  /// Runs sequences and returns the bits of each one's output rows.
  std::vector<Bits> run(const std::vector<std::vector<int32_t>>& sequences, const std::vector<uint32_t>& contexts = {},
                        bool last_rows = false, const std::vector<uint32_t>& sources = {}, bool listed = false) {
    const Sequences all(sequences);
    Batch batch = all.batch();
    batch.contexts = contexts.empty() ? nullptr : contexts.data();
    batch.sources = sources.empty() ? nullptr : sources.data();
    batch.last_rows = last_rows;
    batch.listed = listed;
    EXPECT_EQ(session_->run(batch), Status::kOk);
    std::vector<Bits> found(sequences.size());
    for (uint32_t i = 0; i < sequences.size(); ++i) {
      OutputView view;
      EXPECT_EQ(session_->output(0, i, &view), Status::kOk);
      for (uint32_t row = 0; row < view.rows; ++row) {
        const size_t at = found[i].size();
        found[i].resize(at + view.width);
        std::memcpy(found[i].data() + at, view.data + row * view.stride, view.width * sizeof(float));
      }
    }
    return found;
  }

  /// Returns the output rows of a sequence that is run in pieces of `piece` tokens in an empty context.
  Bits run_in_pieces(const std::vector<int32_t>& ids, uint32_t piece) {
    Bits all;
    const auto count = static_cast<uint32_t>(ids.size());
    for (uint32_t begin = 0; begin < count; begin += piece) {
      EXPECT_EQ(session_->context_length(0), begin);
      const Bits one = run({slice(ids, begin, std::min(begin + piece, count))})[0];
      all.insert(all.end(), one.begin(), one.end());
    }
    return all;
  }

 private:
  convert::FileBytes bytes_;
  Model model_;
  std::unique_ptr<Arena> arena_;
  Session* session_ = nullptr;
};

/// Returns rows [begin, end) of an output of `width` columns.
inline Bits rows_of(const Bits& all, size_t begin, size_t end, size_t width) {
  const auto at = [&](size_t row) { return all.begin() + static_cast<std::ptrdiff_t>(row * width); };
  return {at(begin), at(end)};
}

}  // namespace bantam::golden

#endif  // BANTAM_TESTS_GOLDEN_DECODER_H_
