#include "ops/more/place_scores.h"

#include <string.h>

#include "linked.h"

#if BANTAM_IF_LINKED(PlaceScores)

namespace bantam::ops {
namespace {

/// Sizes and addresses of the constants.
struct Places {
  const float* rows;  // [2 * most + 1]
  int32_t most;
  uint32_t count;  // P

  /// The row for a key at this distance from its query. The file may contain any number, so it is clamped.
  uint32_t at(int64_t distance) const {
    const int64_t near = distance < -most ? -most : distance > most ? most : distance;
    const float row = rows[most + near];
    return row > 0.0f ? (row < static_cast<float>(count - 1) ? static_cast<uint32_t>(row) : count - 1) : 0;
  }
};

/// Rows [begin, end) of the constants; nearest() clamps a row to them.
struct Span {
  uint32_t begin, end;
  uint32_t nearest(uint32_t row) const { return row < begin ? begin : row >= end ? end - 1 : row; }
};

/// The rows for `queries` queries from `query` on and keys [first, last]; at most `most` rows.
Span span_of(const Places& places, uint32_t query, uint32_t queries, uint32_t first, uint32_t last, uint32_t most) {
  const uint32_t begin = places.at(int64_t{first} - (int64_t{query} + queries - 1));
  const uint32_t end = places.at(int64_t{last} - int64_t{query}) + 1;
  return {begin, end <= begin ? begin + 1 : end - begin > most ? begin + most : end};
}

/// The matrix to multiply queries or keys with: rows [heads * P] of `head_width` (rows of one head if all heads share
/// their positions), in the layout of linear layers' weights.
struct PlaceMatrix {
  const uint8_t* tiles;  // null: absent
  const float* scales;   // of int8 rows; null: floats
  const int32_t* sums;
  kernels::Element type;
  bool k16;

  /// Returns the bytes of an integer row of k inputs.
  size_t integer_row(uint32_t k) const { return k16 ? kernels::pad16(k) : kernels::pad4(k); }
  float dequantized(size_t row, uint32_t i, uint32_t k) const {
    const size_t tile = row / 16 * 16 * kernels::pad4(k);
    const size_t at = k16 ? row * kernels::pad16(k) + i : tile + (i / 4 * 16 + row % 16) * 4 + i % 4;
    return static_cast<float>(static_cast<int8_t>(tiles[at])) * scales[row];
  }
};

int32_t any_matrix(const fb::Op& op) {
  const fb::Attention& a = *op.attributes_as_Attention();
  return named_input(op, a.place_keys() >= 0 ? a.place_keys() : a.place_queries());
}

/// Number of heads with their own positions.
uint32_t heads_of(const fb::Attention& a) { return a.shared_places() ? 1 : a.heads(); }

uint32_t count_of(const fb::Model& model, const fb::Op& op) {
  return extent(tensor(model, any_matrix(op)), 0) / heads_of(*op.attributes_as_Attention());
}

/// Number of positions of 16 keys and `queries` queries, and the columns of the tiles that contain them.
uint32_t places_of_page(uint32_t queries) { return 15 + queries; }
uint32_t columns_of_page(uint32_t queries) { return kernels::pad16(places_of_page(queries) + 15); }

/// The most rows of queries, or of a page's keys.
uint32_t most_rows(uint32_t block_rows) { return block_rows < 16 ? 16 : block_rows; }

/// Parts of the scratch; each is a multiple of 16 floats.
struct Parts {
  float* products;  // [queries][P], [16][columns_of_page]
  float* scales;    // [most_rows]
  float* rows;      // [most_rows][pad16(head_width)], as floats or int8
  float* tile;      // [head_width][16]
};
uint64_t product_floats(uint32_t count, uint32_t block_rows) {
  const uint64_t queries = uint64_t{block_rows} * count;
  const uint64_t keys = uint64_t{columns_of_page(block_rows)} * 16;
  return queries > keys ? queries : keys;
}

/// Queries of a block or keys of a page: int8 rows as linear_q8 takes them, or floats.
struct HeadRows {
  const int8_t* integers;  // null: floats
  const float* scales;
  const float* floats;
  size_t stride;
  uint32_t rows;
};

/// The largest group of queries and pages that is processed at once.
struct Block {
  const TileRun& run;
  const kernels::Attention& call;
  const Places& places;
  uint32_t head;  // head of the positions
  kernels::Range pages;
  Parts parts;

