// A model and a session in memory of the test, and a parallel-for with threads.
#ifndef BANTAM_TESTS_SESSION_RUN_HELPERS_H_
#define BANTAM_TESTS_SESSION_RUN_HELPERS_H_

#include <atomic>
#include <cstdint>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "bantam/session.h"
#include "tests/session/model_builder.h"

namespace bantam::testing {

/// A 64-byte aligned block of exactly `size` bytes, filled with a byte that does not form sensible numbers.
class Arena {
 public:
  explicit Arena(size_t size) : storage_(size + 64, 0xA5), size_(size) {
    data_ = storage_.data() + (64 - reinterpret_cast<uintptr_t>(storage_.data()) % 64) % 64;
  }
  uint8_t* data() { return data_; }
  size_t size() const { return size_; }

 private:
  std::vector<uint8_t> storage_;
  uint8_t* data_;
  size_t size_;
};

/// Starts `workers` threads for each call; they take indices from a shared counter.
class Threads {
 public:
  explicit Threads(uint32_t workers) : workers_(workers) {
    parallel_.context = this;
    parallel_.run = [](void* context, uint32_t count, void (*task)(void*, uint32_t, uint32_t), void* arg) {
      std::atomic<uint32_t> next{0};
      std::vector<std::thread> threads;
      for (uint32_t worker = 0; worker < static_cast<Threads*>(context)->workers_; ++worker) {
        threads.emplace_back([&, worker] {
          for (uint32_t i = next++; i < count; i = next++) task(arg, i, worker);
        });
      }
      for (std::thread& thread : threads) thread.join();
    };
  }
  const Parallel* get() const { return &parallel_; }

 private:
  uint32_t workers_;
  Parallel parallel_;
};

/// Random token and segment ids, and marks if the model reads them.
struct Ids {
  std::vector<int32_t> ids, segments, marks;
  std::vector<uint32_t> offsets{0};

  Batch batch() const {
    Batch b;
    b.ids = ids.data();
    b.segments = segments.data();
    b.marks = marks.empty() ? nullptr : marks.data();
    b.offsets = offsets.data();
    b.sequences = static_cast<uint32_t>(offsets.size()) - 1;
    b.tokens = offsets.back();
    return b;
  }
};

inline Ids random_ids(const std::vector<uint32_t>& lengths, uint32_t vocabulary, uint32_t segment_types,
                      uint32_t seed) {
  std::mt19937 random(seed);
  Ids result;
  for (const uint32_t length : lengths) {
    for (uint32_t i = 0; i < length; ++i) {
      result.ids.push_back(static_cast<int32_t>(random() % vocabulary));
      result.segments.push_back(static_cast<int32_t>(random() % segment_types));
    }
    result.offsets.push_back(result.offsets.back() + length);
  }
  return result;
}

/// Returns the rows of an output without their padding.
inline std::vector<float> values(const OutputView& view) {
  std::vector<float> result;
  for (uint32_t r = 0; r < view.rows; ++r) {
    result.insert(result.end(), view.data + r * view.stride, view.data + r * view.stride + view.width);
  }
  return result;
}

/// Runs `ids` in a new session and returns the values of all outputs, one after the other. Throws any Status other than
/// kOk.
inline std::vector<float> run_once(const FileBytes& file, const Ids& ids, SessionOptions options) {
  const auto check = [](Status status) {
    if (status != Status::kOk) throw status;
  };
  Model model;
  check(Model::open(file.data(), file.size(), &model));
  if (options.max_tokens == 0) options.max_tokens = ids.offsets.back();
  options.max_sequences = static_cast<uint32_t>(ids.offsets.size()) - 1;
  Arena arena(arena_bytes(model, options));
  Session* session = nullptr;
  check(Session::create(model, options, arena.data(), arena.size(), &session));
  check(session->run(ids.batch()));
  std::vector<float> result;
  for (uint32_t i = 0; i < model.output_count(); ++i) {
    OutputView view;
    check(session->output(i, &view));
    const std::vector<float> one = values(view);
    result.insert(result.end(), one.begin(), one.end());
  }
  return result;
}

}  // namespace bantam::testing

#endif  // BANTAM_TESTS_SESSION_RUN_HELPERS_H_
