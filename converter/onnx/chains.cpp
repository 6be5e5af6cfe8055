#include <algorithm>
#include <set>

#include "onnx/emit.h"

namespace bantam::convert::onnx {
namespace {

enum Level { kRaw = 0, kBiased, kActivated, kGated, kSummed, kNormed };

class Chains {
 public:
  Chains(const std::vector<Block>& blocks, const std::vector<int32_t>& outputs) : blocks_(blocks) {
    std::vector<int32_t> open = outputs;
    // Counts as two uses, so that the output stays a tensor of its own.
    for (const int32_t output : outputs) uses_[output] += 2;
    while (!open.empty()) {
      const int32_t id = open.back();
      open.pop_back();
      if (!needed_.insert(id).second) continue;
      for (const int32_t input : at(id).inputs) {
        ++uses_[input];
        open.push_back(input);
      }
    }
  }

  std::map<int32_t, Chain> make() {
    for (const int32_t id : needed_) place(id);
    for (const int32_t id : needed_) {
      if (at(id).kind == Block::Kind::kAttention) merge(id);
    }
    return std::move(chains_);
  }

 private:
  const Block& at(int32_t id) const { return blocks_[static_cast<size_t>(id)]; }
  Block::Kind head(const Chain& chain) const { return at(chain.members.front()).kind; }
  bool free(int32_t id) const { return uses_.at(id) == 1 && chains_.count(id) != 0; }

  /// Returns true if an epilogue step of this level can be appended.
  bool open(int32_t id, int level) const {
    if (!free(id)) return false;
    const Chain& chain = chains_.at(id);
    const Block::Kind kind = head(chain);
    return kind != Block::Kind::kAttention && kind != Block::Kind::kPool && kind != Block::Kind::kSlice &&
           kind != Block::Kind::kJoin && kind != Block::Kind::kUnfold && kind != Block::Kind::kRecurrent &&
           chain.level < level;
  }

  void extend(int32_t from, int32_t id, int level, int32_t Chain::*slot, int32_t value) {
    Chain chain = std::move(chains_.at(from));
    chains_.erase(from);
    chain.members.push_back(id);
    chain.level = level;
    if (slot != nullptr) chain.*slot = value;
    chains_[id] = std::move(chain);
  }

  void begin(int32_t id, int level, int32_t Chain::*slot, int32_t value) {
    Chain chain;
    chain.members = {id};
    chain.level = level;
    if (slot != nullptr) chain.*slot = value;
    chains_[id] = std::move(chain);
  }

  void place(int32_t id) {
    const Block& block = at(id);
    switch (block.kind) {
      case Block::Kind::kStage:
        return stage(id, block);
      case Block::Kind::kAdd:
        return add(id, block);
      case Block::Kind::kProduct: {
        for (const size_t i : {size_t{0}, size_t{1}}) {
          const int32_t x = block.inputs[i];
          if (open(x, kGated) && chains_.at(x).level == kActivated) {
            return extend(x, id, kGated, &Chain::gate, block.inputs[1 - i]);
          }
        }
        return begin(id, kGated, &Chain::gate, block.inputs[1]);
      }
      case Block::Kind::kEmbed:
        begin(id, kRaw, nullptr, -1);
        chains_[id].tables = {id};
        return;
      default:
        return begin(id, kRaw, nullptr, -1);
    }
  }

  void stage(int32_t id, const Block& block) {
    const int32_t x = block.inputs[0];
    const Stage& stage = block.stage;
    if (stage.kind == Stage::Kind::kActivation) {
      return open(x, kActivated) ? extend(x, id, kActivated, &Chain::activation, id)
                                 : begin(id, kActivated, &Chain::activation, id);
    }
    const bool bias = stage.kind == Stage::Kind::kAffine && stage.gamma.empty();
    if (bias && open(x, kBiased) && head(chains_.at(x)) == Block::Kind::kLinear) {
      return extend(x, id, kBiased, &Chain::bias, id);
    }
    if (stage.kind == Stage::Kind::kUnit && free(x) && head(chains_.at(x)) == Block::Kind::kPool) {
      extend(x, id, kNormed, nullptr, -1);
      chains_[id].unit = true;
      return;
    }
    return open(x, kNormed) ? extend(x, id, kNormed, &Chain::norm, id) : begin(id, kNormed, &Chain::norm, id);
  }

  void add(int32_t id, const Block& block) {
    const int32_t a = block.inputs[0], b = block.inputs[1];
    const auto lookup = [&](int32_t x) { return open(x, kBiased) && head(chains_.at(x)) == Block::Kind::kEmbed; };
    if (a != b && lookup(a) && lookup(b)) {
      std::vector<int32_t> tables = chains_.at(a).tables;
      tables.insert(tables.end(), chains_.at(b).tables.begin(), chains_.at(b).tables.end());
      chains_.erase(b);
      extend(a, id, kRaw, nullptr, -1);
      chains_[id].tables = std::move(tables);
      return;
    }
    // Append to the operator that runs last; a lookup can also have a sum in its epilogue.
    const int32_t later = std::max(a, b), earlier = std::min(a, b);
    for (const int32_t x : {later, earlier}) {
      if (a != b && open(x, kSummed)) return extend(x, id, kSummed, &Chain::residual, x == a ? b : a);
    }
    begin(id, kSummed, &Chain::residual, b);
  }

  /// Merges the linear layers of an attention's queries, keys and values into one.
  void merge(int32_t id) {
    const std::vector<int32_t>& parts = at(id).inputs;
    int32_t x = -1;
    bool biased = false;
    for (const int32_t part : parts) {
      if (!free(part)) return;
      const Chain& chain = chains_.at(part);
      if (head(chain) == Block::Kind::kSlice) return slices(id);
      if (head(chain) != Block::Kind::kLinear || chain.level > kBiased) return;
      const int32_t reads = at(chain.members.front()).inputs[0];
      if (x >= 0 && reads != x) return;
      x = reads;
      biased = biased || chain.bias >= 0;
    }
    for (const int32_t part : parts) chains_.at(part).attention = id;
  }

  void slices(int32_t id) {
    const std::vector<int32_t>& parts = at(id).inputs;
    const int32_t from = at(parts[0]).kind == Block::Kind::kSlice ? at(parts[0]).inputs[0] : -1;
    uint32_t begin = 0;
    for (const int32_t one : parts) {
      const Block& part = at(one);
      if (part.kind != Block::Kind::kSlice || !free(one) || part.inputs[0] != from || part.begin != begin) return;
      begin += part.columns;
    }
    if (at(from).columns != begin) return;
    for (const int32_t part : parts) chains_.at(part).attention = id;
  }

  const std::vector<Block>& blocks_;
  std::set<int32_t> needed_;
  std::map<int32_t, int> uses_;
  std::map<int32_t, Chain> chains_;
};

}  // namespace

std::map<int32_t, Chain> make_chains(const std::vector<Block>& blocks, const std::vector<int32_t>& outputs) {
  return Chains(blocks, outputs).make();
}

}  // namespace bantam::convert::onnx
