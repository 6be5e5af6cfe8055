// Lowering: converts the nodes of a file, in order, to blocks. A value of the file is a constant, a value that depends
// only on shapes, masks and ids (run for each probe), rows of a block, or an intermediate value of attention.
#ifndef BANTAM_CONVERTER_ONNX_LOWERING_H_
#define BANTAM_CONVERTER_ONNX_LOWERING_H_

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "onnx/axes.h"
#include "onnx/cones.h"
#include "onnx/lowering/block.h"
#include "onnx/model.h"
#include "onnx/row_functions.h"
#include "onnx/turned.h"

namespace bantam::convert::onnx {

/// Heads that columns are split into: there are `kv_heads` heads, each shared by heads / kv_heads consecutive query
/// heads.
struct HeadAxes {
  int64_t heads = 1, kv_heads = 1, width = 1;
};

/// Scores of queries and keys, and their softmax.
struct Scores {
  int32_t queries = -1, keys = -1;  // indices of blocks
  int64_t heads = 0, width = 0;
  int64_t kv_heads = 0;  // heads of keys and of values; heads / kv_heads query heads share each
  double scale = 1;
  std::shared_ptr<const Turn> turn;  // rotation of queries and keys; null: none
  std::vector<HostTensor> added;     // for each probe; empty: nothing is added
  std::vector<PlaceTerm> places;
  Reach reach;  // of the added values
  bool softmax = false;
};

struct Value {
  enum class Kind : uint8_t {
    kNone,  // not understood
    kConstant,
    kHost,  // values for each probe
    kRows,
    kTurned,  // columns of heads to which rotary positions are being applied
    /// For each token, the row of its neighbor `shift` positions later; zeros beyond the ends if `padded`.
    kNeighbours,
    kScores,
    kPlaceScores,  // sums of `places`
    kWhere,        // booleans of scores: whether a probability is NaN
    /// Scale of dynamically quantized rows (times `factor`: one number, or one per column).
    kStep,
    kZero,     // zero point of dynamically quantized rows
    kProduct,  // integer products of quantized rows and a constant, without scales
    kSum,      // masked rows, summed over tokens
    kMaximum,
    kWeights,   // of tokens: the softmax of one score per token
    kWeighted,  // rows of tokens times these weights
    kStack      // several rows stacked along an axis of their own
  } kind = Kind::kNone;
  Parameter constant;
  std::vector<HostTensor> host;
  Reach reach;        // of constants that contribute to `host`
  int32_t term = -1;  // of rows
  Axes axes;          // of rows and scores
  int64_t shift = 0;
  bool padded = false;
  bool masked = false;
  bool quantised = false;  // dynamically quantized rows
  bool repeated = false;   // a constant, repeated for each text
  std::vector<PlaceTerm> places;
  std::shared_ptr<Scores> scores;
  std::shared_ptr<const Turned> turned;
  std::shared_ptr<const HostTensor> factor;
  const Node* convolution = nullptr;  // of a product of filters
  int32_t score_block = -1;           // block of the scores of weights
  std::vector<int32_t> stacked;       // blocks of a stack
  size_t stack_axis = 0;
  /// The graph's final operator, which is omitted: Softmax, LogSoftmax.
  std::string ending;
};

/// A node that could not be read, and the reason.
struct Unread {
  std::string node, why;
};

/// The texts for which nodes are run.
struct Trial {
  int64_t long_text = 0;    // tokens of the longest text; 0: short texts only
  bool one_text = false;    // one text per run, although the file accepts several
  bool mask_hides = false;  // booleans of a mask are true at padding
};

class Lowering {
 public:
  /// `model` must outlive the object. Throws Error if the inputs are not those of a text model.
  explicit Lowering(const Model& model, const Trial& trial = {});

  /// Throws Error that lists every unreadable node that the outputs need.
  void run();

  std::vector<Block>& blocks() { return blocks_; }
  /// Returns the block of an output's rows; -1 if it has none. `squeezed`: the output has one column, and no axis for
  /// it. `ending`: the final operator that is omitted; "": none.
  int32_t output(const std::string& name, bool* squeezed, std::string* ending);
  bool has_input(InputRole role) const;
  /// Returns true if the graph accepts only texts of a fixed length.
  bool has_fixed_tokens() const;
  /// The text length that is needed to show the effects of masks and distant positions; 0: the texts that were run
  /// suffice.
  int64_t wanted_text() const { return wanted_; }
  const std::set<std::string>& notes() const { return notes_; }

