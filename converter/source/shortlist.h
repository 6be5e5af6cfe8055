// A source's shortlist, and its conversion to the form of a file (Shortlist in the schema).
#ifndef BANTAM_CONVERTER_SOURCE_SHORTLIST_H_
#define BANTAM_CONVERTER_SOURCE_SHORTLIST_H_

#include <cstdint>
#include <vector>

#include "graph/graph.h"

namespace bantam::convert {

struct SourceShortlist {
  uint32_t words = 0;                        // size of the target vocabulary
  uint32_t first = 0;                        // words 0 to first - 1 are in every list
  uint32_t multiple = 1;                     // the number of words for a text is padded to a multiple of this
  bool shared = false;                       // source and target share a vocabulary, so that source words may be kept
  std::vector<std::vector<uint32_t>> lists;  // for each word of the source vocabulary
};

/// Adds the shortlist to the graph's task, which generates. Lists need not contain words below `first` or, with
/// `shared`, the source word itself.
void add_shortlist(const SourceShortlist& shortlist, Graph* graph);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_SOURCE_SHORTLIST_H_
