// Global tokens (Longformer, arXiv 2004.05150): they attend to all tokens of their sequence, and all tokens attend to
// them.
#ifndef BANTAM_OPS_MORE_GLOBALS_H_
#define BANTAM_OPS_MORE_GLOBALS_H_

#include "ops/operands.h"

namespace bantam::ops {

/// The global tokens of one sequence: rows [begin, end) of the run and, if `marked` is true, also rows with a mark.
struct GlobalRows {
  uint32_t begin, end;
  bool marked;
};

inline bool only_globals(const fb::Linear& layer) { return linked::kGlobals && layer.only_globals(); }
inline bool only_globals(const fb::Attention& a) { return linked::kGlobals && a.mask() == fb::MaskKind::of_globals; }

/// Checks that the model defines which tokens are global, and that the pass has the input for it.
Verdict check_globals(const Site& site);

/// Reads the sequence's ids up to the first separator, if the model's rule needs it.
GlobalRows global_rows(const TileRun& run, uint32_t sequence);

bool is_global(const TileRun& run, const GlobalRows& globals, uint32_t row);

/// Returns true if no token of the tile is global.
bool lacks_globals(const TileRun& run);
/// Sets the f32 rows of the tile whose tokens are not global to 0.
void keep_global_rows(const TileRun& run, const Rows& rows);

}  // namespace bantam::ops

#endif  // BANTAM_OPS_MORE_GLOBALS_H_