 private:
  // lowering.cpp
  void read(const Node& node);
  bool read_host(const Node& node);
  void read_branches(const Node& node);
  bool read_join_of_empty(const Node& node);
  bool is_empty(const Node& node, size_t i) const;
  void set(const Node& node, size_t output, Value value);
  [[noreturn]] void refuse(const std::string& why) const;
  const Value& in(const Node& node, size_t i) const;
  bool there(const Node& node, size_t i) const { return !node.input(i).empty(); }
  Value::Kind kind(const Node& node, size_t i) const;
  std::optional<std::vector<HostTensor>> host(const Value& value) const;
  Reach reach(const Node& node, size_t i) const;
  void want(const Reach& reach);
  void count_bytes(const std::string& name);
  void let_go(const Node& node);
  std::shared_ptr<const HostTensor> constant_of(const Value& value) const;
  std::optional<double> number_of(const Value& value) const;
  std::vector<std::vector<int64_t>> lists(const Node& node, size_t input, const char* attribute) const;
  std::vector<int64_t> list(const Node& node, size_t input, const char* attribute) const;
  Value rows_of(int32_t block, Axes axes);
  Axes plain_axes(const Block& block) const;
  int32_t add(Block block);
  int32_t collapse(int32_t term);
  int32_t block_of(const Value& value);
  const Block& at(int32_t block) const { return blocks_[static_cast<size_t>(block)]; }
  Extents extents(size_t probe) const { return probes_[probe].extents; }
  std::vector<Extents> all_extents() const;

  // lowering_shape.cpp
  bool read_shape(const Node& node);
  void read_reshape(const Node& node, const std::vector<std::vector<int64_t>>& shapes);
  void read_slice(const Node& node);
  bool read_neighbours(const Node& node);
  void read_gather(const Node& node);
  void read_last(const Node& node, size_t axis);
  void read_split(const Node& node);
  void read_lookup(const Node& node);
  void read_lookup(const Node& node, const Value& table, const Value& index);
  Value cut(const Node& node, const Value& x, size_t axis, int64_t begin, int64_t end, bool drop);
  size_t axis_of(const Value& value, int64_t axis) const;

  // lowering_tables.cpp
  bool is_added_alone(const std::string& name) const;
  void cut_table(const Node& node);
  std::optional<Value> rows_of_places(const Node& node, size_t input, const Value& beside);

  // lowering_pools.cpp
  bool read_pools(const Node& node);
  void read_token_pool(const Node& node, fb::PoolKind kind, const std::vector<size_t>& gone, bool keep);
  void read_ending(const Node& node);
  void read_weights(const Node& node);
  bool read_weighted(const Node& node);
  int32_t larger(const Node& node, int32_t a, int32_t b);
  bool read_stack(const Node& node);
  int32_t weighted_sum(const Node& node, int32_t scores, int32_t rows);

  // lowering_rows.cpp
  bool read_rows(const Node& node);
  void read_pair(const Node& node);
  void read_reduction(const Node& node);
  void read_norm(const Node& node);
  void read_batch_norm(const Node& node);
  std::optional<std::vector<HostTensor>> of_each_token(const Axes& axes, const std::vector<HostTensor>& given) const;
  std::optional<std::vector<double>> of_each_column(const Axes& axes, const HostTensor& values, int64_t columns) const;
  int32_t term_of(const Value& constant, const Value& rows);
  void set_term(const Node& node, const Value& like, int32_t term, Axes axes);
  int32_t sum_of(const Node& node, int32_t a, int32_t b);
  Axes united(const Axes& a, const Axes& b) const;
  bool read_masked(const Node& node);
  Stage norm_stage(const Node& node, size_t gamma, size_t beta, float epsilon) const;
  int32_t activated(const Node& node, int32_t block, fb::ActivationKind kind);

  // lowering_products.cpp
  bool read_products(const Node& node);
  void read_matrix(const Node& node, const Value& x, Parameter weight, const Value* bias);
  void read_gemm(const Node& node);
  void read_dequantize(const Node& node);
  const Parameter* table_of(const Value& rows) const;
  void read_scaled_product(const Node& node, const Value& product, std::shared_ptr<const HostTensor> scale);
  void read_scaled_lookup(const Node& node, const Value& product, const Value& scale);
  bool cuts_at_zero(const Node& node) const;
  bool is_relu(int32_t term) const;
  bool read_recurrent(const Node& node);
  std::shared_ptr<const HostTensor> gates_of_integers(const Node& node, size_t input) const;
  void read_activation(const Node& node);
  void read_join(const Node& node);
  void read_join_of_neighbours(const Node& node);
  int32_t pooled(const Node& node, int32_t x, fb::PoolKind kind);
  int32_t sliced(const Node& node, int32_t x, uint32_t begin, uint32_t columns);
  int32_t joined(const Node& node, int32_t a, int32_t b);
  bool has_usual_activations(const Node& node) const;
  bool is_whole_length(const Value& lengths) const;
  void require_zeros(const Node& node, size_t input) const;
  int32_t linear(const Node& node, int32_t x, Parameter weight);
  int32_t biased(const Node& node, int32_t block, const Value& bias);

