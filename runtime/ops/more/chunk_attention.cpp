// ChunkAttention: each token attends to the chunks near its own. Chunks follow text order, or orders of the tokens by
// hash.
#include <string.h>

#include "ops/epilogue.h"
#include "ops/more/token_copies.h"
#include "ops/more/token_orders.h"
#include "ops/product.h"

namespace bantam::ops {
namespace {

// Positions in Op.inputs, and in Op.outputs.
constexpr uint32_t kRotations = 1, kRows = 0, kCopies = 1;

/// The most tokens of a chunk, or of the multiple to which texts are filled up, and the most keys of a token in one
/// round.
constexpr uint32_t kMaxChunk = 1u << 16, kMaxSeen = 1u << 16;

/// Keys that are arranged as weights at a time.
constexpr uint32_t kKeysAtOnce = 16;

/// The score of hidden keys: their weight is 0.
constexpr float kUnseen = -1e30f;

/// The score of a query's own key if it is the only visible key of a round: its weight is negligible compared to other
/// rounds.
constexpr float kAlone = -1e5f;

struct ChunkShape {
  uint32_t heads, head_width;
  const fb::ChunkAttention& a;

  ChunkShape(const fb::Model& model, const fb::Op& op) : a(*op.attributes_as_ChunkAttention()) {
    heads = a.heads();
    const uint32_t all = width(tensor(model, operand(op.inputs(), 0))), parts = hashed() ? 2 : 3;
    head_width = heads == 0 || all % parts != 0 || all / parts % heads != 0 ? 0 : all / parts / heads;
  }
  bool hashed() const { return a.rounds() != 0; }
  HashShape hashes() const { return {heads, head_width, a.rounds(), a.buckets()}; }
  uint32_t columns() const { return heads * head_width; }
  uint64_t neighbours() const { return uint64_t{a.before()} + 1 + a.after(); }
  /// The most keys of a token in one round, in a text of `tokens` tokens, rounded up to whole vectors.
  uint32_t seen(uint64_t tokens) const {
    const uint64_t own = tokens < a.chunk() ? tokens : a.chunk();
    return static_cast<uint32_t>(round_up(neighbours() * own, 16));
  }
};

Verdict verify_chunks(const Site& site) {
  if (!linked::kFloat) return not_linked("this build leaves out products of floats");
  if (site.rows_symbol != kSequences) return corrupt("chunks of texts are attended to over sequences");
  const int32_t x = operand(site.op.inputs(), 0), rotations = operand(site.op.inputs(), kRotations);
  if (!is_token_rows(tensor(site.model, x))) return corrupt("chunks are of shared f32 rows of tokens", x);
  const ChunkShape shape(site.model, site.op);
  const fb::ChunkAttention& a = shape.a;
  if (shape.head_width == 0) return corrupt("heads of chunks do not share the columns out", x);
  if (a.chunk() == 0 || a.multiple() == 0 || a.multiple() % a.chunk() != 0) {
    return corrupt("chunks of no tokens, or that do not share out what texts are filled up to");
  }
  if (a.full_until() > a.chunk()) return corrupt("texts that are one chunk are longer than that");
  if (a.multiple() > kMaxChunk || shape.neighbours() * a.chunk() > kMaxSeen) {
    return unsupported("chunks of too many tokens, or too many of them");
  }
  if (!(a.scale() > 0.0f && a.scale() <= 1e6f)) return corrupt("the scale of chunks' scores is not a positive number");
  if (shape.hashed()) {
    if (!(a.epsilon() > 0.0f && a.epsilon() <= 1.0f)) return corrupt("the epsilon of hashed keys is not in (0, 1]");
    if (!linked::norm(static_cast<uint32_t>(fb::NormKind::rms))) return not_linked("this build leaves the norm out");
    BANTAM_CHECK(check_hashes(site, shape.hashes(), rotations));
  } else if (rotations >= 0 || count(a.buckets()) != 0 || a.epsilon() != 0.0f) {
    return corrupt("chunks that follow the text have hashes", rotations);
  }
  if (!linked::activation(static_cast<uint32_t>(fb::ActivationKind::exp))) {
    return not_linked("this build leaves out the activation that shares of keys are computed with");
  }
  BANTAM_CHECK(check_no_epilogue(site));
  return check_token_copies(site, operand(site.op.outputs(), kRows), operand(site.op.outputs(), kCopies),
                            shape.columns());
}

/// Scratch layout of the operator for sequences of up to `tokens` tokens.
struct ChunkScratch {
  uint64_t keys, values, numbers, fillers, block, queries, scores, sums, weights, orders, size;
  ChunkScratch(const ChunkShape& shape, uint64_t tokens, uint32_t block_rows) {
    const uint64_t seen = shape.seen(tokens), padded = kernels::pad16(shape.head_width);
    uint64_t at = 0;
    const auto take = [&at](uint64_t floats) {
      const uint64_t begin = at;
      at += scratch_part(floats * sizeof(float));
      return begin;
    };
    keys = take(seen * shape.head_width);
    values = take(seen * padded);
    numbers = take(seen);
    fillers = take(seen);
    block = take(kKeysAtOnce * padded);
    queries = take(block_rows * padded);
    scores = take(block_rows * seen);
    sums = take(block_rows * padded);
    weights = take(shape.a.rounds() > 1 ? 2 * tokens : 0);
    orders = at;
    size = at + (shape.hashed() ? TokenOrders::scratch(shape.hashes(), tokens, block_rows) : 0);
  }
};

uint64_t chunk_scratch(const fb::Model& model, const fb::Op& op, const ScratchNeed& need) {
  return ChunkScratch(ChunkShape(model, op), uint64_t{need.pages} * 16, need.block_rows).size;
}

/// Number of lanes in which rows are summed; row lengths are a multiple of it.
constexpr uint32_t kChunkLanes = 16;

/// Returns the sum of n numbers, accumulated in lanes by position.
float sum_of(const float* x, uint32_t n) {
  float lanes[kChunkLanes] = {};
  for (uint32_t i = 0; i < n; i += kChunkLanes) {
    for (uint32_t l = 0; l < kChunkLanes; ++l) lanes[l] += x[i + l];
  }
  for (uint32_t step = kChunkLanes / 2; step != 0; step /= 2) {
    for (uint32_t i = 0; i < step; ++i) lanes[i] += lanes[i + step];
  }
  return lanes[0];
}

/// Subtracts the maximum from n numbers and returns it.
float lower(float* x, uint32_t n) {
  float lanes[kChunkLanes];
  memcpy(lanes, x, sizeof(lanes));
  for (uint32_t i = kChunkLanes; i < n; i += kChunkLanes) {
    for (uint32_t l = 0; l < kChunkLanes; ++l) lanes[l] = x[i + l] > lanes[l] ? x[i + l] : lanes[l];
  }
  float most = lanes[0];
  for (const float lane : lanes) most = lane > most ? lane : most;
  for (uint32_t i = 0; i < n; ++i) x[i] -= most;
  return most;
}

/// Hides those of n scores for which is(key) is true, and counts them. Without branches: keys in hash order are
/// unpredictable.
template <class Is>
uint32_t hide(float* scores, const uint32_t* keys, uint32_t n, const Is& is) {
  uint32_t hidden = 0;
  for (uint32_t k = 0; k < n; ++k) {
    const bool unseen = is(keys[k]);
    hidden += unseen ? 1u : 0u;
    scores[k] = unseen ? kUnseen : scores[k];
  }
  return hidden;
}

/// Processes the sequences of a tile one after the other, head by head and chunk by chunk.
class Chunks {
 public:
  Chunks(const TileRun& run, const fb::Op& op, uint64_t tokens)
      : run_(run),
        shape_(run.model, op),
        x_(all_rows(run, operand(op.inputs(), 0))),
        y_(all_rows(run, operand(op.outputs(), kRows))),
        padded_(kernels::pad16(shape_.head_width)),
        places_(shape_, tokens, run.block_rows),
        keys_(floats(places_.keys)),
        values_(floats(places_.values)),
        numbers_(reinterpret_cast<uint32_t*>(run.scratch + places_.numbers)),
        fillers_(floats(places_.fillers)),
        block_(floats(places_.block)),
        queries_(floats(places_.queries)),
        scores_(floats(places_.scores)),
        sums_(floats(places_.sums)),
        most_(floats(places_.weights)),
        total_(most_ + tokens),
        orders_(run, shape_.hashes(), constant<float>(run, operand(op.inputs(), kRotations)),
                run.scratch + places_.orders, tokens) {}

