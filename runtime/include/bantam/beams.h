// Beam search: finds the likeliest whole texts of a decoder or encoder-decoder by keeping several candidates (as
// transformers' generate() with num_beams; early stopping and length penalties follow its definitions).
#ifndef BANTAM_BEAMS_H_
#define BANTAM_BEAMS_H_

#include "bantam/constraint.h"
#include "bantam/export.h"
#include "bantam/session.h"

BANTAM_EXPORT_BEGIN
namespace bantam {

/// When a search ends. kNo: as soon as no beam's score, at its current length, is better than the worst finished text.
/// kYes: as soon as the number of finished texts equals the number of beams. kNever: when no beam can become better,
/// whatever follows.
enum class EarlyStopping : uint8_t { kNo = 0, kYes = 1, kNever = 2 };

struct BeamOptions {
  uint32_t beams = 4;    // 1 to kMostBeams
  uint32_t max_new = 0;  // tokens; 0: as many as fit into a context
  uint32_t min_new = 0;  // new tokens before a text may end
  // The score of a text is the sum of its tokens' log probabilities, divided by their number to this power.
  float length_penalty = 1;
  EarlyStopping early_stopping = EarlyStopping::kNo;
  // As in Sampling.
  float repetition_penalty = 1;
  uint32_t no_repeat_ngram = 0;
  const int32_t* banned = nullptr;  // outlives the search
  uint32_t banned_count = 0;
  int32_t first_id = -1;  // the first new token; -1: any
  int32_t last_id = -1;   // the last one of a text of max_new tokens; -1: any
  // Restricts the tokens after first_id (or all tokens, if first_id is -1); null: no restriction. It must outlive the
  // search. It ends texts with the tokens that the file names; the file must name at least one. With a constraint,
  // last_id is not forced.
  const Constraint* constraint = nullptr;
  // the last begin_banned ids of `banned` are excluded only for the first token after first_id
  uint32_t begin_banned = 0;
  // As in Sampling; outlives the search.
  uint32_t source_no_repeat_ngram = 0;
  const int32_t* source_ids = nullptr;
  uint32_t source_count = 0;
};
constexpr uint32_t kMostBeams = 64;

/// A finished text; `ids` includes its last token.
struct BeamText {
  const int32_t* ids = nullptr;
  uint32_t count = 0;
  float score = 0;
};

/// If the file has a shortlist, texts consist of the words on their source's list (Session::shortlist), unless there is
/// a constraint. A session can run one search at a time, which uses its first contexts. The caller owns the memory.
class BeamSearch {
 public:
  /// Bytes of memory for a search; 0: the session has no contexts or fewer contexts than beams, or an option is out of
  /// range.
  static size_t bytes(const Session& session, const BeamOptions& options);

  /// Begins a search after `prompt` (for an encoder-decoder: the tokens that its texts begin with). It attends to
  /// `source`, which encode() has already read. Empties the contexts first and computes the prompt's keys and values.
  /// Returns kInvalidArgument, kBufferTooSmall, kTooManyTokens (no room for a new token), or a status of run().
  /// `session` and `memory` (8-byte aligned) must outlive the search.
  Status begin(Session* session, const BeamOptions& options, const int32_t* prompt, uint32_t count, uint32_t source,
               void* memory, size_t size);

  /// Adds a token to every beam. After kOk, *done says whether the search has ended. The caller may abandon a search at
  /// any time. kNoTokenAllowed: the settings, with the constraint or shortlist, exclude every token.
  Status step(bool* done);

  /// Number of texts finished so far, best first; at least one at the end.
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
    uint32_t slot;  // index of its tokens in tokens_
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
  uint32_t most_ = 0;    // most tokens of a text
  uint32_t active_ = 0;  // beams that continue
  uint32_t source_ = 0;
  uint32_t kept_ = 0;  // most candidates of a step
  uint32_t held_ = 0;  // candidates found so far in this step
  uint32_t ended_ = 0;
  bool improves_ = true;  // a beam may still become better than the finished texts
  bool done_ = false;
  Candidate* candidates_ = nullptr;  // [kept_], best first
  Ended* texts_ = nullptr;           // [beams + 1], best first
  int32_t* tokens_ = nullptr;        // [beams + 1][most_]
  float* scores_ = nullptr;          // [beams]: scores of the beams that continue
  int32_t* ids_ = nullptr;           // [beams]: their next tokens
  uint32_t* parents_ = nullptr;      // [beams]
  uint32_t* sources_ = nullptr;      // [beams]
  uint32_t* offsets_ = nullptr;      // [beams + 1]
};

}  // namespace bantam
BANTAM_EXPORT_END

#endif  // BANTAM_BEAMS_H_
