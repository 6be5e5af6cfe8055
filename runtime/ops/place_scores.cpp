#include "ops/place_scores.h"

namespace bantam::ops {
namespace {

/// Sizes of the constants, and where they lie.
struct Places {
  const float* rows;  // [2 * most + 1]
  int32_t most;
  uint32_t count;  // P
  const float* keys;
  const float* queries;

  /// The row of a key so far behind its query. What stands in the file may be anything.
  uint32_t at(int64_t distance) const {
    const int64_t near = distance < -most ? -most : distance > most ? most : distance;
    const float row = rows[most + near];
    return row > 0.0f ? (row < static_cast<float>(count - 1) ? static_cast<uint32_t>(row) : count - 1) : 0;
  }
};

/// Rows of constants [begin, end), and the one of them that is nearest to `row`.
struct Span {
  uint32_t begin, end;
  uint32_t nearest(uint32_t row) const { return row < begin ? begin : row >= end ? end - 1 : row; }
};

/// Places of `queries` from `query` on to keys [first, last], at most `most` of them.
Span span_of(const Places& places, uint32_t query, uint32_t queries, uint32_t first, uint32_t last, uint32_t most) {
  const uint32_t begin = places.at(int64_t{first} - (int64_t{query} + queries - 1));
  const uint32_t end = places.at(int64_t{last} - int64_t{query}) + 1;
  return {begin, end <= begin ? begin + 1 : end - begin > most ? begin + most : end};
}

uint32_t count_of(const fb::Model& model, const fb::Op& op) {
  const fb::Attention& a = *op.attributes_as_Attention();
  const int32_t keys = named_input(op, a.place_keys());
  const uint64_t values = keys >= 0
                              ? uint64_t{extent(tensor(model, keys), 0)} * 16
                              : uint64_t{extent(tensor(model, named_input(op, a.place_queries())), 0)} * a.head_width();
  return static_cast<uint32_t>(values / (uint64_t{a.heads()} * a.head_width()));
}

/// Rows of places that 16 keys and so many queries have.
uint32_t rows_of_page(uint32_t queries) { return 15 + queries; }

/// The scratch's parts, each a multiple of 16 floats.
struct Parts {
  float* products;  // [queries][P], [rows_of_page][16]
  float* rows;      // [queries][pad16(head_width)]
  float* page;      // [head_width][16]
};
uint64_t product_floats(uint32_t count, uint32_t block_rows) {
  const uint64_t keys = uint64_t{block_rows} * count;
  const uint64_t queries = uint64_t{rows_of_page(block_rows)} * 16;
  return keys > queries ? keys : queries;
}

/// Queries as floats.
const float* float_queries(const kernels::Attention& call, float* out, size_t stride) {
  if (!call.q8) return static_cast<const float*>(call.q);
  const int8_t* q = static_cast<const int8_t*>(call.q);
  for (uint32_t r = 0; r < call.queries; ++r, q += call.q_stride, out += stride) {
    const float scale = call.q_scale[r * call.q_scale_stride];
    for (uint32_t i = 0; i < call.head_width; ++i) out[i] = static_cast<float>(q[i]) * scale;
  }
  return out - call.queries * stride;
}

/// A page of keys as floats [head_width][16].
const float* float_keys(const TileRun& run, const kernels::Attention& call, uint32_t page, float* out) {
  const uint8_t* keys = call.key_pages + page * call.key_page_stride;
  if (!call.q8) return reinterpret_cast<const float*>(keys);
  const uint8_t flip = run.kernels.offset_xor;
  const float* scale = reinterpret_cast<const float*>(keys + size_t{kernels::pad4(call.head_width)} * 16);
  for (uint32_t i = 0; i < call.head_width; ++i) {
    const uint8_t* from = keys + size_t{i / 4} * 64 + i % 4;
    for (uint32_t lane = 0; lane < 16; ++lane) {
      out[i * 16 + lane] = static_cast<float>(static_cast<int8_t>(from[lane * 4] ^ flip)) * scale[lane];
    }
  }
  return out;
}

kernels::LinearF32 product(const float* x, size_t x_stride, uint32_t rows, const float* w, uint32_t k, uint32_t n,
                           float* y) {
  return {x, x_stride, rows, w, kernels::Element::kF32, nullptr, k, n, kernels::Activation::kNone, y, n};
}

/// The largest group of queries and pages at once.
struct Block {
  const TileRun& run;
  const kernels::Attention& call;
  const Places& places;
  uint32_t head;
  kernels::Range pages;
  Parts parts;

  float* row(uint32_t query) const {
    return static_cast<float*>(call.scratch) + size_t{query} * (pages.end - pages.begin) * 16;
  }

  /// query . place_keys[place]
  void add_queries(bool add) const {
    const uint32_t first = pages.begin * 16, last = pages.end * 16 - 1, width = call.head_width;
    const Span all = span_of(places, call.query_begin, call.queries, first, last, places.count);
    const uint32_t tile = all.begin / 16, columns = kernels::pad16(all.end) - tile * 16;
    const size_t stride = call.q8 ? kernels::pad16(width) : call.q_stride;
    const float* keys = places.keys + (size_t{head} * (places.count / 16) + tile) * width * 16;
    run.kernels.linear_f32(
        product(float_queries(call, parts.rows, stride), stride, call.queries, keys, width, columns, parts.products));
    for (uint32_t r = 0; r < call.queries; ++r) {
      const float* products = parts.products + size_t{r} * columns - tile * 16;
      float* y = row(r);
      int64_t distance = int64_t{first} - (int64_t{call.query_begin} + r);
      for (uint32_t i = 0; i <= last - first; ++i, ++distance) {
        const float v = products[all.nearest(places.at(distance))];
        y[i] = add ? y[i] + v : v;
      }
    }
  }