  bool run(uint32_t sequence) {
    begin_ = run_.offsets[sequence];
    tokens_ = run_.offsets[sequence + 1] - begin_;
    whole_ = tokens_ <= shape_.a.full_until();
    const auto filled = static_cast<uint32_t>(round_up(tokens_, shape_.a.multiple()));
    chunk_ = whole_ ? tokens_ : shape_.a.chunk();
    chunks_ = whole_ ? 1 : filled / chunk_;
    ordered_ = shape_.hashed() && !whole_;
    rounds_ = ordered_ ? shape_.a.rounds() : 1;
    bool finite = true;
    for (uint32_t head = 0; head < shape_.heads; ++head) finite &= attend(head);
    return finite;
  }

 private:
  /// Positions [begin, end) in a round's order.
  struct ChunkPlaces {
    uint32_t round, begin, end;
  };

  float* floats(uint64_t at) const { return reinterpret_cast<float*>(run_.scratch + at); }

  /// The queries (part 0), keys or values of head `head` for a token of the sequence.
  const float* row(uint32_t token, uint32_t part, uint32_t head) const {
    return x_.from(begin_ + token).f32() + (size_t{part} * shape_.heads + head) * shape_.head_width;
  }
  float* out(uint32_t token, uint32_t head) const {
    return y_.from(begin_ + token).f32() + size_t{head} * shape_.head_width;
  }

