// The parts of the runtime that an image links for a model, by the names in runtime/links.inc.
#ifndef BANTAM_CONVERTER_FIRMWARE_LINKED_H_
#define BANTAM_CONVERTER_FIRMWARE_LINKED_H_

#include <bitset>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bantam/model.h"
#include "ops/ops.h"  // runtime/linked.h, whose name this file has

namespace bantam::firmware {

struct Linked {
  std::bitset<linked::links::kCount> needed;
  /// Descriptions of the same parts for people: "embed", "linear", ..., "gelu", "layer norm", "tokenizer".
  std::vector<std::string> words;

  /// Returns true if the model needs a switch or a member of a set: needs(links::Rotary),
  /// needs(links::of(links::mask_all, number)).
  bool needs(linked::Link link) const { return needed[link]; }
  /// Returns true if the model needs an operator, given by its row in ops/ops.inc.
  bool needs_op(uint32_t row) const { return needs(linked::links::of(linked::links::op_all, row)); }
};

/// Returns true if the task's answers include positions in the text, so that a session keeps the offsets of tokens.
bool answers_with_places(TaskKind task);

/// Returns exactly what the operators of an open model, their epilogues, the tensors and the task need.
Linked linked_by(const Model& model);

/// Finds a row of links.inc by its name ("Rotary", "mask_window"); returns nothing if there is no such row. O(rows).
std::optional<linked::Link> link_named(std::string_view name);

/// Returns the "#define BANTAM_LINKS" of bantam_config.h: the names of all needed rows.
std::string linked_macro(const Linked& linked);

}  // namespace bantam::firmware

#endif  // BANTAM_CONVERTER_FIRMWARE_LINKED_H_
