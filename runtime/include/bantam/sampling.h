// The next token of a decoder, chosen from the scores of a run. Nothing is remembered here: what a choice depends on is the settings,
// the scores, and the tokens so far, so that generation can stop at any token and go on later, on another machine, too.
#ifndef BANTAM_SAMPLING_H_
#define BANTAM_SAMPLING_H_

#include "bantam/constraint.h"
#include "bantam/export.h"
#include "bantam/session.h"

BANTAM_EXPORT_BEGIN
namespace bantam {

/// Settings by the names and in the order of transformers' generate(): repetition_penalty, no_repeat_ngram, banned and the constraint
/// (there prefix_allowed_tokens_fn) change scores; then temperature divides them, and top_k, top_p and min_p leave out tokens, each of what the one before has left.
struct Sampling {
  float temperature = 0;         // 0: the likeliest token, of equals the first
  uint32_t top_k = 0;            // the k likeliest and what equals the last of them; 0: all
  float top_p = 1;               // in (0, 1]: the likeliest that have this probability together
  float min_p = 0;               // in [0, 1]: what has this share of the likeliest one's probability
  float repetition_penalty = 1;  // above 0: scores of tokens that have been are divided by it, negative ones multiplied
  uint32_t no_repeat_ngram = 0;  // no row of so many tokens comes twice; 0: any may
  uint64_t seed = 0;             // with the number of tokens so far it gives the random number of a choice
  const int32_t* banned = nullptr;  // tokens that are not chosen
  uint32_t banned_count = 0;
  int32_t forced = -1;                     // this token is chosen whatever the scores say; -1: any
  bool log_probability = false;            // NextToken has it
  const Constraint* constraint = nullptr;  // outlives the choice; null: texts may become anything
  uint32_t prompt = 0;                     // with a constraint: tokens of the history that stand before the text
  uint32_t max_new = 0;                    // with a constraint: most tokens of the text; 0: any number
  uint32_t source_no_repeat_ngram = 0;     // no row of so many tokens of source_ids comes in the text; 0: any may
  const int32_t* source_ids = nullptr;     // the source of an encoder-decoder, or the prompt of a decoder
  uint32_t source_count = 0;
};

struct NextToken {
  int32_t id = -1;
  float log_probability = 0;  // by the scores as they were, before any setting
};

/// Chooses from `scores` [vocabulary], finite, which it changes. `history`: the tokens so far. kInvalidArgument: a setting is out of
/// range. kNoTokenAllowed: settings, with the constraint or shortlist, leave out all. Of scores with the same bits every machine chooses the same. O(vocabulary + history), with top_k or top_p some 30 times.
Status choose_token(float* scores, uint32_t vocabulary, const int32_t* history, uint32_t history_count,
                    const Sampling& sampling, NextToken* out);

/// The same from the output of the last run for what follows the last token of `sequence`; the history is that of its context, or the
/// sequence itself. The output is changed: ask once a run. Of a file with a shortlist the choice, and log_probability, is among the words
/// that the sequence's source has there, unless a constraint says what may come or a token is forced. kNoSuchTask: the file is not for generating.
Status next_token(Session& session, uint32_t sequence, const Sampling& sampling, NextToken* out);

/// Leaves out the words that are not in the source's shortlist (Session::shortlist), so that probabilities are among the others: as
/// next_token and BeamSearch do, for those who call choose_token. `scores` [vocabulary]. O(vocabulary).
void keep_shortlist(const Session& session, uint32_t source, float* scores, uint32_t vocabulary);

/// Does this token end a text, as the file says? O(such tokens).
bool ends_text(const Model& model, int32_t id);

/// The random number in [0, 1) of a choice with `count` tokens before it: the upper 24 bits of SplitMix64's output number `count`.
float choice_number(uint64_t seed, uint32_t count);

}  // namespace bantam
BANTAM_EXPORT_END

#endif  // BANTAM_SAMPLING_H_