  /// key . place_queries[place]
  void add_keys(bool add) const {
    const uint32_t width = call.head_width;
    for (uint32_t page = pages.begin; page < pages.end; ++page) {
      const uint32_t first = page * 16;
      const Span all = span_of(places, call.query_begin, call.queries, first, first + 15, rows_of_page(call.queries));
      const float* queries = places.queries + (size_t{head} * places.count + all.begin) * width;
      run.kernels.linear_f32(product(queries, width, all.end - all.begin, float_keys(run, call, page, parts.page),
                                     width, 16, parts.products));
      for (uint32_t r = 0; r < call.queries; ++r) {
        float* y = row(r) + size_t{page - pages.begin} * 16;
        int64_t distance = int64_t{first} - (int64_t{call.query_begin} + r);
        for (uint32_t lane = 0; lane < 16; ++lane, ++distance) {
          const float v = parts.products[(all.nearest(places.at(distance)) - all.begin) * 16 + lane];
          y[lane] = add ? y[lane] + v : v;
        }
      }
    }
  }
};

/// Of f32 rows `rows` by `columns`, or absent; a matrix unless columns is 0.
Verdict check_floats(const Site& site, int32_t index, uint32_t columns) {
  if (index < 0) return {};
  const fb::Tensor& t = tensor(site.model, index);
  const bool fits = is_constant(t) && t.type() == fb::DType::f32 && t.layout() == fb::Layout::rows &&
                    t.shape()->size() == (columns == 0 ? 1 : 2) && (columns == 0 || extent(t, 1) == columns);
  return fits ? Verdict{} : corrupt("scores of places have a constant that is no f32 matrix of their shape", index);
}

}  // namespace

Verdict check_place_scores(const Site& site) {
  const fb::Attention& a = *site.op.attributes_as_Attention();
  const int32_t rows = named_input(site.op, a.place_rows());
  const int32_t keys = named_input(site.op, a.place_keys());
  const int32_t queries = named_input(site.op, a.place_queries());
  if (rows < 0 && keys < 0 && queries < 0) return {};
  if (!linked::kPlaceScores) return not_linked("this build leaves out scores of places");
  if (rows < 0 || (keys < 0 && queries < 0)) return corrupt("scores of places lack their rows, or what these select");
  BANTAM_CHECK(check_floats(site, rows, 0));
  BANTAM_CHECK(check_floats(site, keys, 16));
  BANTAM_CHECK(check_floats(site, queries, a.head_width()));
  const uint32_t distances = extent(tensor(site.model, rows), 0);
  if (distances % 2 == 0 || distances > kMaxWidth) return corrupt("places of an even number of distances", rows);
  const uint64_t count = count_of(site.model, site.op);
  if (count == 0 || count % 16 != 0 || count > kMaxWidth) return corrupt("scores of no or uneven places");
  const uint64_t all = count * a.heads();
  if ((keys >= 0 && uint64_t{extent(tensor(site.model, keys), 0)} != all / 16 * a.head_width()) ||
      (queries >= 0 && uint64_t{extent(tensor(site.model, queries), 0)} != all)) {
    return corrupt("scores of places have constants of different sizes");
  }
  return {};
}

uint64_t place_scratch(const fb::Model& model, const fb::Op& op, uint32_t block_rows) {
  const fb::Attention& a = *op.attributes_as_Attention();
  if (!has_place_scores(a)) return 0;
  return 4 * (product_floats(count_of(model, op), block_rows) + uint64_t{block_rows} * kernels::pad16(a.head_width()) +
              uint64_t{a.head_width()} * 16);
}

void add_place_scores(const TileRun& run, const fb::Op& op, const kernels::Attention& call, uint32_t head,
                      void* scratch, bool add) {
  const fb::Attention& a = *op.attributes_as_Attention();
  const int32_t rows = named_input(op, a.place_rows());
  const Places places = {constant<float>(run, rows), static_cast<int32_t>(extent(tensor(run.model, rows), 0) / 2),
                         count_of(run.model, op), constant<float>(run, named_input(op, a.place_keys())),
                         constant<float>(run, named_input(op, a.place_queries()))};
  const kernels::Range pages = kernels::visible_pages(call);
  if (pages.begin == pages.end) return;
  Parts parts = {static_cast<float*>(scratch), nullptr, nullptr};
  parts.rows = parts.products + product_floats(places.count, run.block_rows);
  parts.page = parts.rows + size_t{run.block_rows} * kernels::pad16(a.head_width());
  const Block block = {run, call, places, head, pages, parts};
  if (places.keys != nullptr) block.add_queries(add);
  if (places.queries != nullptr) block.add_keys(add || places.keys != nullptr);
}

}  // namespace bantam::ops
