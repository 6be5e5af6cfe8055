#include "tasks/token_scores.h"

#include <string.h>

#include "linked.h"

#if BANTAM_IF_LINKED(Contexts)

namespace bantam::tasks {
namespace {

/// Applies the penalty once to each token of the history, for a window of ids at a time, so that the set of seen ids
/// fits on the stack.
void penalise(float* scores, uint32_t vocabulary, const int32_t* history, uint32_t count, float penalty) {
  constexpr uint32_t kWindow = 4096;
  for (uint32_t first = 0; first < vocabulary; first += kWindow) {
    uint8_t seen[kWindow / 8] = {};
    bool any = false;
    for (uint32_t i = 0; i < count; ++i) {
      const uint32_t at = static_cast<uint32_t>(history[i]) - first;
      if (at >= kWindow) continue;
      seen[at / 8] = static_cast<uint8_t>(seen[at / 8] | (1u << at % 8));
      any = true;
    }
    for (uint32_t at = 0; any && at < kWindow && first + at < vocabulary; ++at) {
      if ((seen[at / 8] >> at % 8 & 1u) == 0) continue;
      float& score = scores[first + at];
      if (score <= kLeftOut) continue;  // remains excluded
      score = score < 0.0f ? score * penalty : score / penalty;
    }
  }
}

/// Excludes each token that would complete, after `history`, an n-gram of `n` tokens of `given`. O(given * n).
void forbid_repeats(float* scores, uint32_t vocabulary, const int32_t* given, uint32_t given_count,
                    const int32_t* history, uint32_t count, uint32_t n) {
  if (n > count + 1 || n > given_count) return;
  const int32_t* last = history + (count - (n - 1));
  for (uint32_t i = 0; i <= given_count - n; ++i) {
    uint32_t same = 0;
    while (same < n - 1 && given[i + same] == last[same]) ++same;
    const auto id = static_cast<uint32_t>(given[i + n - 1]);
    if (same == n - 1 && id < vocabulary) scores[id] = kLeftOut;
  }
}

constexpr double kLn2 = 0.6931471805599453;

/// 2^e, -1022 <= e <= 1023.
double two_to(int32_t e) {
  const uint64_t bits = static_cast<uint64_t>(e + 1023) << 52;
  double x = 0;
  memcpy(&x, &bits, sizeof(x));
  return x;
}

/// Computes e^x for |x| < 700: x = k ln 2 + r, |r| <= ln 2 / 2, and the series of e^r up to the 13th power, with an
/// error of 1e-16.
double exponential(double x) {
  const double turns = x / kLn2;
  const auto k = static_cast<int32_t>(turns < 0 ? turns - 0.5 : turns + 0.5);
  const double r = x - k * kLn2;
  double sum = 1;
  for (int32_t n = 13; n > 0; --n) sum = 1 + sum * r / n;
  return sum * two_to(k);
}

}  // namespace

bool are_valid(const TokenRules& rules) {
  return rules.repetition_penalty > 0.0f && rules.repetition_penalty <= 1e6f &&
         (rules.banned != nullptr || rules.banned_count == 0) && (rules.source != nullptr || rules.source_count == 0);
}

void apply_rules(const TokenRules& rules, float* scores, uint32_t vocabulary, const int32_t* history, uint32_t count) {
  if (rules.repetition_penalty != 1.0f) penalise(scores, vocabulary, history, count, rules.repetition_penalty);
  if (rules.no_repeat_ngram != 0) {
    forbid_repeats(scores, vocabulary, history, count, history, count, rules.no_repeat_ngram);
  }
  if (rules.source_no_repeat_ngram != 0) {
    forbid_repeats(scores, vocabulary, rules.source, rules.source_count, history, count, rules.source_no_repeat_ngram);
  }
  for (uint32_t i = 0; i < rules.banned_count; ++i) {
    const auto id = static_cast<uint32_t>(rules.banned[i]);
    if (id < vocabulary) scores[id] = kLeftOut;
  }
  const auto forced = static_cast<uint32_t>(rules.forced);
  if (rules.forced < 0 || forced >= vocabulary) return;
  for (uint32_t i = 0; i < vocabulary; ++i) scores[i] = i == forced ? 0.0f : kLeftOut;
}

Status follow_text(const TextRule& rule, const int32_t* history, uint32_t count) {
  const Constraint& constraint = *rule.constraint;
  if (constraint.follow == nullptr || constraint.allows == nullptr || count < rule.prompt) {
    return Status::kInvalidArgument;
  }
  const uint32_t made = count - rule.prompt;
  if (rule.most != 0 && made > rule.most) return Status::kInvalidArgument;
  TextEnd end = TextEnd::kNo;
  return constraint.follow(constraint.state, history + rule.prompt, made,
                           rule.most == 0 ? UINT32_MAX : rule.most - made, &end);
}

void leave_out_forbidden(const Constraint& constraint, float* scores, uint32_t vocabulary) {
  for (uint32_t i = 0; i < vocabulary; ++i) {
    if (scores[i] > kLeftOut && !constraint.allows(constraint.state, static_cast<int32_t>(i))) scores[i] = kLeftOut;
  }
}

double natural_log(double x) {
  // x = m * 2^e with m in [0.7, 1.4], and the series of 2 atanh((m - 1) / (m + 1)).
  uint64_t bits = 0;
  memcpy(&bits, &x, sizeof(bits));
  int32_t exponent = static_cast<int32_t>(bits >> 52) - 1023;
  bits = (bits & 0xFFFFFFFFFFFFFu) | (uint64_t{1023} << 52);
  double m = 0;
  memcpy(&m, &bits, sizeof(m));
  if (m > 1.4) {
    m *= 0.5;
    ++exponent;
  }
  const double z = (m - 1) / (m + 1), square = z * z;
  double sum = 0;
  for (int32_t n = 15; n > 0; n -= 2) sum = sum * square + 1.0 / n;
  return 2 * z * sum + exponent * kLn2;
}

double power(double x, double y) {
  if (y == 0 || x == 1) return 1;
  if (y == 1) return x;
  constexpr double kMost = 69.07755278982137;  // ln 1e30
  const double exponent = y * natural_log(x);
  return exponential(exponent > kMost ? kMost : exponent < -kMost ? -kMost : exponent);
}

}  // namespace bantam::tasks

#endif  // BANTAM_IF_LINKED(Contexts)
