// Embed in integer arithmetic: a sum of table rows, each with its own multiplier, then the norm.
#include "ops/indices.h"
#include "ops/static/static.h"

namespace bantam::ops {
namespace {

Verdict verify_static_table(const Site& site, const fb::EmbedTable& table, uint32_t columns) {
  const int32_t index = named_input(site.op, table.tensor());
  if (index < 0) return corrupt("an embedding table is absent");
  const fb::Tensor& t = tensor(site.model, index);
  const bool fits = is_constant(t) && t.shape()->size() == 2 && t.layout() == fb::Layout::rows &&
                    (t.type() == fb::DType::i8 || t.type() == fb::DType::i16);
  if (!fits) return corrupt("an embedding table of static quantization is not rows of i8 or i16", index);
  if (width(t) != columns) return corrupt("embedding tables have different widths", index);
  if (table.source() == fb::IndexSource::part)
    return unsupported("static quantization has no tables of a part of the ids");
  if (table.shift() > kMaxShift) return corrupt("a shift is more than 31");
  BANTAM_CHECK(check_numbers(site, named_input(site.op, table.multiplier()), fb::DType::i16, extent(t, 0)));
  return check_indices(site, table);
}

Verdict verify_static_embed(const Site& site) {
  BANTAM_CHECK(check_embed(site));
  const fb::Embed& embed = *site.op.attributes_as_Embed();
  const uint32_t columns = embed_width(site.model, site.op);
  for (const fb::EmbedTable* table : *embed.tables()) BANTAM_CHECK(verify_static_table(site, *table, columns));
  if (!has_norm(site.op)) return unsupported("a statically quantized embedding without a norm is not executed");
  BANTAM_CHECK(check_integer(site, columns, true));
  return check_static_output(site, columns, false);
}

uint64_t static_embed_scratch(const fb::Model& model, const fb::Op& op, const ScratchNeed& need) {
  return norm_scratch(op, embed_width(model, op), need.block_rows) +
         op.attributes_as_Embed()->tables()->size() * index_bytes(need.block_rows);
}

Status run_static_embed(const TileRun& run, const fb::Op& op) {
  const auto& tables = *op.attributes_as_Embed()->tables();
  const uint32_t columns = embed_width(run.model, op);
  uint8_t* index_memory = run.scratch + norm_scratch(op, columns, run.block_rows);
  const auto indices = [&](uint32_t table) {
    return reinterpret_cast<int32_t*>(index_memory + table * index_bytes(run.block_rows));
  };
  kernels::StaticSource sources[kMaxEmbedTables];
  for (uint32_t i = 0; i < tables.size(); ++i) {
    const fb::EmbedTable& table = *tables.Get(i);
    const fb::Tensor& t = tensor(run.model, named_input(op, table.tensor()));
    sources[i] = {blob<void>(run, t.data()), t.type() == fb::DType::i16,
                  constant<int16_t>(run, named_input(op, table.multiplier())), table.shift(), indices(i)};
  }
  for (uint32_t first = 0, n = 0; first < run.rows; first += n) {
    n = run.rows - first < run.block_rows ? run.rows - first : run.block_rows;
    for (uint32_t i = 0; i < tables.size(); ++i) {
      fill_indices(run, *tables.Get(i), run.row_begin + first, n, indices(i));
    }
    run.kernels.static_embed(
        {sources, tables.size(), n, columns, reinterpret_cast<int16_t*>(run.scratch), kernels::pad16(columns)});
    finish_norm(run, op, columns, first, n);
  }
  return Status::kOk;
}

}  // namespace

BANTAM_RULE(StaticEmbed, verify_static_embed, static_embed_scratch, run_static_embed);

}  // namespace bantam::ops
