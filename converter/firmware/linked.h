// What an image links for a model: names of runtime/links.inc.
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
  /// The same for people: "embed", "linear", ..., "gelu", "layer norm", "tokenizer".
  std::vector<std::string> words;

  /// A switch, or a member of a set: needs(links::Rotary), needs(links::of(links::mask_all, number)).
  bool needs(linked::Link link) const { return needed[link]; }
  /// An operator, by its row in ops/ops.inc.
  bool needs_op(uint32_t row) const { return needs(linked::links::of(linked::links::op_all, row)); }
};

/// Whether the task's answers name places in the text, so that a session keeps offsets of tokens.
bool answers_with_places(TaskKind task);

/// What the operators, their epilogues, tensors and the task of an open model need, and nothing else.
Linked linked_by(const Model& model);

/// A row of links.inc by its name there ("Rotary", "mask_window"); nothing: none is called that. O(rows).
std::optional<linked::Link> link_named(std::string_view name);

/// #define BANTAM_LINKS, of bantam_config.h: the names of all that is needed.
std::string linked_macro(const Linked& linked);

}  // namespace bantam::firmware

#endif  // BANTAM_CONVERTER_FIRMWARE_LINKED_H_
