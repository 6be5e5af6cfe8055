// Splits words with several tables of split_table.h; each splits the words of the one before.
#ifndef BANTAM_TEXT_SPLIT_PASSES_H_
#define BANTAM_TEXT_SPLIT_PASSES_H_

#include "linked.h"
#include "text/split_search.h"
#include "text/tables.h"

namespace bantam::text {

/// Returns true if the table drops text, or if further tables split its words.
inline bool is_in_passes(const Tables& tables) { return linked::kSplitPasses && tables.split_passes != nullptr; }

/// The tables that split words successively, and the end of each one's current word.
struct Passes {
  uint32_t count = 0;
  SplitPassTable tables[kMaxSplitPasses];
  uint32_t ends[kMaxSplitPasses] = {};

  explicit Passes(const uint8_t* table) {
    for (bool more = true; more && count < kMaxSplitPasses; ++count) {
      tables[count] = SplitPassTable(table);
      more = split_pass(table).more != 0;
      table += split_pass_size(*reinterpret_cast<const SplitHeader*>(table));
    }
  }
};

/// Returns the length in code points of the next word that every table keeps, *skipped those before it; 0 at the end.
/// `ends`: remaining code points of each table's word.
template <typename Stream>
uint32_t inner_length(Passes* passes, Stream stream, Reserve* reserve, uint32_t* skipped) {
  *skipped = 0;
  for (uint32_t pass = 0; pass < passes->count;) {
    uint32_t& left = passes->ends[pass];
    if (left > 0) {
      ++pass;
      continue;
    }
    const SplitPassTable& split = passes->tables[pass];
    const uint32_t most = pass == 0 ? UINT32_MAX : passes->ends[pass - 1];
    SeenWord seen;
    left = word_length<SearchedSplit>(split, stream, most, reserve, &seen);
    if (left == 0) return 0;
    if (!split.leaves_out(seen.lead, seen.state)) continue;
    NormalChar c;
    const uint32_t size = left;
    for (uint32_t i = 0; i < size; ++i) stream.next(&c);
    for (uint32_t i = 0; i <= pass; ++i) passes->ends[i] -= size;
    *skipped += size;
    pass = 0;
  }
  return passes->ends[passes->count - 1];
}

}  // namespace bantam::text

#endif  // BANTAM_TEXT_SPLIT_PASSES_H_
