// Scores of the next token, before one is chosen: what has been said is penalised or forbidden, as transformers' generate() does it.
#ifndef BANTAM_TASKS_TOKEN_SCORES_H_
#define BANTAM_TASKS_TOKEN_SCORES_H_

#include <stdint.h>

#include "bantam/constraint.h"
#include "session/parts/shortlist.h"

namespace bantam::tasks {

/// The score of tokens that are left out.
constexpr float kLeftOut = kUnlisted;

struct TokenRules {
  float repetition_penalty = 1;
  uint32_t no_repeat_ngram = 0;
  const int32_t* banned = nullptr;
  uint32_t banned_count = 0;
  int32_t forced = -1;  // no other token is chosen; -1: any
  uint32_t source_no_repeat_ngram = 0;
  const int32_t* source = nullptr;
  uint32_t source_count = 0;
};

bool are_valid(const TokenRules& rules);

/// Changes scores [vocabulary] of what follows `history`. O(vocabulary + history * (vocabulary / 4096 where repetition is penalised)).
void apply_rules(const TokenRules& rules, float* scores, uint32_t vocabulary, const int32_t* history, uint32_t count);

/// A constraint at a text that stands behind `prompt` tokens of a history, and may have `most` (0: any number); null: none.
struct TextRule {
  const Constraint* constraint = nullptr;
  uint32_t prompt = 0;
  uint32_t most = 0;
};
/// Follows the text. kInvalidArgument where there is no function, or the history is shorter than the prompt or longer than it may be.
Status follow_text(const TextRule& rule, const int32_t* history, uint32_t count);
/// Leaves out the scores of all that may not follow. O(vocabulary) questions.
void leave_out_forbidden(const Constraint& constraint, float* scores, uint32_t vocabulary);

/// ln x of x > 0, within 1e-12; the same on every machine.
double natural_log(double x);
/// x to the power of y, x > 0, within 1e-11 of it where the result is between 1e-30 and 1e30, and clamped to these; the same on every
/// machine.
double power(double x, double y);

}  // namespace bantam::tasks

#endif  // BANTAM_TASKS_TOKEN_SCORES_H_
