// How texts become the tokens that have vectors (ColBERT, arXiv 2004.12832): what a file of token vectors says of it, as a property.
#ifndef BANTAM_CONVERTER_GRAPH_LATE_INTERACTION_H_
#define BANTAM_CONVERTER_GRAPH_LATE_INTERACTION_H_

#include <cstdint>
#include <string>
#include <vector>

namespace bantam::convert {

/// A token behind the first one, or text in front of the input, distinguishes queries from documents. Queries may be
/// padded, and documents' tokens with some ids have no vector.
struct LateInteraction {
  struct Side {
    int32_t marker = -1;      // -1: none
    std::string prompt;       // put before the text
    uint32_t max_tokens = 0;  // marker and specials included; 0: as the tokenizer says
  };
  Side query, document;
  uint32_t filled = 0;  // tokens that queries are filled up to; 0: they are not
  int32_t filler = -1;
  std::vector<int32_t> skipped;  // ascending
};

/// The property's name.
constexpr const char* kLateInteraction = "late_interaction";

/// The property's text, and back. Throws Error (invalid), naming `file` and the field, where a stranger's text is not of this form.
std::string write_late_interaction(const LateInteraction& settings);
LateInteraction parse_late_interaction(const std::string& text, const std::string& file);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_GRAPH_LATE_INTERACTION_H_
