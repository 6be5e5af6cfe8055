// Steps. A step runs all its ops tile by tile; a barrier separates two steps. An op must wait for a barrier if it reads
// rows of a tensor that other tiles write (keys, values, pooling), or if its rows are counted by another symbol than
// its producer's. The number of barriers before an op is therefore the length of the longest chain of such edges before
// it; ops with the same number and the same symbol form one step.
//
// Ops that run token by token (Previous) form a step of their own.
//
// Layers that compute queries only for attention by sums run in that attention's step: this adds no barrier, and the
// queries are stored in a tile.
//
// Word scores are computed in the last step, which a run can restrict to some tokens. If another head needs a later
// step, as the next-sentence head of pretraining models does, the layers of the word scores move after it.
//
// Three more rules apply to a small plan, which trades barriers for memory (with two threads it is 1 to 3 % slower at
// 32 tokens of MiniLM-L6; with one thread it is not):
// - keys and values wait until the previous attention is done, so that all layers share one storage;
// - layers that compute only queries run as late as possible, in the attention's step, so that queries are in a tile;
// - an op that computes an output of tokens from a tensor that outlives the step waits for the last attention, so that
//   outputs, which may be wide, reuse the storage of its keys and values.
#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "base/error.h"
#include "graph/access.h"
#include "graph/builder.h"
#include "pack/lower.h"

namespace bantam::convert {
namespace {

int32_t row_symbol(const Graph& graph, const fb::OpT& op) {
  if (runs_over_sequences(op)) return kSequences;
  for (const int32_t output : op.outputs) {
    if (output >= 0) return tensor(graph, output).shape.front().symbol();
  }
  throw Error(ExitCode::kInternal, "op " + op.name + " writes nothing");
}

bool splits(const fb::OpT& op) { return op.attributes.type == fb::OpAttributes::SplitHeads; }
bool makes_keys(const fb::OpT& op) { return splits(op) && op.outputs.size() > 1 && op.outputs[1] >= 0; }

/// The op's pass, with the pass over the source first; the number of barriers before it in its pass; the symbol of its
/// rows; and whether it runs token by token.
struct Key {
  bool main;
  uint32_t first;
  int32_t second;
  bool by_tokens;
  bool operator==(const Key& other) const { return !(*this < other) && !(other < *this); }
  bool operator!=(const Key& other) const { return !(*this == other); }
  bool operator<(const Key& other) const {
    return std::tie(main, first, second, by_tokens) < std::tie(other.main, other.first, other.second, other.by_tokens);
  }
};

class Schedule {
 public:
  Schedule(const Graph& graph, bool small)
      : graph_(graph),
        small_(small),
        ops_(main_subgraph(graph).ops),
        producer_(producers(graph)),
        by_tokens_(ops_by_tokens(graph)),
        readers_(graph.model.tensors.size()),
        keys_(ops_.size()) {
    for (size_t i = 0; i < ops_.size(); ++i) {
      for_each_read(*ops_[i], [&](int32_t read) { readers_[static_cast<size_t>(read)].push_back(i); });
    }
    const uint32_t together = earliest_by_tokens();
    for (size_t i = 0; i < ops_.size(); ++i) {
      keys_[i] = earliest(i);
      if (by_tokens_[i]) keys_[i].first = together;
    }
    delay_queries();
    if (small) {
      delay_heads();
      delay_outputs();
    }
    delay_words();
  }

  const std::vector<Key>& keys() const { return keys_; }

 private:
  /// Returns the number of barriers before the ops that run token by token, which all run together after the ops that
  /// they read.
  uint32_t earliest_by_tokens() {
    uint32_t most = 0;
    for (size_t i = 0; i < ops_.size(); ++i) {
      keys_[i] = earliest(i);
      if (by_tokens_[i]) most = std::max(most, keys_[i].first);
    }
    attention_[0] = attention_[1] = 0;
    return most;
  }

  Key earliest(size_t i) {
    const fb::OpT& op = *ops_[i];
    Key key = {phase_of(op) == fb::Phase::main, 0, row_symbol(graph_, op), by_tokens_[i]};
    for_each_read(op, [&](int32_t read) {
      const int32_t from = producer_[static_cast<size_t>(read)];
      if (from < 0 || reads_before(op, read)) return;
      if (static_cast<size_t>(from) >= i) throw Error(ExitCode::kInternal, "op " + op.name + " reads ahead");
      const Key& before = keys_[static_cast<size_t>(from)];
      if (before.main != key.main) return;  // a state
      const bool barrier = reads_all_rows(op, read) || before.second != key.second || before.by_tokens != key.by_tokens;
      key.first = std::max(key.first, before.first + (barrier ? 1 : 0));
    });
    uint32_t& attention = attention_[key.main ? 1 : 0];
    if (op.attributes.type == fb::OpAttributes::Attention) attention = std::max(attention, key.first + 1);
    if (small_ && makes_keys(op)) key.first = std::max(key.first, attention);
    return key;
  }

  /// Moves layers whose rows only attention by sums reads to its step, which waits for the sums.
  void delay_queries() {
    for (size_t i = 0; i < ops_.size(); ++i) {
      const fb::OpT& op = *ops_[i];
      if (op.attributes.type != fb::OpAttributes::Linear || op.outputs[0] < 0 || op.outputs[1] >= 0) continue;
      const auto& readers = readers_[static_cast<size_t>(op.outputs[0])];
      const bool queries =
          readers.size() == 1 && ops_[readers.front()]->attributes.type == fb::OpAttributes::LinearAttention;
      if (queries) keys_[i].first = std::max(keys_[i].first, keys_[readers.front()].first);
    }
  }

