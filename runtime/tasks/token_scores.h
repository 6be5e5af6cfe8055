// Adjusts the scores of the next token before the choice: tokens that occurred already are penalized or excluded, as in
// transformers' generate().
#ifndef BANTAM_TASKS_TOKEN_SCORES_H_
#define BANTAM_TASKS_TOKEN_SCORES_H_

#include <stdint.h>

#include "bantam/constraint.h"
#include "session/parts/shortlist.h"

namespace bantam::tasks {

/// The score of excluded tokens.
constexpr float kLeftOut = kUnlisted;

struct TokenRules {
  float repetition_penalty = 1;
  uint32_t no_repeat_ngram = 0;
  const int32_t* banned = nullptr;
  uint32_t banned_count = 0;
  int32_t forced = -1;  // only this token may be chosen; -1: any
  uint32_t source_no_repeat_ngram = 0;
  const int32_t* source = nullptr;
  uint32_t source_count = 0;
};

bool are_valid(const TokenRules& rules);

/// Adjusts the scores [vocabulary] of the token after `history`. O(vocabulary + history * (vocabulary / 4096 with a
/// repetition penalty)).
void apply_rules(const TokenRules& rules, float* scores, uint32_t vocabulary, const int32_t* history, uint32_t count);

/// A constraint on a text that follows `prompt` tokens of a history and has at most `most` tokens (0: any number);
/// null: none.
struct TextRule {
  const Constraint* constraint = nullptr;
  uint32_t prompt = 0;
  uint32_t most = 0;
};
/// Calls follow() for the text. kInvalidArgument: there is no function, or the history is shorter than the prompt or
/// longer than allowed.
Status follow_text(const TextRule& rule, const int32_t* history, uint32_t count);
/// Excludes all tokens that may not follow. O(vocabulary) calls of allows().
void leave_out_forbidden(const Constraint& constraint, float* scores, uint32_t vocabulary);

/// ln x of x > 0, within 1e-12; the same on every machine.
double natural_log(double x);
/// Computes x to the power of y for x > 0, with relative error 1e-11 if the result is between 1e-30 and 1e30, and
/// clamped to these; the same on every machine.
double power(double x, double y);

}  // namespace bantam::tasks

#endif  // BANTAM_TASKS_TOKEN_SCORES_H_