  float* row(uint32_t query) const {
    return static_cast<float*>(call.scratch) + size_t{query} * (pages.end - pages.begin) * 16;
  }
  const int8_t* query(uint32_t r) const { return static_cast<const int8_t*>(call.q) + r * call.q_stride; }
  const uint8_t* key_tiles(uint32_t page) const { return call.key_pages + page * call.key_page_stride; }
  const float* key_scales(uint32_t page) const {
    return reinterpret_cast<const float*>(key_tiles(page) + size_t{kernels::pad4(call.head_width)} * 16);
  }

  HeadRows integer_queries() const {
    const size_t stride = kernels::pad16(call.head_width);
    int8_t* out = reinterpret_cast<int8_t*>(parts.rows);
    for (uint32_t r = 0; r < call.queries; ++r, out += stride) {
      memset(out, 0, stride);
      memcpy(out, query(r), call.head_width);
      for (size_t i = 0; i < stride; ++i) out[i] = static_cast<int8_t>(out[i] ^ run.kernels.offset_xor);
      parts.scales[r] = call.q_scale[r * call.q_scale_stride];
    }
    return {reinterpret_cast<int8_t*>(parts.rows), parts.scales, nullptr, stride, call.queries};
  }
  /// If activations have an offset, keys have it, too.
  HeadRows integer_keys(uint32_t page) const {
    const size_t stride = kernels::pad16(call.head_width);
    const uint8_t* tiles = key_tiles(page);
    for (uint32_t quad = 0; quad < kernels::pad4(call.head_width) / 4; ++quad) {
      uint8_t* out = reinterpret_cast<uint8_t*>(parts.rows) + size_t{quad} * 4;
      for (uint32_t lane = 0; lane < 16; ++lane, out += stride, tiles += 4) memcpy(out, tiles, 4);
    }
    return {reinterpret_cast<int8_t*>(parts.rows), key_scales(page), nullptr, stride, 16};
  }

  HeadRows float_queries() const {
    if (!call.q8) return {nullptr, nullptr, static_cast<const float*>(call.q), call.q_stride, call.queries};
    const size_t stride = kernels::pad16(call.head_width);
    for (uint32_t r = 0; r < call.queries; ++r) {
      const float scale = call.q_scale[r * call.q_scale_stride];
      float* out = parts.rows + r * stride;
      for (uint32_t i = 0; i < call.head_width; ++i) out[i] = static_cast<float>(query(r)[i]) * scale;
    }
    return {nullptr, nullptr, parts.rows, stride, call.queries};
  }
  HeadRows float_keys(uint32_t page) const {
    const size_t stride = kernels::pad16(call.head_width);
    const uint8_t* tiles = key_tiles(page);
    for (uint32_t lane = 0; lane < 16; ++lane) {
      float* out = parts.rows + lane * stride;
      for (uint32_t i = 0; i < call.head_width; ++i) {
        if (!call.q8) {
          out[i] = reinterpret_cast<const float*>(tiles)[i * 16 + lane];
        } else {
          const uint8_t stored = tiles[(i / 4 * 16 + lane) * 4 + i % 4] ^ run.kernels.offset_xor;
          out[i] = static_cast<float>(static_cast<int8_t>(stored)) * key_scales(page)[lane];
        }
      }
    }
    return {nullptr, nullptr, parts.rows, stride, 16};
  }

  bool in_integers(const PlaceMatrix& matrix) const { return linked::kDynamic && call.q8 && matrix.scales != nullptr; }

