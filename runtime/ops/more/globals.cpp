#include "ops/more/globals.h"

#include <string.h>

#include "linked.h"

#if BANTAM_IF_LINKED(mask_globals) || BANTAM_IF_LINKED(mask_of_globals) || BANTAM_IF_LINKED(mask_blocks)

namespace bantam::ops {
namespace {

bool is_marked(const TileRun& run, uint32_t row) {
  if constexpr (linked::kMarks) return run.marks != nullptr && run.marks[row] != 0;
  return false;
}

/// Calls visit(row, is_global) for each row of the tile; stops if it returns false.
template <class Visit>
void for_each_row(const TileRun& run, const Visit& visit) {
  uint32_t sequence = find_sequence(run, run.row_begin);
  GlobalRows globals = global_rows(run, sequence);
  for (uint32_t row = run.row_begin; row < run.row_begin + run.rows; ++row) {
    if (row >= run.offsets[sequence + 1]) {
      while (row >= run.offsets[sequence + 1]) ++sequence;
      globals = global_rows(run, sequence);
    }
    if (!visit(row, is_global(run, globals, row))) return;
  }
}

}  // namespace

Verdict check_globals(const Site& site) {
  const fb::Globals* globals = site.model.globals();
  if (globals == nullptr) return corrupt("global tokens in a model that does not say which these are");
  if (globals->kind() > fb::GlobalTokens::MAX) return unsupported("such global tokens are not known");
  if (site.rows_symbol != kTokens) return corrupt("global tokens are tokens of a text");
  if (site.phase != fb::Phase::main && globals->kind() > fb::GlobalTokens::first) {
    return corrupt("global tokens of a source are its first one, or none");
  }
  const bool separated = globals->kind() == fb::GlobalTokens::before || globals->kind() == fb::GlobalTokens::behind;
  const int32_t separator = globals->separator();
  if (separated && (separator < 0 || static_cast<uint32_t>(separator) >= ids_limit(site.model, site.phase))) {
    return corrupt("the separator beside global tokens is not a token");
  }
  if (globals->kind() == fb::GlobalTokens::marked && mark_types(site.model) == 1) {
    return corrupt("global tokens have marks in a model that takes none");
  }
  return {};
}

GlobalRows global_rows(const TileRun& run, uint32_t sequence) {
  const fb::Globals& globals = *run.model.globals();
  const uint32_t begin = run.offsets[sequence], end = run.offsets[sequence + 1];
  if (globals.kind() == fb::GlobalTokens::first) return {begin, begin + 1, false};
  if (globals.kind() == fb::GlobalTokens::marked) return {begin, begin, true};
  if (globals.kind() == fb::GlobalTokens::none) return {begin, begin, false};
  uint32_t separator = begin;
  while (separator < end && run.ids[separator] != globals.separator()) ++separator;
  if (separator == end) return {begin, begin, false};
  if (globals.kind() == fb::GlobalTokens::before) return {begin, separator, false};
  const uint32_t behind = separator + 2 < end ? separator + 2 : end;
  return {behind, end, false};
}

bool is_global(const TileRun& run, const GlobalRows& globals, uint32_t row) {
  if (globals.marked) return is_marked(run, row);
  return globals.begin <= row && row < globals.end;
}

bool lacks_globals(const TileRun& run) {
  bool lacks = true;
  for_each_row(run, [&](uint32_t, bool global) { return lacks = !global; });
  return lacks;
}

void keep_global_rows(const TileRun& run, const Rows& rows) {
  for_each_row(run, [&](uint32_t row, bool global) {
    if (!global) memset(rows.from(row - run.row_begin).data, 0, rows.stride * sizeof(float));
    return true;
  });
}

}  // namespace bantam::ops

#endif  // BANTAM_IF_LINKED(mask_globals) || BANTAM_IF_LINKED(mask_of_globals) || BANTAM_IF_LINKED(mask_blocks)
