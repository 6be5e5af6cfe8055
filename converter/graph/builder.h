// Builder: appends tensors and operators to a Graph's only subgraph, in SSA form: each operator writes a new f32
// tensor; outputs[1] (the quantized copy) is -1. Importers build graphs only through it.
#ifndef BANTAM_CONVERTER_GRAPH_BUILDER_H_
#define BANTAM_CONVERTER_GRAPH_BUILDER_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "graph/access.h"
#include "graph/graph.h"

namespace bantam::convert {

/// Indices into Model.symbols, the same in every file.
enum Symbol : int32_t { kTokens = 0, kSequences = 1, kTile = 2 };

/// No tensor.
constexpr int32_t kAbsent = -1;

/// A constant to be added to the graph: f32 values in row-major order, and their origin.
struct Values {
  std::vector<float> values;
  std::vector<std::string> source;  // names in the source model, in order of concatenation
  fb::DType source_type = fb::DType::f32;
  uint64_t source_bytes = 0;
  std::shared_ptr<const RowSource> later = nullptr;  // for matrices: replaces `values`
};

/// Looks up a row of `table` for each value of `source`.
struct EmbedSpec {
  int32_t table = kAbsent;
  fb::IndexSource source = fb::IndexSource::ids;
  float scale = 1;
  int32_t offset = 0;  // added to the value; for one part of a split table, minus its first id
};

struct Heads {
  int32_t q = kAbsent, k = kAbsent, v = kAbsent;
};

/// The transformation of queries and keys before attention (rotary positions, norms); see SplitHeads in the schema.
struct TurnSpec {
  int32_t rotary = kAbsent;  // a Builder::table [places, 2 w] of cosines and sines
  int32_t norms = kAbsent;   // a Builder::table [4, W] of gammas and betas
  float epsilon = 0;
  bool each_head = false;  // the norms apply to each head separately
  fb::NormKind norm = fb::NormKind::layer;
  bool norms_behind = false;  // the norms follow the rotation
};

/// Attention's scale, and how it uses positions; see Attention in the schema.
struct AttentionSpec {
  float scale = 0;  // 0: 1 / sqrt(head width)
  fb::MaskKind mask = fb::MaskKind::none;
  uint32_t window = 0;
  int32_t distance_bias = kAbsent;  // a Builder::table [heads, 2 D + 1]
  int32_t slopes = kAbsent;         // a Builder::vector [heads]
  // Scores of positions: a Builder::vector and Builder::places
  int32_t place_rows = kAbsent, place_keys = kAbsent, place_queries = kAbsent;
  bool shared_places = false;      // all heads share them
  int32_t segment_keys = kAbsent;  // a Builder::table [heads, head width + 1]
  float soft_cap = 0;              // cap of the scores; 0: none
  // For masks with global tokens and for block masks.
  uint32_t dilation = 1;
  uint32_t block = 0, full_until = 0, random = 0;
  int32_t random_blocks = kAbsent;  // Builder::numbers
  int32_t residual = kAbsent;       // added to attention's output
  int32_t sinks = kAbsent;          // a Builder::vector [heads], the score of each head's sink
};

/// Matrices and biases of one direction of a recurrent layer: linear_weight [gates, state]; vector [gates] or kAbsent;
/// linear_weight [state, cells] or kAbsent. See Recurrent in the schema.
struct RecurrentWeights {
  int32_t weights = kAbsent, bias = kAbsent, projection = kAbsent;
};

/// The initial or final states of a recurrent layer, one row per sequence.
struct RecurrentState {
  int32_t state = kAbsent, cells = kAbsent;
};

/// How a decoder step attends to the rows of a source; see Align in the schema.
struct AlignSpec {
  float scale = 1;
  fb::AlignPlace place = fb::AlignPlace::all;
  uint32_t window = 0;
  int32_t centre = kAbsent;  // rows [tokens, 1]
};

/// A mixture-of-experts layer; see Experts in the schema. `up`, `down`: linear_weights of all experts.
struct ExpertsSpec {
  int32_t up = kAbsent, down = kAbsent;
  uint32_t experts = 0, top = 0, outputs = 0;
  fb::ActivationKind activation = fb::ActivationKind::none;
  bool gated = false, normalized = false;
  uint32_t capacity = 0;
  fb::ShareKind shares = fb::ShareKind::softmax;
  int32_t choice_bias = kAbsent;  // a Builder::vector [experts], added when experts are chosen
  bool choice_by_scores = false;
  float threshold = 0;
  int32_t up_bias = kAbsent, down_bias = kAbsent;  // Builder::vectors, a number for each row of `up` and of `down`
  float limit = 0, gate_added = 0;
  bool scales_inputs = false;
};

/// Linear-cost attention; see KeySums in the schema. Its matrices are Builder::tables, stored as f32 whatever the type
/// of the weights.
struct SumSpec {
  fb::FeatureKind kind = fb::FeatureKind::softmax;
  uint32_t heads = 0, features = 0;
  float epsilon = 0;
  int32_t matrix = kAbsent, value_matrix = kAbsent;
};

/// The operands of a scan; see Scan in the schema. `rates`: a Builder::table [states, width rounded up to 16].
struct ScanSpec {
  fb::ScanKind kind = fb::ScanKind::selective;
  int32_t x = kAbsent, steps = kAbsent, rates = kAbsent;
  int32_t in = kAbsent, out = kAbsent;  // rows of factors of the states: b and c
  int32_t skip = kAbsent;               // a Builder::vector
};

class Builder {
 public:
  /// Prepares the symbols of `graph` and its subgraph "main"; `graph` must outlive the builder.
  explicit Builder(Graph& graph);

