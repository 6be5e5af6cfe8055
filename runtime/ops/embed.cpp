// Embed: sums the table rows that ids, segments and positions select.
#include "ops/epilogue.h"
#include "ops/indices.h"

namespace bantam::ops {
namespace {

/// Writes the table rows of ids; -1 for ids that the table does not have.
void fill_part(const TileRun& run, const fb::EmbedTable& table, uint32_t rows, uint32_t first, uint32_t n,
               int32_t* out) {
  for (uint32_t i = 0; i < n; ++i) {
    const int32_t row = run.ids[first + i] + table.offset();
    out[i] = row >= 0 && static_cast<uint32_t>(row) < rows ? row : -1;
  }
}

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
