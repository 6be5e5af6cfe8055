// Beam search: the texts that a decoder or encoder-decoder finds likeliest as a whole, several kept at a time (as transformers'
// generate() with num_beams; early stopping and length penalties as it defines them).
#ifndef BANTAM_BEAMS_H_
#define BANTAM_BEAMS_H_

#include "bantam/constraint.h"
#include "bantam/export.h"
#include "bantam/session.h"

BANTAM_EXPORT_BEGIN
namespace bantam {

/// When a search ends. kNo: as soon as no beam's score, at its length, is better than the worst of the texts that have ended. kYes: as
/// soon as as many texts as beams have ended. kNever: when no beam can become better whatever follows.
enum class EarlyStopping : uint8_t { kNo = 0, kYes = 1, kNever = 2 };

struct BeamOptions {
  uint32_t beams = 4;    // 1 to kMostBeams
  uint32_t max_new = 0;  // tokens; 0: as many as a context has room for
  uint32_t min_new = 0;  // before one may end a text
  float length_penalty =
      1;  // a text's score is the sum of its tokens' logarithms over the number of them to this power
  EarlyStopping early_stopping = EarlyStopping::kNo;
  // As in Sampling.
  float repetition_penalty = 1;
  uint32_t no_repeat_ngram = 0;
  const int32_t* banned = nullptr;  // outlives the search
  uint32_t banned_count = 0;
  int32_t first_id = -1;  // the first new token; -1: any
  int32_t last_id = -1;   // the last one of a text of max_new tokens; -1: any
  // Restricts the texts behind first_id (or from the start, if first_id is -1); null: no restriction. It outlives the
  // search and lets texts end with tokens that the file names; the file must name at least one. With a constraint
  // last_id is not forced.
  const Constraint* constraint = nullptr;
  uint32_t begin_banned = 0;  // so many at the end of `banned` are left out only at the first token behind first_id
  // As in Sampling; outlives the search.
  uint32_t source_no_repeat_ngram = 0;
  const int32_t* source_ids = nullptr;
  uint32_t source_count = 0;
};
constexpr uint32_t kMostBeams = 64;

/// A text that has ended, its last token among `ids`.
struct BeamText {
  const int32_t* ids = nullptr;
  uint32_t count = 0;
  float score = 0;
};

/// If the file has a shortlist, texts consist of the words on their source's list (Session::shortlist), unless there is
/// a constraint. A session runs one search at a time, in its first contexts. The caller owns the memory.
class BeamSearch {
 public:
  /// Bytes of memory for a search; 0: the session has no contexts, or fewer than beams, or the options are out of range.
  static size_t bytes(const Session& session, const BeamOptions& options);

  /// Begins a search behind `prompt` (for an encoder-decoder: the tokens that its texts begin with). It attends to
  /// `source`, which encode() has already read. Empties the contexts first and computes the prompt's keys and values.
  /// Returns kInvalidArgument, kBufferTooSmall, kTooManyTokens (there is no room for a token), or a status of run().
  /// `session` and `memory` (8-byte aligned) outlive the search.
  Status begin(Session* session, const BeamOptions& options, const int32_t* prompt, uint32_t count, uint32_t source,
               void* memory, size_t size);

  /// Adds a token to every beam. After kOk *done says whether the search has ended. The caller may abandon a search at
  /// any time. kNoTokenAllowed: the settings, with the constraint or shortlist, exclude every token.
  Status step(bool* done);

  /// Texts that have ended so far, best first; at the end at least one.
  uint32_t count() const { return ended_; }
  BeamText text(uint32_t rank) const;

 private:
  struct Candidate {
    float score;
    uint32_t beam;
    int32_t id;
  };
  struct Ended {
    float score;
    uint32_t slot;  // where its tokens lie
    uint32_t count;
  };

  Status gather();
  Status consider(uint32_t beam, float* scores, uint32_t vocabulary);
  Status constrain(uint32_t beam, float* scores, uint32_t vocabulary) const;
  void take(float score, uint32_t beam, int32_t id);
  void end_texts();
  void go_on();
  void keep_text(const Candidate& candidate, float score);
  bool is_full() const { return ended_ == options_.beams; }
  Status run();

  Session* session_ = nullptr;
  BeamOptions options_;
  uint32_t prompt_ = 0;  // tokens
  uint32_t made_ = 0;    // new tokens of each beam
  uint32_t most_ = 0;    // of a text
  uint32_t active_ = 0;  // beams that go on
  uint32_t source_ = 0;
  uint32_t kept_ = 0;  // candidates of a step
  uint32_t held_ = 0;  // of them so far
  uint32_t ended_ = 0;
  bool improves_ = true;  // a beam may still become better than what has ended
  bool done_ = false;
  Candidate* candidates_ = nullptr;  // [kept_], best first
  Ended* texts_ = nullptr;           // [beams + 1], best first
  int32_t* tokens_ = nullptr;        // [beams + 1][most_]
  float* scores_ = nullptr;          // [beams], of what goes on
  int32_t* ids_ = nullptr;           // [beams]: the tokens that come next
  uint32_t* parents_ = nullptr;      // [beams]
  uint32_t* sources_ = nullptr;      // [beams]
  uint32_t* offsets_ = nullptr;      // [beams + 1]
};

}  // namespace bantam
BANTAM_EXPORT_END

#endif  // BANTAM_BEAMS_H_