  /// Assigns all later additions to this part and layer (-1: none); see Tag in the schema.
  void enter(fb::Part part, int32_t layer = -1);
  /// Assigns all later additions to this pass; the initial pass is the main pass. Passes share constants and states.
  void enter(fb::Phase phase) { phase_ = phase; }

  /// Adds a vector (bias, gamma, beta) and returns its index.
  int32_t vector(const std::string& name, Values values);
  /// Adds a matrix [rows, columns] that Linear multiplies by; embedding() adds one whose rows Embed looks up.
  int32_t linear_weight(const std::string& name, uint32_t rows, uint32_t columns, Values values);
  /// Adds constants by which attention multiplies queries or keys, or a matrix that is no weight: laid out like linear
  /// weights, but never stored in 4 bits or in a sparse layout.
  int32_t places(const std::string& name, uint32_t rows, uint32_t columns, Values values);
  int32_t embedding(const std::string& name, uint32_t rows, uint32_t columns, Values values);
  /// Adds a matrix [rows, columns] of positions (biases by distance, rotary positions), stored as f32 whatever the type
  /// of the weights.
  int32_t table(const std::string& name, uint32_t rows, uint32_t columns, Values values);
  /// Adds a vector of integers, stored as i32.
  int32_t numbers(const std::string& name, std::vector<int32_t> values);
  /// Lets an embedding serve as a Linear weight, too (tied output layer).
  void tie(int32_t embedding);

