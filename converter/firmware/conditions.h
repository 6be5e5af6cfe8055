// The conditions around what only some models need: BANTAM_IF_LINKED of runtime/linked.h, evaluated for one model.
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
  /// `one_lane`: no source of the project's kernels has vectors.
  explicit Conditions(Linked linked, bool one_lane = true) : linked_(std::move(linked)), one_lane_(one_lane) {}

  /// BANTAM_IF_LINKED(name). Throws Error (internal) for a name of nothing.
  bool links(std::string_view name) const;

  /// Every project defines the macro, or none does; null: some source does.
  std::optional<bool> defines(std::string_view macro) const;

  /// The condition of an #if: BANTAM_IF_LINKED, defined() and BANTAM_LINK_HOST, joined by !, &&, || and parentheses. Null where it depends
  /// on something else, such as the compiler.
  std::optional<bool> evaluate(std::string_view condition) const;

  /// A source or header without the groups of lines whose condition does not hold, and without the directives of those whose
  /// condition does. What depends on something else stays as it is. O(size).
  std::string resolve(std::string_view text) const;

 private:
  Linked linked_;
  bool one_lane_;
};

}  // namespace bantam::firmware

#endif  // BANTAM_CONVERTER_FIRMWARE_CONDITIONS_H_
