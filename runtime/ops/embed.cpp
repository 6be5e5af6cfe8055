// Embed: the sum of rows of tables that ids, segments and positions select.
#include "ops/epilogue.h"
#include "ops/static/static.h"

namespace bantam::ops {
namespace {

/// Largest index that `source` can give, without the table's offset.
Verdict largest_index(const Site& site, fb::IndexSource source, uint64_t* largest) {
  switch (source) {
    case fb::IndexSource::ids:  // of which a pass has one input
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

/// Of the neighbours of tokens.
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

/// Of the ids that the table has.
void fill_part(const TileRun& run, const fb::EmbedTable& table, uint32_t rows, uint32_t first, uint32_t n,
               int32_t* out) {
  for (uint32_t i = 0; i < n; ++i) {
    const int32_t row = run.ids[first + i] + table.offset();
    out[i] = row >= 0 && static_cast<uint32_t>(row) < rows ? row : -1;
  }
}

/// Of whether tokens have marks.
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

namespace {

Verdict verify_table(const Site& site, const fb::EmbedTable& table, uint32_t columns) {
  const int32_t index = named_input(site.op, table.tensor());
  if (index < 0) return corrupt("an embedding table is absent");
  const fb::Tensor& t = tensor(site.model, index);
  if (!is_constant(t) || t.shape()->size() != 2) return corrupt("an embedding table is not a constant matrix", index);
  const bool q8 = t.type() == fb::DType::i8;
  const bool is_float = t.type() == fb::DType::f32 || t.type() == fb::DType::f16;
  const bool fits = t.layout() == fb::Layout::rows
                        ? is_float || (q8 && t.scale_kind() == fb::ScaleKind::per_row)
                        : (int8_weights(t) && !is_fixed(t)) || t.layout() == fb::Layout::tile_n16;
  if (!fits) return corrupt("an embedding table has the wrong type, layout or scales", index);
  if (!q8 && (!linked::kFloatTables || (!linked::kHalf && t.type() == fb::DType::f16))) {
    return not_linked("this build leaves out embedding tables of floats");
  }
  if (width(t) != columns) return corrupt("embedding tables have different widths", index);
  if (!(table.scale() >= -1e30f && table.scale() <= 1e30f)) return corrupt("an embedding's scale is not finite");
  return check_indices(site, table);
}

Verdict verify_embed(const Site& site) {
  BANTAM_CHECK(check_embed(site));
  const fb::Embed& embed = *site.op.attributes_as_Embed();
  for (const fb::EmbedTable* table : *embed.tables()) {
    BANTAM_CHECK(verify_table(site, *table, embed_width(site.model, site.op)));
  }
  return check_epilogue(site, embed_width(site.model, site.op));
}

uint64_t embed_scratch(const fb::Model& model, const fb::Op& op, const ScratchNeed& need) {
  return sink_scratch(op, embed_width(model, op), need.block_rows) +
         op.attributes_as_Embed()->tables()->size() * index_bytes(need.block_rows);
}

Status run_embed(const TileRun& run, const fb::Op& op) {
  const auto& tables = *op.attributes_as_Embed()->tables();
  const uint32_t columns = embed_width(run.model, op);
  const RowSink sink(run, op, columns, false);
  uint8_t* index_memory = run.scratch + sink_scratch(op, columns, run.block_rows);
  const auto indices = [&](uint32_t table) {
    return reinterpret_cast<int32_t*>(index_memory + table * index_bytes(run.block_rows));
  };
  kernels::EmbedSource sources[kMaxEmbedTables];
  for (uint32_t i = 0; i < tables.size(); ++i) {
    const fb::Tensor& t = tensor(run.model, named_input(op, tables.Get(i)->tensor()));
    const bool k16 = t.layout() == fb::Layout::k16n1;
    sources[i] = {blob<void>(run, t.data()),
                  element(t.type()),
                  t.layout() != fb::Layout::rows && !k16,
                  k16 ? kernels::pad16(width(t)) : width(t),
                  blob<float>(run, t.scales()),
                  tables.Get(i)->scale(),
                  indices(i)};
  }
  bool finite = true;
  for (uint32_t first = 0, n = 0; first < run.rows; first += n) {
    n = sink.block(first) < run.block_rows ? sink.block(first) : run.block_rows;
    for (uint32_t i = 0; i < tables.size(); ++i) {
      const fb::EmbedTable& table = *tables.Get(i);
      if (linked::kNeighbours && table.source() == fb::IndexSource::part) {
        const uint32_t rows = extent(tensor(run.model, named_input(op, table.tensor())), 0);
        fill_part(run, table, rows, run.row_begin + first, n, indices(i));
      } else {
        fill_indices(run, table, run.row_begin + first, n, indices(i));
      }
    }
    finite &= run.kernels.embed_rows({sources, tables.size(), n, columns, sink.rows(first), sink.stride()});
    finite &= sink.finish(first, n);
  }
  return finite ? Status::kOk : Status::kNonFinite;
}

}  // namespace

BANTAM_RULE(Embed, verify_embed, embed_scratch, run_embed);

}  // namespace bantam::ops
