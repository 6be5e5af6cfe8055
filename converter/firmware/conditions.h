// Evaluates for one model the conditions around code that only some models need: BANTAM_IF_LINKED of runtime/linked.h.
#ifndef BANTAM_CONVERTER_FIRMWARE_CONDITIONS_H_
#define BANTAM_CONVERTER_FIRMWARE_CONDITIONS_H_

#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "firmware/linked.h"

namespace bantam::firmware {

class Conditions {
 public:
  /// `one_lane`: none of the project's kernel sources uses vectors.
  explicit Conditions(Linked linked, bool one_lane = true) : linked_(std::move(linked)), one_lane_(one_lane) {}

  /// Evaluates BANTAM_IF_LINKED(name). Throws Error (internal) for an unknown name.
  bool links(std::string_view name) const;

  /// Returns true if every project defines the macro, false if none does, and nothing if only some sources do.
  std::optional<bool> defines(std::string_view macro) const;

  /// Evaluates the condition of an #if: BANTAM_IF_LINKED, defined() and BANTAM_LINK_HOST, joined by !, &&, || and
  /// parentheses. Returns nothing if it depends on something else, such as the compiler.
  std::optional<bool> evaluate(std::string_view condition) const;

  /// Returns a source or header without the groups of lines whose condition is false, and without the directives of
  /// groups whose condition is true. Conditions that depend on something else stay unchanged. O(size).
  std::string resolve(std::string_view text) const;

 private:
  Linked linked_;
  bool one_lane_;
};

}  // namespace bantam::firmware

#endif  // BANTAM_CONVERTER_FIRMWARE_CONDITIONS_H_