  /// Moves ops that split queries, and layers that feed any split, to the step of the ops that read their results.
  void delay_heads() {
    for (size_t i = ops_.size(); i-- > 0;) {
      const fb::OpT& op = *ops_[i];
      const bool queries = splits(op) && !makes_keys(op);
      const bool layer = op.attributes.type == fb::OpAttributes::Linear;
      if (!queries && !layer) continue;
      uint32_t latest = UINT32_MAX;
      bool feeds_splits = true;
      for_each_write(op, [&](int32_t written) {
        if (is_state(tensor(graph_, written))) latest = keys_[i].first;  // its readers belong to another pass
        for (const size_t reader : readers_[static_cast<size_t>(written)]) {
          if (keys_[reader].main != keys_[i].main) continue;
          feeds_splits = feeds_splits && splits(*ops_[reader]);
          latest = std::min(latest, keys_[reader].first);
        }
      });
      if ((queries || feeds_splits) && latest != UINT32_MAX) keys_[i].first = std::max(keys_[i].first, latest);
    }
  }

  /// Returns true if an op other than `reader` reads `t` outside the step that writes it.
  bool outlives(int32_t t, size_t reader) const {
    const int32_t from = producer_[static_cast<size_t>(t)];
    const auto& others = readers_[static_cast<size_t>(t)];
    return from >= 0 && std::any_of(others.begin(), others.end(), [&](size_t other) {
             return other != reader && keys_[other] != keys_[static_cast<size_t>(from)];
           });
  }

  void delay_outputs() {
    for (size_t i = 0; i < ops_.size(); ++i) {
      const fb::OpT& op = *ops_[i];
      if (keys_[i].second != int32_t{kTokens} || op.outputs[0] < 0 || op.inputs.empty() || by_tokens_[i]) continue;
      const bool is_output = tensor(graph_, op.outputs[0]).role == fb::Role::output;
      const bool is_read = !readers_[static_cast<size_t>(op.outputs[0])].empty();
      const int32_t x = op.inputs[0];
      const bool keeps = tensor(graph_, x).type == fb::DType::i8 || outlives(x, i);
      if (is_output && !is_read && keeps) keys_[i].first = std::max(keys_[i].first, attention_[1]);
    }
  }

  void delay_words() {
    uint32_t last = 0, first = UINT32_MAX;
    for (const Key& key : keys_) last = std::max(last, key.main ? key.first : 0);
    std::vector<bool> chosen(ops_.size());
    for (size_t i = ops_.size(); i-- > 0;) {
      const fb::OpT& op = *ops_[i];
      if (op.attributes.type != fb::OpAttributes::Linear || !keys_[i].main || keys_[i].second != int32_t{kTokens})
        continue;
      bool words = false, alone = true;
      for_each_write(op, [&](int32_t written) {
        words = words || is_words(written);
        for (const size_t reader : readers_[static_cast<size_t>(written)]) {
          words = words || chosen[reader];
          alone = alone && chosen[reader];
        }
      });
      chosen[i] = words && alone && !by_tokens_[i];
      if (chosen[i]) first = std::min(first, keys_[i].first);
    }
    bool behind = false;
    for (size_t i = 0; i < ops_.size(); ++i) {
      behind = behind || (!chosen[i] && keys_[i].main && keys_[i].first > first);
    }
    for (size_t i = 0; i < ops_.size() && behind; ++i) {
      if (chosen[i]) keys_[i].first = last + 1;
    }
  }

  bool is_words(int32_t t) const {
    const auto& outputs = graph_.model.outputs;
    return std::any_of(outputs.begin(), outputs.end(), [t](const auto& output) {
      return output->tensor == t && output->role == fb::OutputRole::words;
    });
  }

  const Graph& graph_;
  const bool small_;
  const std::vector<std::unique_ptr<fb::OpT>>& ops_;
  std::vector<int32_t> producer_;
  std::vector<bool> by_tokens_;
  std::vector<std::vector<size_t>> readers_;  // for each tensor, ops in order
  std::vector<Key> keys_;
  uint32_t attention_[2] = {};  // barriers after the last attention so far, in each pass
};

}  // namespace

void make_steps(Graph& graph, bool small) {
  fb::SubgraphT& subgraph = main_subgraph(graph);
  const size_t count = subgraph.ops.size();
  const std::vector<Key> key = Schedule(graph, small).keys();
  std::map<Key, std::vector<std::unique_ptr<fb::OpT>>> steps;
  for (size_t i = 0; i < count; ++i) steps[key[i]].push_back(std::move(subgraph.ops[i]));
  subgraph.ops.clear();
  subgraph.steps.clear();
  for (auto& [order, ops] : steps) {
    auto step = std::make_unique<fb::StepT>();
    step->first_op = static_cast<uint32_t>(subgraph.ops.size());
    step->op_count = static_cast<uint32_t>(ops.size());
    step->rows = order.second;
    step->phase = order.main ? fb::Phase::main : fb::Phase::source;
    subgraph.steps.push_back(std::move(step));
    for (auto& op : ops) subgraph.ops.push_back(std::move(op));
  }
}

}  // namespace bantam::convert
