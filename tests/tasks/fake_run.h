// A session that has "run", with outputs, tokens and labels chosen by the test, so that task heads can be tested
// without a network.
#ifndef BANTAM_TESTS_TASKS_FAKE_RUN_H_
#define BANTAM_TESTS_TASKS_FAKE_RUN_H_

#include <memory>
#include <string>
#include <vector>

#include "bantam/tasks.h"
#include "bantam_generated.h"

namespace bantam::tests {

/// An output: a row of `width` floats for each token or each sequence.
struct FakeOutput {
  fb::OutputRole role = fb::OutputRole::none;
  uint32_t width = 0;
  bool per_token = false;
  std::vector<float> values;  // one row after the other, without padding
};

/// A token of sequence 0 or 1, or a special token (sequence 255).
struct FakeToken {
  Offset bytes;
  uint8_t sequence = 0;
  int32_t id = 0;
};

class FakeRun {
 public:
  FakeRun();
  ~FakeRun();

  fb::TaskT& task() { return *task_; }
  /// Adds a label set over output number `output`.
  fb::LabelSetT& add_labels(uint32_t output, const std::vector<std::string>& labels,
                            fb::TagScheme scheme = fb::TagScheme::plain);
  void add_output(FakeOutput output) { outputs_.push_back(std::move(output)); }
  void set_mask_id(int32_t id) { mask_id_ = id; }
  /// Adds a sequence.
  void add_sequence(const std::vector<FakeToken>& tokens);
  /// Adds a special token, one token per word of `text` (split at single blanks), and a special token.
  void add_words(const std::string& text);

  /// Builds everything. The session reports that it has run unless `has_run` is false.
  const Session& session(bool has_run = true);
  const Model& model();

 private:
  struct Built;
  std::unique_ptr<fb::TaskT> task_;
  std::vector<FakeOutput> outputs_;
  std::vector<std::vector<FakeToken>> sequences_;
  int32_t mask_id_ = -1;
  std::unique_ptr<Built> built_;
};

/// Returns "label0", "label1" and so on.
std::vector<std::string> label_names(size_t count);

}  // namespace bantam::tests

#endif  // BANTAM_TESTS_TASKS_FAKE_RUN_H_
