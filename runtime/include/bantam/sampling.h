// Chooses the next token of a decoder from the scores of a run. No state is kept here: a choice depends only on the
// settings, the scores and the tokens so far, so that generation can stop at any token and continue later, also on
// another machine.
#ifndef BANTAM_SAMPLING_H_
#define BANTAM_SAMPLING_H_

#include "bantam/constraint.h"
#include "bantam/export.h"
#include "bantam/session.h"

BANTAM_EXPORT_BEGIN
namespace bantam {

/// Settings with the names and in the order of transformers' generate(): repetition_penalty, no_repeat_ngram, banned
/// and the constraint (prefix_allowed_tokens_fn there) change scores; then temperature divides them; then top_k, top_p
/// and min_p each exclude tokens from those that remain.
struct Sampling {
  float temperature = 0;  // 0: the likeliest token (ties: the first)
  uint32_t top_k = 0;     // keeps the k likeliest tokens and those that tie with the last of them; 0: all
  float top_p = 1;        // in (0, 1]: keeps the likeliest tokens whose probabilities sum to at least this
  float min_p = 0;        // in [0, 1]: keeps tokens with at least this fraction of the greatest probability
  // above 0: divides the scores of tokens that occurred already; multiplies negative ones
  float repetition_penalty = 1;
  uint32_t no_repeat_ngram = 0;     // no n-gram of this length occurs twice; 0: no restriction
  uint64_t seed = 0;                // a choice's random number depends on it and on the number of tokens so far
  const int32_t* banned = nullptr;  // tokens that are not chosen
  uint32_t banned_count = 0;
  int32_t forced = -1;                     // this token is chosen whatever the scores are; -1: none
  bool log_probability = false;            // fills in NextToken::log_probability
  const Constraint* constraint = nullptr;  // must outlive the choice; null: no restriction
  uint32_t prompt = 0;                     // with a constraint: tokens of the history before the text
  uint32_t max_new = 0;                    // with a constraint: most tokens of the text; 0: any number
  uint32_t source_no_repeat_ngram = 0;  // no n-gram of this length of source_ids occurs in the text; 0: no restriction
  const int32_t* source_ids = nullptr;  // the source of an encoder-decoder, or the prompt of a decoder
  uint32_t source_count = 0;
};

struct NextToken {
  int32_t id = -1;
  float log_probability = 0;  // from the original scores, before any setting
};

/// Chooses from `scores` [vocabulary], which must be finite and which it modifies. `history`: the tokens so far.
/// kInvalidArgument: a setting is out of range. kNoTokenAllowed: the settings, with the constraint or shortlist,
/// exclude every token. For scores with the same bits every machine makes the same choice. O(vocabulary + history);
/// with top_k or top_p about 30 passes over the scores.
Status choose_token(float* scores, uint32_t vocabulary, const int32_t* history, uint32_t history_count,
                    const Sampling& sampling, NextToken* out);

/// Chooses the token after the last one of `sequence` of the last run, from the run's output; the history is that of
/// its context, or the sequence itself. Modifies the output: call it once per run. If the file has a shortlist, the
/// choice and log_probability are restricted to the words listed for the sequence's source, unless there is a
/// constraint or a forced token. kNoSuchTask: the file is not for generation.
Status next_token(Session& session, uint32_t sequence, const Sampling& sampling, NextToken* out);

/// Chooses the token after row `row` of `sequence`, counted from the sequence's first row of the last run: for tokens
/// that were guessed (bantam/guesses.h). The history ends with the token of that row. Call it once per row.
/// kIndexOutOfRange: the run has no scores of that row; with Batch::last_rows it has one row.
Status next_token(Session& session, uint32_t sequence, uint32_t row, const Sampling& sampling, NextToken* out);

/// Excludes the words that are not in the source's shortlist (Session::shortlist), so that probabilities cover only the
/// listed ones, as in next_token and BeamSearch. For callers of choose_token. `scores` [vocabulary]. O(vocabulary).
void keep_shortlist(const Session& session, uint32_t source, float* scores, uint32_t vocabulary);

/// Returns true if this token ends a text, by the file's settings. O(such tokens).
bool ends_text(const Model& model, int32_t id);

/// The random number in [0, 1) of a choice after `count` tokens: the upper 24 bits of SplitMix64's output number
/// `count`.
float choice_number(uint64_t seed, uint32_t count);

}  // namespace bantam
BANTAM_EXPORT_END

#endif  // BANTAM_SAMPLING_H_
