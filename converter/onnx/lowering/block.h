// Block: an operator of a model as the file's nodes are read, before what stands behind each other becomes one operator of the graph.
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
  bool each = false;  // of each head by itself, else of all columns
};

/// A term of position scores under construction (DeBERTa's disentangled attention, arXiv 2006.03654): products of the
/// rows of heads and constant rows of places, one of which the distance selects.
struct PlaceTerm {
  int32_t block = -1;                       // of the rows
  int64_t heads = 0, width = 0;             // of a head
  std::shared_ptr<const HostTensor> table;  // [heads, places, width]
  double scale = 1;
  std::vector<int64_t> places;  // of column - row, from the farthest in front on; empty: nothing is selected yet
  bool turned = false;          // rows have become columns: they are those of keys
};

/// The terms that an attention adds by key - query: for queries and the places of keys, and for keys and the places of
/// queries.
struct Places {
  std::optional<PlaceTerm> keys, queries;
};

/// The number of rows of a table of places that is computed for texts of any length.
constexpr uint32_t kAllPlaces = UINT32_MAX;

struct Block {
  enum class Kind : uint8_t {
    kEmbed,      // rows of `weight` by `index`
    kLinear,     // inputs[0] times `weight`, stored [outputs, inputs]
    kStage,      // of inputs[0]
    kAdd,        // of two
    kProduct,    // of two, element by element
    kAttention,  // queries, keys, values
    kPool,       // a row a sequence
    kSlice,      // columns [begin, begin + columns) of inputs[0]
    kJoin,       // columns of two side by side
    kUnfold,     // each token between its neighbours
    kRecurrent   // of what tokens give the gates
  } kind = Kind::kStage;
  std::vector<int32_t> inputs;
  uint32_t columns = 0;
  bool of_tokens = true;  // else of sequences
  std::string name;       // of the node
  Parameter weight;
  Stage stage;
  fb::IndexSource index = fb::IndexSource::ids;
  uint32_t first = 0;  // row of the table of the smallest index
  uint32_t most_places =
      0;  // tokens that a table of places would have rows for, which was run for fewer; 0: those it has
  uint32_t heads = 0, head_width = 0;
  double scale = 1;
  fb::MaskKind mask = fb::MaskKind::none;
  uint32_t window = 0;
  uint32_t kv_heads = 0;
  std::shared_ptr<const Turn> turn;        // null: none
  std::shared_ptr<const HeadNorms> norms;  // in front of turns; null: none
  std::shared_ptr<const Places> places;    // null: none
  std::vector<float> biases;               // [heads, distances], the first of the key farthest in front; or nothing
  std::vector<float> slopes;               // of heads
  fb::PoolKind pool = fb::PoolKind::first;
  uint32_t skip = 0;  // tokens at the end that a pool leaves out
  uint32_t begin = 0;
  uint32_t before = 0, after = 0;  // neighbours
  // Weights of recurrent layers, for each direction; gates lie in the order of schemas/bantam.fbs.
  fb::Cell cell = fb::Cell::lstm;
  uint32_t cells = 0;
  bool reverse = false;           // the one direction
  std::vector<Parameter> states;  // [gates, cells]
  std::vector<std::vector<float>> state_biases;
};

}  // namespace bantam::convert::onnx

#endif  // BANTAM_CONVERTER_ONNX_BLOCK_H_
