// Late interaction (ColBERT, arXiv 2004.12832): how texts become tokens with vectors. A file stores it as a property.
#ifndef BANTAM_CONVERTER_GRAPH_LATE_INTERACTION_H_
#define BANTAM_CONVERTER_GRAPH_LATE_INTERACTION_H_

#include <cstdint>
#include <string>
#include <vector>

namespace bantam::convert {

/// A token after the first one, or a prompt before the text, distinguishes queries from documents. Queries may be
/// padded. In documents, tokens with the `skipped` ids have no vector.
struct LateInteraction {
  struct Side {
    int32_t marker = -1;      // marker token id; -1: none
    std::string prompt;       // put before the text
    uint32_t max_tokens = 0;  // including the marker and special tokens; 0: the tokenizer's limit
  };
  Side query, document;
  uint32_t filled = 0;  // length in tokens to which queries are padded; 0: no padding
  int32_t filler = -1;
  std::vector<int32_t> skipped;  // token ids, ascending
};

/// The property's name.
constexpr const char* kLateInteraction = "late_interaction";

/// Converts the settings to the property's text, and back. Parsing untrusted text throws Error (invalid) that names
/// `file` and the field if the text is malformed.
std::string write_late_interaction(const LateInteraction& settings);
LateInteraction parse_late_interaction(const std::string& text, const std::string& file);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_GRAPH_LATE_INTERACTION_H_
