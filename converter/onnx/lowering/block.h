// Block: an operator as read from the file's nodes, before consecutive blocks are fused into one operator of the graph.
#ifndef BANTAM_CONVERTER_ONNX_BLOCK_H_
#define BANTAM_CONVERTER_ONNX_BLOCK_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "bantam_generated.h"
#include "onnx/parameter.h"
#include "onnx/row_functions.h"
#include "onnx/turned.h"

namespace bantam::convert::onnx {

/// The norms of an attention's queries and keys.
struct HeadNorms {
  Stage queries, keys;
  bool each = false;  // for each head separately, else over all columns
};

/// A term of position scores under construction (DeBERTa's disentangled attention, arXiv 2006.03654): products of the
/// rows of heads with constant rows of positions; the distance between query and key selects the position row.
struct PlaceTerm {
  int32_t block = -1;                       // that computes the rows
  int64_t heads = 0, width = 0;             // width of a head
  std::shared_ptr<const HostTensor> table;  // [heads, places, width]
  double scale = 1;
  /// Rows of the table by key - query, in ascending order; empty: not selected yet.
  std::vector<int64_t> places;
  bool turned = false;  // rows have become columns: they are those of keys
};

/// The position terms that an attention adds, selected by key - query: queries times positions of keys, and keys times
/// positions of queries.
struct Places {
  std::optional<PlaceTerm> keys, queries;
};

/// The number of rows of a position table that is computed for texts of any length.
constexpr uint32_t kAllPlaces = UINT32_MAX;

struct Block {
  enum class Kind : uint8_t {
    kEmbed,      // rows of `weight` by `index`
    kLinear,     // inputs[0] times `weight`, stored [outputs, inputs]
    kStage,      // a function of the rows of inputs[0]
    kAdd,        // sum of two
    kProduct,    // elementwise product of two
    kAttention,  // queries, keys, values
    kPool,       // one row per sequence
    kSlice,      // columns [begin, begin + columns) of inputs[0]
    kJoin,       // concatenates the columns of two
    kUnfold,     // concatenates each token with its neighbors
    kRecurrent   // runs over the gate contributions of the tokens
  } kind = Kind::kStage;
  std::vector<int32_t> inputs;
  uint32_t columns = 0;
  bool of_tokens = true;  // rows are tokens, else sequences
  std::string name;       // name of the node
  Parameter weight;
  Stage stage;
  fb::IndexSource index = fb::IndexSource::ids;
  uint32_t first = 0;  // row of the table for the smallest index
  /// The number of tokens for which a computed position table has rows, if it was run for fewer; 0: the rows it has.
  uint32_t most_places = 0;
  uint32_t heads = 0, head_width = 0;
  double scale = 1;
  fb::MaskKind mask = fb::MaskKind::none;
  uint32_t window = 0;
  uint32_t kv_heads = 0;
  std::shared_ptr<const Turn> turn;        // null: none
  std::shared_ptr<const HeadNorms> norms;  // applied before the rotation; null: none
  std::shared_ptr<const Places> places;    // null: none
  // [heads, distances], ascending by key - query; or empty
  std::vector<float> biases;
  std::vector<float> slopes;  // one per head; or empty
  fb::PoolKind pool = fb::PoolKind::first;
  uint32_t skip = 0;  // tokens at the end that a pool excludes
  uint32_t begin = 0;
  uint32_t before = 0, after = 0;  // numbers of neighbors
  // Weights of recurrent layers, per direction; gates are in the order of schemas/bantam.fbs.
  fb::Cell cell = fb::Cell::lstm;
  uint32_t cells = 0;
  bool reverse = false;           // direction of a layer with one direction
  std::vector<Parameter> states;  // [gates, cells]
  std::vector<std::vector<float>> state_biases;
};

}  // namespace bantam::convert::onnx

#endif  // BANTAM_CONVERTER_ONNX_BLOCK_H_