  /// Computes y[row][16 * tiles]: the rows times these tiles of 16 positions of the head.
  void multiply(const HeadRows& x, const PlaceMatrix& matrix, uint32_t tile, uint32_t tiles, float* y) const {
    const size_t first = size_t{head} * (places.count / 16) + tile;
    const uint32_t width = call.head_width, columns = tiles * 16;
    if (x.integers != nullptr) {
      kernels::LinearQ8 args = {};
      args.x = x.integers;
      args.x_stride = x.stride;
      args.x_scale = x.scales;
      args.rows = x.rows;
      args.k = kernels::pad4(width);
      args.w = reinterpret_cast<const int8_t*>(matrix.tiles) + first * 16 * matrix.integer_row(width);
      args.k16 = matrix.k16;
      args.w_scale = matrix.scales + first * 16;
      args.w_sum = matrix.sums + first * 16;
      args.n = columns;
      args.y = y;
      args.y_stride = columns;
      run.kernels.linear_q8(args);
      return;
    }
    kernels::LinearF32 args = {
        x.floats, x.stride, x.rows, parts.tile, kernels::Element::kF32, nullptr, width, 16, kernels::Activation::kNone,
        y,        columns};
    if (matrix.scales == nullptr) {
      args.w = matrix.tiles + first * width * (matrix.type == kernels::Element::kF16 ? 32 : 64);
      args.w_type = matrix.type;
      args.n = columns;
      run.kernels.linear_f32(args);
      return;
    }
    for (uint32_t t = 0; t < tiles; ++t, args.y += 16) {
      for (uint32_t i = 0; i < width; ++i) {
        for (uint32_t place = 0; place < 16; ++place) {
          parts.tile[i * 16 + place] = matrix.dequantized((first + t) * 16 + place, i, width);
        }
      }
      run.kernels.linear_f32(args);
    }
  }

  /// Picks the score of each of a page's keys and the block's queries from their products with positions: element
  /// (place - span.begin / 16 * 16) of row `query * query_step + key * key_step`.
  void take(uint32_t page, const Span& span, const float* products, size_t query_step, size_t key_step,
            bool add) const {
    uint32_t at[15 + kBlockRows];
    int64_t distance = int64_t{page} * 16 - (int64_t{call.query_begin} + call.queries - 1);
    for (uint32_t i = 0; i < places_of_page(call.queries); ++i, ++distance) {
      at[i] = span.nearest(places.at(distance)) - span.begin / 16 * 16;
    }
    for (uint32_t r = 0; r < call.queries; ++r, products += query_step) {
      float* y = row(r) + size_t{page - pages.begin} * 16;
      const uint32_t* places_of_row = at + (call.queries - 1 - r);
      const float* from = products;
      if (add) {
        for (uint32_t lane = 0; lane < 16; ++lane, from += key_step) y[lane] += from[places_of_row[lane]];
      } else {
        for (uint32_t lane = 0; lane < 16; ++lane, from += key_step) y[lane] = from[places_of_row[lane]];
      }
    }
  }

  /// query . place_keys[place]
  void add_queries(const PlaceMatrix& keys, bool add) const {
    const uint32_t first = pages.begin * 16, last = pages.end * 16 - 1;
    const Span all = span_of(places, call.query_begin, call.queries, first, last, places.count);
    const uint32_t tile = all.begin / 16, tiles = kernels::pad16(all.end) / 16 - tile;
    multiply(in_integers(keys) ? integer_queries() : float_queries(), keys, tile, tiles, parts.products);
    for (uint32_t page = pages.begin; page < pages.end; ++page) {
      take(page, all, parts.products, size_t{tiles} * 16, 0, add);
    }
  }

