// Continuous batching: generates many sequences at once, which join and leave between steps.
#ifndef BANTAM_CONVERTER_RUN_CONTINUOUS_BATCH_H_
#define BANTAM_CONVERTER_RUN_CONTINUOUS_BATCH_H_

#include <cstdint>
#include <exception>
#include <functional>
#include <vector>

#include "run/engine.h"
#include "run/generated_sequence.h"

namespace bantam::convert {

/// Each step is one run, with one token of every sequence that has read its prompt, and as many tokens of the prompts
/// of the others as have room. The bits of a row do not depend on the rows beside it, so that each sequence becomes the
/// same text as if it were alone.
class ContinuousBatch {
 public:
  /// `engine` must outlive the batch and has native kernels; its contexts belong to the batch.
  explicit ContinuousBatch(Engine& engine);

  bool has_room() const { return count_ < members_.size(); }
  bool empty() const { return count_ == 0; }

  /// Adds a sequence without beams, which must stay valid until it leaves. Encodes its source. Call only with room.
  void join(GeneratedSequence* sequence);
  /// Removes a sequence, whether it is done or not.
  void leave(const GeneratedSequence* sequence);

  /// Receives a sequence for which no next token could be chosen, and why.
  using Failed = std::function<void(GeneratedSequence*, std::exception_ptr)>;
  /// Runs a step; sequences that are done no longer take part. Throws if the run itself fails.
  void step(const Failed& failed);

 private:
  struct Member {
    GeneratedSequence* sequence = nullptr;  // null: the context is free
    uint32_t held = 0;                      // tokens in the context
    bool stuck = false;                     // no next token could be chosen
    bool runs() const { return sequence != nullptr && !sequence->done() && !stuck; }
  };
  /// Returns the number of tokens of a member that wait to be run.
  static uint32_t waiting(const Member& member);
  /// Fills the batch's arrays; returns false if no member has a token to run.
  bool gather();
  void choose(uint32_t sequence, const Failed& failed);

  Engine& engine_;
  Session& session_;
  const bool pair_;
  std::vector<Member> members_;  // member i has context i, and source i
  uint32_t count_ = 0;
  uint32_t next_prompt_ = 0;  // the member whose prompt is read first
  // The arrays of one step.
  std::vector<int32_t> ids_;
  std::vector<uint32_t> contexts_, offsets_, take_;
};

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_RUN_CONTINUOUS_BATCH_H_
