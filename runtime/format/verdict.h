// Verdict: the result of one rule of the verifier.
#ifndef BANTAM_FORMAT_VERDICT_H_
#define BANTAM_FORMAT_VERDICT_H_

#include <stdint.h>

#include "bantam/status.h"
#include "linked.h"

namespace bantam {

/// Returns a sentence for Fault::what; an image without fault sentences contains neither the sentences nor pointers to
/// them.
[[gnu::always_inline]] constexpr const char* fault_text(const char* what) { return linked::kFaultText ? what : ""; }

/// Fills `fault`, if given, with a field of the file or of the options that is neither a tensor nor an operator.
/// Returns `status`.
[[gnu::always_inline]] inline Status refuse(Status status, const char* what, const char* field, uint32_t field_size,
                                            Fault* fault) {
  if (fault != nullptr) *fault = Fault{fault_text(what), field, field_size, 0};
  return status;
}

/// The violated rule; empty if the build has no fault sentences.
template <bool kLinked>
struct BrokenRule {
  constexpr BrokenRule() = default;
  constexpr explicit BrokenRule(const char* what) : sentence(what) {}
  constexpr const char* what() const { return sentence; }
  const char* sentence = "";
};
template <>
struct BrokenRule<false> {
  constexpr BrokenRule() = default;
  constexpr explicit BrokenRule(const char*) {}
  constexpr const char* what() const { return ""; }
};

/// Without sentences it is one machine word, which verifiers return in a register.
class Verdict : BrokenRule<linked::kFaultText> {
 public:
  constexpr Verdict() = default;
  /// `what`: the violated rule, in static storage; `tensor`: the tensor that violates it, or -1.
  [[gnu::always_inline]] constexpr Verdict(Status status, [[maybe_unused]] const char* what, int32_t tensor)
      : BrokenRule(what), packed_(static_cast<uint32_t>(status) | (static_cast<uint32_t>(tensor) + 1) << kStatusBits) {}

  /// The same verdict for tensor `index`.
  constexpr Verdict of(int32_t index) const { return {status(), what(), index}; }

  constexpr bool ok() const { return packed_ == 0; }
  constexpr Status status() const { return static_cast<Status>(packed_ & ((1u << kStatusBits) - 1)); }
  constexpr int32_t tensor() const { return static_cast<int32_t>(packed_ >> kStatusBits) - 1; }
  using BrokenRule::what;

 private:
  static constexpr uint32_t kStatusBits = 8;

  uint32_t packed_ = 0;  // status, then tensor + 1
};

[[gnu::always_inline]] constexpr Verdict corrupt(const char* what, int32_t tensor = -1) {
  return {Status::kCorrupt, what, tensor};
}
[[gnu::always_inline]] constexpr Verdict unsupported(const char* what, int32_t tensor = -1) {
  return {Status::kUnsupported, what, tensor};
}
[[gnu::always_inline]] constexpr Verdict not_linked(const char* what) { return {Status::kOpNotLinked, what, -1}; }

/// Returns from the calling function with the first verdict that is not ok.
#define BANTAM_CHECK(expression)                             \
  do {                                                       \
    const ::bantam::Verdict verdict_of_rule_ = (expression); \
    if (!verdict_of_rule_.ok()) return verdict_of_rule_;     \
  } while (false)

}  // namespace bantam

#endif  // BANTAM_FORMAT_VERDICT_H_
