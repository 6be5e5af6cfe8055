// What an image links for a model: the macros of runtime/linked.h.
#ifndef BANTAM_CONVERTER_FIRMWARE_LINKED_H_
#define BANTAM_CONVERTER_FIRMWARE_LINKED_H_

#include <string>
#include <vector>

#include "bantam/model.h"

namespace bantam::firmware {

struct Linked {
  /// Name (without BANTAM_LINK_) and value; what is 0 is left out.
  std::vector<std::pair<std::string, uint32_t>> macros;
  /// The same for people: "embed", "linear", ..., "gelu", "layer norm", "tokenizer".
  std::vector<std::string> words;
};

/// Whether the task's answers name places in the text, so that a session keeps offsets of tokens.
bool answers_with_places(TaskKind task);

/// What the operators, their epilogues, tensors and the task of an open model need, and nothing else.
Linked linked_by(const Model& model);

/// Lines of #define BANTAM_LINK_..., of bantam_config.h.
std::string linked_macros(const Linked& linked);

}  // namespace bantam::firmware

#endif  // BANTAM_CONVERTER_FIRMWARE_LINKED_H_