  /// key . place_queries[place]
  void add_keys(const PlaceMatrix& queries, bool add) const {
    for (uint32_t page = pages.begin; page < pages.end; ++page) {
      const uint32_t first = page * 16;
      const Span span =
          span_of(places, call.query_begin, call.queries, first, first + 15, places_of_page(call.queries));
      const uint32_t tile = span.begin / 16, tiles = kernels::pad16(span.end) / 16 - tile;
      multiply(in_integers(queries) ? integer_keys(page) : float_keys(page), queries, tile, tiles, parts.products);
      take(page, span, parts.products, 0, size_t{tiles} * 16, add);
    }
  }
};

PlaceMatrix matrix_of(const TileRun& run, int32_t index) {
  if (index < 0) return {};
  const fb::Tensor& t = tensor(run.model, index);
  return {blob<uint8_t>(run, t.data()), integer_weights(t) ? blob<float>(run, t.scales()) : nullptr,
          blob<int32_t>(run, t.sums()), element(t.type()), t.layout() == fb::Layout::k16n1};
}

/// Checks that the matrix is absent, or is weights in tiles; `q8`: queries and keys are int8.
Verdict check_matrix(const Site& site, int32_t index, bool q8) {
  if (index < 0) return {};
  const fb::Tensor& t = tensor(site.model, index);
  const bool integers = t.layout() == fb::Layout::tile_k4n16 || t.layout() == fb::Layout::k16n1;
  const bool fits = is_constant(t) && t.shape()->size() == 2 && !is_fixed(t) &&
                    (integers || t.layout() == fb::Layout::tile_n16) &&
                    extent(t, 1) == site.op.attributes_as_Attention()->head_width();
  if (!fits) return corrupt("scores of places have a constant that is not a matrix in tiles as wide as a head", index);
  const bool numbers = q8 && integers ? linked::kDynamic : linked::kFloat;
  if (!numbers || (!linked::kHalf && t.type() == fb::DType::f16)) {
    return not_linked("this build leaves out scores of places of these types");
  }
  return {};
}

}  // namespace

Verdict check_place_scores(const Site& site) {
  const fb::Attention& a = *site.op.attributes_as_Attention();
  const int32_t rows = named_input(site.op, a.place_rows());
  const int32_t keys = named_input(site.op, a.place_keys());
  const int32_t queries = named_input(site.op, a.place_queries());
  if (rows < 0 && keys < 0 && queries < 0) return {};
  if (rows < 0 || (keys < 0 && queries < 0)) return corrupt("scores of places lack their rows, or what these select");
  const fb::Tensor& distances = tensor(site.model, rows);
  if (!is_constant(distances) || distances.type() != fb::DType::f32 || distances.layout() != fb::Layout::rows ||
      distances.shape()->size() != 1) {
    return corrupt("places of distances are not an f32 vector", rows);
  }
  if (extent(distances, 0) % 2 == 0 || extent(distances, 0) > kMaxWidth) {
    return corrupt("places of an even number of distances", rows);
  }
  const bool q8 = tensor(site.model, operand(site.op.inputs(), 0)).type() == fb::DType::i8;
  BANTAM_CHECK(check_matrix(site, keys, q8));
  BANTAM_CHECK(check_matrix(site, queries, q8));
  const uint64_t count = count_of(site.model, site.op);
  if (count == 0 || count % 16 != 0 || count > kMaxWidth) return corrupt("scores of no or uneven places");
  for (const int32_t matrix : {keys, queries}) {
    if (matrix >= 0 && extent(tensor(site.model, matrix), 0) != count * heads_of(a)) {
      return corrupt("scores of places have constants of different sizes");
    }
  }
  return {};
}

uint64_t place_scratch(const fb::Model& model, const fb::Op& op, uint32_t block_rows) {
  const fb::Attention& a = *op.attributes_as_Attention();
  if (!has_place_scores(a)) return 0;
  const uint32_t rows = most_rows(block_rows);
  return 4 * (product_floats(count_of(model, op), block_rows) + kernels::pad16(rows) +
              uint64_t{rows} * kernels::pad16(a.head_width()) + uint64_t{a.head_width()} * 16);
}

void add_place_scores(const TileRun& run, const fb::Op& op, const kernels::Attention& call, uint32_t head,
                      void* scratch, bool add) {
  const fb::Attention& a = *op.attributes_as_Attention();
  const int32_t rows = named_input(op, a.place_rows());
  const Places places = {constant<float>(run, rows), static_cast<int32_t>(extent(tensor(run.model, rows), 0) / 2),
                         count_of(run.model, op)};
  const kernels::Range pages = kernels::visible_pages(call);
  if (pages.begin == pages.end) return;
  const uint32_t most = most_rows(run.block_rows);
  Parts parts = {static_cast<float*>(scratch), nullptr, nullptr, nullptr};
  parts.scales = parts.products + product_floats(places.count, run.block_rows);
  parts.rows = parts.scales + kernels::pad16(most);
  parts.tile = parts.rows + size_t{most} * kernels::pad16(a.head_width());
  const Block block = {run, call, places, a.shared_places() ? 0 : head, pages, parts};
  const PlaceMatrix keys = matrix_of(run, named_input(op, a.place_keys()));
  const PlaceMatrix queries = matrix_of(run, named_input(op, a.place_queries()));
  if (keys.tiles != nullptr) block.add_queries(keys, add);
  if (queries.tiles != nullptr) block.add_keys(queries, add || keys.tiles != nullptr);
}

}  // namespace bantam::ops

#endif  // BANTAM_IF_LINKED(PlaceScores)