  uint32_t token_at(uint32_t round, uint32_t place) const { return ordered_ ? orders_.token(round, place) : place; }

  /// Positions of chunk `chunk` among the chunks of all rounds, without the filling at the end of the text.
  ChunkPlaces places_of(uint32_t chunk) const {
    const auto within = [this](uint64_t place) { return place < tokens_ ? static_cast<uint32_t>(place) : tokens_; };
    const uint64_t begin = uint64_t{chunk % chunks_} * chunk_;
    return {chunk / chunks_, within(begin), within(begin + chunk_)};
  }

  bool attend(uint32_t head) {
    bool finite = !ordered_ || orders_.sort(x_.from(begin_), head, tokens_);
    for (uint32_t token = 0; rounds_ > 1 && token < tokens_; ++token) total_[token] = 0;
    for (uint32_t chunk = 0; chunk < rounds_ * chunks_; ++chunk) {
      const ChunkPlaces own = places_of(chunk);
      if (own.begin == own.end) continue;
      list_keys(chunk);
      finite &= lay_out(head);
      for (uint32_t place = own.begin, n = 0; place < own.end; place += n) {
        n = own.end - place < run_.block_rows ? own.end - place : run_.block_rows;
        finite &= attend_block(own.round, place, n, head);
      }
    }
    for (uint32_t token = 0; rounds_ > 1 && token < tokens_; ++token) {
      float* y = out(token, head);
      for (uint32_t i = 0; i < shape_.head_width; ++i) y[i] /= total_[token];
    }
    return finite;
  }

  /// Lists the tokens of the chunks that this chunk attends to.
  void list_keys(uint32_t chunk) {
    const uint32_t all = rounds_ * chunks_, before = whole_ ? 0 : shape_.a.before(),
                   after = whole_ ? 0 : shape_.a.after();
    seen_ = 0;
    for (uint32_t i = 0; i <= before + after; ++i) {
      const uint32_t away = i < before ? before - i : i - before;
      const uint32_t steps = away > all ? 0 : i < before ? all - away : away;
      const ChunkPlaces places = places_of((chunk + steps) % all);
      for (uint32_t place = places.begin; place < places.end; ++place) {
        numbers_[seen_++] = token_at(places.round, place);
      }
    }
    padded_keys_ = kernels::pad16(seen_);
    for (uint32_t k = 0; k < padded_keys_; ++k) fillers_[k] = k < seen_ ? 0.0f : kUnseen;
  }

