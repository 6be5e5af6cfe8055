// A shortlist as a source has it, and what a file holds of it (Shortlist of the schema).
#ifndef BANTAM_CONVERTER_SOURCE_SHORTLIST_H_
#define BANTAM_CONVERTER_SOURCE_SHORTLIST_H_

#include <cstdint>
#include <vector>

#include "graph/graph.h"

namespace bantam::convert {

struct SourceShortlist {
  uint32_t words = 0;                        // of the targets
  uint32_t first = 0;                        // words 0 to first - 1 are in every list
  uint32_t multiple = 1;                     // what the number of words of a text is filled up to
  bool shared = false;                       // sources have the same words, and may keep theirs
  std::vector<std::vector<uint32_t>> lists;  // of each word of the sources
};

/// Gives the graph's task, which generates, the shortlist. Words below `first`, and with `shared` a word's own, need no place in
/// lists.
void add_shortlist(const SourceShortlist& shortlist, Graph* graph);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_SOURCE_SHORTLIST_H_