  /// Each function returns the new tensor. The symbol of its rows and its width follow from the inputs.
  int32_t embed(const std::string& name, const std::vector<EmbedSpec>& tables, const EpilogueSpec& epilogue);
  int32_t linear(const std::string& name, int32_t x, int32_t weight, int32_t bias, const EpilogueSpec& epilogue);
  Heads split_heads(const std::string& name, int32_t x, uint32_t heads, const TurnSpec& turn = {}) {
    return split_heads(name, x, heads, heads, turn);
  }
  /// `kv_heads`: the number of key heads and of value heads; heads / kv_heads query heads share each.
  Heads split_heads(const std::string& name, int32_t x, uint32_t heads, uint32_t kv_heads, const TurnSpec& turn);
  /// split_queries() splits queries only, split_keys() keys and values only. split_states() splits keys and values that
  /// the pass over a source stores for attention in the main pass.
  int32_t split_queries(const std::string& name, int32_t x, uint32_t heads);
  Heads split_keys(const std::string& name, int32_t x, uint32_t kv_heads);
  Heads split_states(const std::string& name, int32_t x, uint32_t kv_heads);
  /// Adds self-attention, or cross-attention to a source if keys and values are states.
  int32_t attention(const std::string& name, const Heads& heads, const AttentionSpec& spec = {});
  /// key_sums() sums over the keys and values of each sequence, which lie side by side in the columns of `x`;
  /// linear_attention() applies queries q to the sums.
  int32_t key_sums(const std::string& name, int32_t x, const SumSpec& spec);
  int32_t linear_attention(const std::string& name, int32_t q, int32_t sums, const SumSpec& spec);
  /// Adds attention within chunks. The columns of `x` hold queries, keys and values side by side, or queries and values
  /// if there are `rotations`, a table. See ChunkAttention in the schema.
  int32_t chunk_attention(const std::string& name, int32_t x, int32_t rotations, const fb::ChunkAttentionT& attributes);
  int32_t pool(const std::string& name, int32_t x, fb::PoolKind kind, bool l2, std::vector<uint32_t> skip_last = {});
  int32_t pool(const std::string& name, int32_t x, const fb::PoolT& attributes);
  /// `x` may be a state with rows of sources; the main pass then takes the row of each sequence's source.
  int32_t slice(const std::string& name, int32_t x, uint32_t begin, uint32_t width,
                const EpilogueSpec* epilogue = nullptr);
  /// leave() creates the state that the pass over a source stores from x [sequences or tokens, width]. spread() copies
  /// a state's row per source to all token rows of the sequences with that source.
  int32_t leave(const std::string& name, int32_t x);
  int32_t spread(const std::string& name, int32_t state);
  /// `x`: scores of tags; `transitions`: a table [tags + 2, tags]; `members`: an integer tensor, or kAbsent; see Crf in
  /// the schema.
  int32_t crf(const std::string& name, int32_t x, int32_t transitions, int32_t members, uint32_t skip_first,
              uint32_t skip_last);
  int32_t row(const std::string& name, int32_t x, const EpilogueSpec& epilogue);
  /// Rows of `columns` numbers that the caller provides; adds the input "features" for them.
  int32_t features(const std::string& name, uint32_t columns);
  /// Concatenates each token row with `before` rows before it and `after` rows after it.
  int32_t unfold(const std::string& name, int32_t x, uint32_t before, uint32_t after);
  /// A depthwise convolution over tokens: each column has its own filter. `weights`: [before + 1 + after, width].
  int32_t depthwise(const std::string& name, int32_t x, uint32_t before, uint32_t after, Values weights);
  /// The same with weights of each token, which are the softmax of its `scores` [rows, heads * (before + 1 + after)]
  /// for the columns of each head.
  int32_t depthwise_of_scores(const std::string& name, int32_t x, int32_t scores, uint32_t heads, uint32_t before,
                              uint32_t after);
  /// A depthwise convolution that reads only rows in front, of which contexts keep the last `before`: a state.
  int32_t short_convolution(const std::string& name, int32_t x, uint32_t before, Values weights,
                            const EpilogueSpec& epilogue);
  /// A Fourier transform over tokens of rows whose columns are transformed; see Fourier in the schema.
  int32_t fourier(const std::string& name, int32_t x, const EpilogueSpec& epilogue);
  /// A recurrence over tokens whose columns are independent; see Scan in the schema.
  int32_t scan(const std::string& name, const ScanSpec& spec);
  /// Log-probabilities of words, from the scores of the most frequent words, of the clusters, and of each cluster's
  /// words; see AdaptiveSoftmax in the schema.
  int32_t adaptive_softmax(const std::string& name, int32_t front, int32_t clusters, const std::vector<int32_t>& words);
  /// Concatenates the columns of a and b.
  int32_t join(const std::string& name, int32_t a, int32_t b, const EpilogueSpec& epilogue = {});

  /// `scores`: each expert's score for each row of x.
  int32_t experts(const std::string& name, int32_t x, int32_t scores, const ExpertsSpec& spec,
                  const EpilogueSpec& epilogue);