  // lowering_convolution.cpp
  struct Filters {
    int64_t columns = 0, window = 0, gap = 1, reach = 0;  // `reach`: tokens from the first to the last of a window
    int64_t before = 0, after = 0;                        // tokens of padding
    size_t tokens = 0;                                    // the axis of tokens
  };
  Filters filters_of(const Node& node, const Value& x, const Parameter& weight);
  void read_convolution(const Node& node);
  Value convolved(const Node& node, const Value& x, Parameter weight);

  // lowering_blocked.cpp
  bool read_blocked(const Node& node);
  void read_blocked_product(const Node& node);
  void read_blocked_lookup(const Node& node);
  void read_blocked_constant(const Node& node);
  bool is_large_integers(const Value& value) const;
  bool read_scaled_constant(const Node& node);
  BlockedIntegers packed_matrix(const Value& value) const;
  void set_scales(const Node& node, size_t scale, size_t zero, size_t axis, int64_t block, double usual,
                  BlockedIntegers& to) const;

  // lowering_attention.cpp
  bool read_attention(const Node& node);
  void read_scores(const Node& node);
  void set_queries_keys(const Value& queries, const Value& keys, Scores& scores, double* by_queries, double* by_keys);
  void read_context(const Node& node);
  void read_scores_pair(const Node& node);
  void read_attention_operator(const Node& node);
  void read_merged_attention(const Node& node);
  void read_grouped_attention(const Node& node);
  std::vector<HostTensor> causal_mask(int64_t window) const;
  void add_to_scores(Scores& scores, const Axes& axes, const std::vector<HostTensor>& added, double factor,
                     const Reach& reach) const;
  std::vector<HostTensor> mask_of_truths(const std::vector<HostTensor>& seen, bool inverted) const;
  int32_t attention(const Node& node, const Scores& scores, int32_t values);
  void take_norms(Block& block) const;
  std::optional<HeadAxes> heads_of(const Axes& axes, bool turned) const;

  // lowering_places.cpp
  bool read_repeated(const Node& node);
  bool read_places(const Node& node);
  void read_place_products(const Node& node);
  void select_places(const Node& node);
  bool is_index_alone(const std::string& name) const;
  void add_places(Scores& scores, const Value& places) const;
  std::shared_ptr<const Places> places_of(const Scores& scores);
  bool hides_nothing_more(const Value& scores, const std::vector<HostTensor>& hidden) const;

  // lowering_turned.cpp
  bool read_turned(const Node& node);
  void read_rotary_operator(const Node& node);
  void read_contributed_rotary(const Node& node);
  Value turned_heads(const Node& node, Value heads, size_t cosines);
  bool cut_turned(const Node& node);
  bool split_turned(const Node& node);
  std::shared_ptr<const Turned> turned_of(const Value& value);
  std::optional<std::vector<std::vector<double>>> factors_of(const Axes& axes, const Value& value) const;
  void set_turned(const Node& node, const Value& like, Turned turned);
  int32_t turned_rows(const Value& value, double* factor, std::shared_ptr<const Turn>* turn);

  // lowering_fused.cpp
  bool read_fused(const Node& node);
  void read_embed_norm(const Node& node);
  Value table_of_embed_norm(const Node& node, size_t i) const;
  void read_skip_norm(const Node& node);

  const Model& model_;
  std::vector<Probe> probes_;
  std::map<std::string, Value> values_;
  std::map<std::string, InputRole> roles_;
  std::vector<Block> blocks_;
  RowFunctions functions_;
  std::map<int32_t, int32_t> collapsed_;  // blocks of terms
  std::map<std::string, Unread> unread_;  // by output
  std::map<std::string, std::vector<std::string>> reads_;
  std::set<std::string> notes_;
  std::map<std::string, size_t> uses_;  // nodes that still read the value
  std::set<std::string> outputs_;       // outputs of the graph
  uint64_t run_ = 0;                    // elements computed so far
  int64_t wanted_ = 0;
  std::map<std::string, uint64_t> held_;  // bytes of values that are kept for probes, by name
  Taken taken_;
};

/// A node's reader throws this if it does not understand the node.
struct NotRead {
  std::string why;
};

}  // namespace bantam::convert::onnx

#endif  // BANTAM_CONVERTER_ONNX_LOWERING_H_
