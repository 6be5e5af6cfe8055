#include "ops/indices.h"

namespace bantam::ops {
namespace {

/// The largest index that `source` can yield, without the table's offset.
Verdict largest_index(const Site& site, fb::IndexSource source, uint64_t* largest) {
  switch (source) {
    case fb::IndexSource::ids:  // a pass has a single input of ids
      *largest = ids_limit(site.model, site.phase) - 1u;
      return {};
    case fb::IndexSource::segments:
      if (linked::kSources && site.phase != fb::Phase::main) return corrupt("tokens of a source have no segments");
      *largest = segment_types(site.model) - 1u;
      return {};
    case fb::IndexSource::positions:
      if (longest_sequence(site.model, site.phase) == 0) {
        return corrupt("an embedding of positions needs a longest sequence");
      }
      *largest = longest_sequence(site.model, site.phase) - 1u;
      return {};
    case fb::IndexSource::zero:
      *largest = 0;
      return {};
    case fb::IndexSource::marks:
      if (!linked::kMarks) return not_linked("this build knows no marks of tokens");
      *largest = mark_types(site.model) - 1u;
      return *largest == 0 ? corrupt("an embedding of marks in a model that takes none") : Verdict{};
    case fb::IndexSource::marked:
      if (!linked::kMarked) return not_linked("this build knows no marks of tokens");
      *largest = 1;
      return mark_types(site.model) == 1 ? corrupt("an embedding of marks in a model that takes none") : Verdict{};
    case fb::IndexSource::next:
    case fb::IndexSource::previous:
      if (!linked::kNeighbours) return not_linked("this build leaves out embeddings of neighbours");
      *largest = ids_limit(site.model, site.phase);
      return {};
    case fb::IndexSource::part:
      if (!linked::kNeighbours) return not_linked("this build leaves out tables of a part of the ids");
      *largest = 0;
      return {};
    default:
      return unsupported("an embedding of this index source is not executed");
  }
}

}  // namespace

uint32_t embed_width(const fb::Model& model, const fb::Op& op) {
  return width(tensor(model, named_input(op, op.attributes_as_Embed()->tables()->Get(0)->tensor())));
}

Verdict check_embed(const Site& site) {
  const fb::Embed& embed = *site.op.attributes_as_Embed();
  if (count(embed.tables()) == 0) return corrupt("an embedding without tables");
  if (count(embed.tables()) > kMaxEmbedTables) return unsupported("an embedding of more than 8 tables");
  if (site.rows_symbol != kTokens) return corrupt("an embedding runs over tokens");
  const int32_t first = named_input(site.op, embed.tables()->Get(0)->tensor());
  if (first < 0 || tensor(site.model, first).shape()->size() != 2) return corrupt("an embedding table is not a matrix");
  return {};
}

Verdict check_indices(const Site& site, const fb::EmbedTable& table) {
  const int32_t index = named_input(site.op, table.tensor());
  uint64_t largest = 0;
  BANTAM_CHECK(largest_index(site, table.source(), &largest));
  if (table.source() == fb::IndexSource::part) {
    return table.offset() <= 0 && table.offset() > INT32_MIN ? Verdict{}
                                                             : corrupt("a part of the ids begins below 0", index);
  }
  if (table.offset() < 0 || largest + static_cast<uint64_t>(table.offset()) >= extent(tensor(site.model, index), 0)) {
    return corrupt("an index can reach beyond the embedding table", index);
  }
  return {};
}

namespace {

/// Writes the row numbers of the tokens' neighbors.
void fill_neighbours(const TileRun& run, const fb::EmbedTable& table, uint32_t first, uint32_t n, int32_t* out) {
  const bool next = table.source() == fb::IndexSource::next;
  const auto none = static_cast<int32_t>(ids_limit(run.model, run.phase));
  uint32_t sequence = find_sequence(run, first);
  for (uint32_t i = 0; i < n; ++i) {
    const uint32_t row = first + i;
    while (row >= run.offsets[sequence + 1]) ++sequence;
    const bool last = next ? row + 1 == run.offsets[sequence + 1] : row == run.offsets[sequence];
    out[i] = table.offset() + (last ? none : run.ids[next ? row + 1 : row - 1]);
  }
}

/// Fills the table's row numbers for tokens with marks (1) and without (0), plus its offset; the first token of a
/// sequence counts as marked.
void fill_marked(const TileRun& run, const fb::EmbedTable& table, uint32_t first, uint32_t n, int32_t* out) {
  uint32_t sequence = find_sequence(run, first);
  for (uint32_t i = 0; i < n; ++i) {
    const uint32_t row = first + i;
    while (row >= run.offsets[sequence + 1]) ++sequence;
    out[i] = table.offset() + (run.marks[row] != 0 || row == run.offsets[sequence] ? 1 : 0);
  }
}

}  // namespace

void fill_indices(const TileRun& run, const fb::EmbedTable& table, uint32_t first, uint32_t n, int32_t* out) {
  const fb::IndexSource source = table.source();
  if (linked::kNeighbours && (source == fb::IndexSource::next || source == fb::IndexSource::previous)) {
    return fill_neighbours(run, table, first, n, out);
  }
  if (linked::kMarked && source == fb::IndexSource::marked) return fill_marked(run, table, first, n, out);
  const int32_t* given = source == fb::IndexSource::ids ? run.ids : run.segments;
  if (linked::kMarks && source == fb::IndexSource::marks) given = run.marks;
  uint32_t sequence = source == fb::IndexSource::positions ? find_sequence(run, first) : 0;
  for (uint32_t i = 0; i < n; ++i) {
    int32_t index = table.offset();
    if (source == fb::IndexSource::positions) {
      while (first + i >= run.offsets[sequence + 1]) ++sequence;
      index += static_cast<int32_t>(place_of(run, sequence, first + i));
    } else if (source != fb::IndexSource::zero) {
      index += given[first + i];
    }
    out[i] = index;
  }
}

}  // namespace bantam::ops