  /// Returns the states of each row, [rows, directions * state]. `x`: the rows' contributions to the gates. With one
  /// set of weights, `reverse` is its direction; two sets are for both directions. `last`, if not null, receives the
  /// tensors of the last states and cells. `members` (integers), `after` and `mark` select the tokens that the layer
  /// runs over; see Recurrent in the schema.
  int32_t recurrent(const std::string& name, fb::Cell cell, int32_t x, const std::vector<RecurrentWeights>& weights,
                    bool reverse, const RecurrentState& first = {}, RecurrentState* last = nullptr,
                    int32_t members = kAbsent, int32_t after = -1, uint32_t mark = 0);
  /// A recurrent layer of `state` SSRU cells, which have no recurrent weights. `x`: gates f and n, each padded to a
  /// multiple of 16 columns.
  int32_t ssru(const std::string& name, int32_t x, uint32_t state);
  /// `x`: factors [rows, 2 K]; `nodes`: 2 K numbers; see Tree in the schema.
  int32_t tree(const std::string& name, int32_t x, std::vector<int32_t> nodes);
  /// Reads the previous token's row, `columns` wide, of the tensor that close() names later. For a sequence's first
  /// token it returns the row of `first` (one row per sequence), or zeros. The ops between the first previous() and the
  /// last op that writes such a tensor run token by token.
  int32_t previous(const std::string& name, uint32_t columns, int32_t first = kAbsent);
  void close(int32_t previous, int32_t x);
  /// One step of a recurrent layer: `x` and `s` are the contributions of the row and of the state to its gates;
  /// `before` is the previous token's state (gru) or cells (lstm).
  RecurrentState recurrent_cell(const std::string& name, fb::Cell cell, int32_t x, int32_t s, int32_t before);
  /// The weighted mean of a source's rows; see Align in the schema. `keys`, `values`: states of tokens; `energy`: a
  /// vector, or kAbsent.
  int32_t align(const std::string& name, int32_t q, int32_t keys, int32_t values, int32_t energy,
                const AlignSpec& spec);
  /// Scores of spans of at most `words` words for at most `labels` labels; see Spans in the schema.
  int32_t spans(const std::string& name, int32_t starts, int32_t ends, int32_t labels, uint32_t words,
                uint32_t most_labels);

  /// Returns the epilogue of x plus the row of `y` whose score has rank `rank` (0: the highest), or, with `mean`, plus
  /// all rows weighted by the softmax of their scores; see Select in the schema.
  int32_t select(const std::string& name, int32_t scores, int32_t x, int32_t y, uint32_t rank, bool mean,
                 const EpilogueSpec& epilogue);

  /// globals() defines which tokens are global. make_globals_only() restricts a linear layer, identified by its output,
  /// to their rows.
  void globals(fb::GlobalTokens kind, int32_t separator);
  void make_globals_only(int32_t rows);

  /// Turns a linear layer's scores of tokens into term weights, one row per sequence, and returns the same tensor; see
  /// Linear in the schema. Returns kAbsent if the scores do not come from a linear layer without epilogue.
  int32_t make_terms(int32_t scores, uint8_t saturations, bool sums);

  /// Declares `tensor` as an output of the model; returns its index in Model.outputs.
  uint32_t output(const std::string& name, fb::OutputRole role, int32_t tensor, bool squeeze = false);
  void input(const std::string& name, fb::InputKind kind, uint32_t limit);

  uint32_t width(int32_t tensor) const;
  const std::string& name(int32_t tensor) const;
  /// The number of rows of a constant matrix.
  uint32_t rows(int32_t constant) const;
  /// Subtracts a row of a constant matrix from all its rows and returns the row's original values; empty if the
  /// constant has no values in memory.
  std::vector<float> take_row(int32_t constant, uint32_t row);
  /// Multiplies the values of a constant by `factor`.
  void multiply(int32_t constant, float factor);
  /// Returns true if the constant has these values.
  bool holds(int32_t constant, const Values& values) const;

 private:
  int32_t constant(const std::string& name, const std::vector<uint32_t>& shape, Values values);
  int32_t activation(const std::string& name, int32_t symbol, uint32_t width);
  int32_t rows_symbol(int32_t tensor) const;
  void cut(const std::string& name, int32_t x, int32_t y, uint32_t begin, const EpilogueSpec* epilogue);
  fb::OpT& op(const std::string& name, std::vector<int32_t> inputs, std::vector<int32_t> outputs);
  /// part_of_heads() adds a tensor of heads; split() adds a SplitHeads op and returns its attributes.
  int32_t part_of_heads(const std::string& name, int32_t x, fb::Layout layout, uint32_t heads, uint32_t head_width);
  fb::SplitHeadsT& split(const std::string& name, int32_t x, const Heads& heads, uint32_t head_width);

  Graph& graph_;
  fb::Tag tag_ = {-1, fb::Part::none, 0, 0};
  fb::Phase phase_ = fb::Phase::main;
};

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_GRAPH_BUILDER_H_
