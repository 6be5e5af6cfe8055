// Recurrent layers above embeddings, from tensors with the names of torch.nn.LSTM and torch.nn.GRU.
#ifndef BANTAM_CONVERTER_NETWORK_BLOCKS_RECURRENT_H_
#define BANTAM_CONVERTER_NETWORK_BLOCKS_RECURRENT_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "graph/builder.h"
#include "network/stack.h"
#include "source/fields.h"
#include "source/weights.h"

namespace bantam::convert {

/// The settings of a module of recurrent layers in config.json.
struct RecurrentSettings {
  fb::Cell cell = fb::Cell::lstm;
  uint32_t cells = 0, state = 0;  // of one direction; state: columns after a projection
  uint32_t layers = 1;
  bool both = false;     // both directions
  bool reverse = false;  // a single direction runs from the last row to the first
  uint32_t number = 0;   // the number of the first layer in its network
  bool of_head = false;  // tensors belong to the head, not to the encoder
  uint32_t mark = 0;     // layers read only tokens with this mark; 0: all

  uint32_t gates() const { return cell == fb::Cell::lstm ? 4 : 3; }
  uint32_t directions() const { return both ? 2 : 1; }
};

/// Reads "cell_type" ("lstm" or "gru"), "hidden_size", "num_layers" (1), "bidirectional" (false) and "proj_size" (0:
/// none). Values out of range are added to the problems.
RecurrentSettings read_recurrent(const Fields& fields);

/// Further input columns of the first layer, after those of its rows.
struct RecurrentBeside {
  std::string name;
  uint32_t columns = 0;
  /// Adds their part of the gates' inputs, rows per token: the product with `matrix` [gates, columns] plus `sum`
  /// (kAbsent: nothing).
  std::function<int32_t(const std::string& name, int32_t matrix, int32_t sum)> add;
};

/// The initial states of layers, further input columns, and the final states.
struct RecurrentEnds {
  std::vector<RecurrentState> first;  // of each layer; missing ones are zeros
  // Receives the last layer's state or, with `of_all`, each layer's.
  std::vector<RecurrentState>* last = nullptr;
  bool of_all = false;
  std::vector<RecurrentBeside> beside;
  /// Computes the states of layer `layer` from its rows' part of the gates' inputs, replacing the one operator for all
  /// rows.
  std::function<int32_t(uint32_t layer, const std::string& name, int32_t given, const RecurrentWeights& weights)> cell =
      nullptr;
};

/// Adds the layers of module `module` above `x` [tokens, width] and returns their states. Missing tensors and tensors
/// of another shape are added to the problems of `weights`.
int32_t import_recurrent(Builder& builder, Weights& weights, const RecurrentSettings& settings,
                         const std::string& module, const std::string& base, int32_t x, const RecurrentEnds& ends = {});

/// Adds SSRU cells above `x` [tokens, width], one per column, and returns their states. `forget` and `candidate` are
/// names of linear layers, `name` is the cells' name in the graph.
int32_t import_ssru(Builder& builder, Weights& weights, const std::string& forget, const std::string& candidate,
                    const std::string& gates, const std::string& name, int32_t x);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_NETWORK_BLOCKS_RECURRENT_H_