  /// Arranges keys as weights from a head's columns to keys, and values as weights from keys to a head's columns,
  /// followed by zeros.
  bool lay_out(uint32_t head) {
    const uint32_t width = shape_.head_width;
    bool finite = true;
    for (uint32_t first = 0; first < padded_keys_; first += kKeysAtOnce) {
      const uint32_t n = seen_ - first < kKeysAtOnce ? seen_ - first : kKeysAtOnce;
      for (uint32_t r = 0; r < kKeysAtOnce; ++r) {
        float* to = block_ + size_t{r} * padded_;
        memset(to, 0, padded_ * sizeof(float));
        if (r < n) memcpy(to, row(numbers_[first + r], shape_.hashed() ? 0 : 1, head), width * sizeof(float));
      }
      if (shape_.hashed()) finite &= norm_block(n);
      float* keys = keys_ + size_t{first} * width;
      for (uint32_t i = 0; i < width; ++i) {
        for (uint32_t r = 0; r < kKeysAtOnce; ++r) keys[size_t{i} * kKeysAtOnce + r] = block_[size_t{r} * padded_ + i];
      }
    }
    constexpr uint32_t kPanel = 16;
    const size_t panel_floats = size_t{padded_keys_} * kPanel;
    for (uint32_t key = 0; key < padded_keys_; ++key) {
      float* to = values_ + size_t{key} * kPanel;
      const float* from = key < seen_ ? row(numbers_[key], shape_.hashed() ? 1 : 2, head) : nullptr;
      for (uint32_t column = 0; column < padded_; column += kPanel, to += panel_floats) {
        const uint32_t n = from == nullptr ? 0 : width - column < kPanel ? width - column : kPanel;
        if (n != 0) memcpy(to, from + column, n * sizeof(float));
        if (n != kPanel) memset(to + n, 0, (kPanel - n) * sizeof(float));
      }
    }
    return finite;
  }

  bool norm_block(uint32_t rows) const {
    kernels::EpilogueRows norm = {};
    norm.x = norm.y = block_;
    norm.x_stride = norm.y_stride = padded_;
    norm.rows = rows;
    norm.width = shape_.head_width;
    norm.norm = kernels::Norm::kRms;
    norm.epsilon = shape_.a.epsilon();
    return run_.kernels.epilogue_rows(norm);
  }

  bool multiply(const float* x, uint32_t x_stride, uint32_t rows, const float* w, const float* bias, uint32_t k,
                uint32_t n, float* y) const {
    return run_.kernels.linear_f32(
        {x, x_stride, rows, w, kernels::Element::kF32, bias, k, n, kernels::Activation::kNone, y, n});
  }

  /// Computes attention for the queries at n positions of a round's order and the arranged keys.
  bool attend_block(uint32_t round, uint32_t place, uint32_t n, uint32_t head) {
    for (uint32_t r = 0; r < n; ++r) {
      const float* q = row(token_at(round, place + r), 0, head);
      float* to = queries_ + size_t{r} * padded_;
      for (uint32_t i = 0; i < shape_.head_width; ++i) to[i] = q[i] * shape_.a.scale();
    }
    bool finite = multiply(queries_, padded_, n, keys_, fillers_, shape_.head_width, padded_keys_, scores_);
    bool alone[kBlockRows];
    for (uint32_t r = 0; r < n; ++r) alone[r] = mask(token_at(round, place + r), scores_ + size_t{r} * padded_keys_);
    if (rounds_ == 1) {
      finite &= run_.kernels.softmax_rows({scores_, padded_keys_, n, padded_keys_});
      finite &= multiply(scores_, padded_keys_, n, values_, nullptr, padded_keys_, padded_, sums_);
      for (uint32_t r = 0; r < n; ++r) {
        memcpy(out(token_at(round, place + r), head), sums_ + size_t{r} * padded_, shape_.head_width * sizeof(float));
      }
      return finite;
    }
    float most[kBlockRows];
    for (uint32_t r = 0; r < n; ++r) {
      most[r] = lower(scores_ + size_t{r} * padded_keys_, padded_keys_);
      if (alone[r]) most[r] = kAlone;
    }
    finite &= exponentiate(scores_, n, padded_keys_);
    finite &= multiply(scores_, padded_keys_, n, values_, nullptr, padded_keys_, padded_, sums_);
    for (uint32_t r = 0; r < n; ++r) {
      const float total = sum_of(scores_ + size_t{r} * padded_keys_, padded_keys_);
      finite &= add(token_at(round, place + r), head, most[r], total, sums_ + size_t{r} * padded_);
    }
    return finite;
  }

  bool exponentiate(float* x, uint32_t rows, uint32_t columns) const {
    kernels::EpilogueRows exp = {};
    exp.x = exp.y = x;
    exp.x_stride = exp.y_stride = columns;
    exp.rows = rows;
    exp.width = columns;
    exp.activation = kernels::Activation::kExp;
    return run_.kernels.epilogue_rows(exp);
  }

  /// Hides keys that the token may not attend to. Returns true if no other token is visible: it then attends to itself.
  bool mask(uint32_t token, float* scores) const {
    const bool causal = shape_.a.causal();
    if (!shape_.hashed()) {
      if (causal) hide(scores, numbers_, seen_, [token](uint32_t key) { return key > token; });
      return false;
    }
    const uint32_t hidden = causal ? hide(scores, numbers_, seen_, [token](uint32_t key) { return key >= token; })
                                   : hide(scores, numbers_, seen_, [token](uint32_t key) { return key == token; });
    if (hidden != seen_) return false;
    for (uint32_t k = 0; k < seen_; ++k) scores[k] = numbers_[k] == token ? 0.0f : kUnseen;
    return true;
  }

  /// Merges a round's result into the token's output: the sum of values weighted relative to the greatest score, whose
  /// weight is 1.
  bool add(uint32_t token, uint32_t head, float most, float total, const float* sums) {
    float* y = out(token, head);
    if (total_[token] == 0) {
      memcpy(y, sums, shape_.head_width * sizeof(float));
      most_[token] = most;
      total_[token] = total;
      return true;
    }
    const float top = most > most_[token] ? most : most_[token];
    float* const shares = block_;  // weights of the former output and of the new one
    shares[0] = most_[token] - top;
    shares[1] = most - top;
    const bool finite = exponentiate(shares, 1, 2);
    const float before = shares[0], now = shares[1];
    for (uint32_t i = 0; i < shape_.head_width; ++i) y[i] = y[i] * before + sums[i] * now;
    most_[token] = top;
    total_[token] = total_[token] * before + total * now;
    return finite;
  }

  const TileRun& run_;
  const ChunkShape shape_;
  const Rows x_, y_;
  const uint32_t padded_;  // columns of a head, rounded up to whole vectors
  const ChunkScratch places_;
  float *const keys_, *const values_;
  uint32_t* const numbers_;  // [seen_]: tokens of the keys
  float* const fillers_;     // [padded_keys_]: 0 for keys, then kUnseen
  float *const block_, *const queries_, *const scores_, *const sums_;
  float *const most_, *const total_;  // [tokens]: the greatest score so far, and the sum of weights
  TokenOrders orders_;
  // State of a sequence.
  uint32_t begin_ = 0, tokens_ = 0;
  bool whole_ = false;    // the sequence is one chunk
  bool ordered_ = false;  // chunks follow hash orders
  uint32_t chunk_ = 0, chunks_ = 0, rounds_ = 0;
  // State of a chunk.
  uint32_t seen_ = 0, padded_keys_ = 0;
};

/// Returns the length in tokens of the tile's longest sequence.
uint32_t most_tokens(const TileRun& run) {
  uint32_t most = 0;
  for (uint32_t i = run.row_begin; i < run.row_begin + run.rows; ++i) {
    const uint32_t tokens = run.offsets[i + 1] - run.offsets[i];
    most = tokens > most ? tokens : most;
  }
  return most;
}

Status run_chunks(const TileRun& run, const fb::Op& op) {
  Chunks chunks(run, op, most_tokens(run));
  bool finite = true;
  for (uint32_t i = 0; i < run.rows; ++i) finite &= chunks.run(run.row_begin + i);
  finite &= copy_token_rows(run, operand(op.outputs(), kRows), operand(op.outputs(), kCopies));
  return finite ? Status::kOk : Status::kNonFinite;
}

}  // namespace

BANTAM_RULE(ChunkAttention, verify_chunks, chunk_scratch, run_chunks);

}  // namespace bantam::ops
