#include "text/bpe_merging.h"

namespace bantam::text {
namespace {

/// The parts of a window as a linked list of its units, and the rank of each part's merge with the next one. A
/// tournament tree finds the lowest rank.
class MergedWindow {
 public:
  MergedWindow(const Tables& tables, const uint8_t* bytes, uint32_t size) : merges_(tables.merges) {
    for (uint32_t at = 0; at < size;) {
      const uint32_t unit = Bpe::unit_size(tables, bytes, at, size);
      const uint32_t end = unit < size - at ? at + unit : size;
      const Match match = tables.lexicon.longest_of_bytes(bytes + at, end - at);
      ids_[count_] = match.size == end - at ? match.value : kNoToken;
      ends_[count_++] = static_cast<uint16_t>(end);
      at = end;
    }
    while (leaves_ < count_) leaves_ *= 2;
    for (uint32_t i = 0; i < count_; ++i) {
      next_[i] = static_cast<uint16_t>(i + 1);
      before_[i] = static_cast<uint16_t>(i - 1);
    }
    for (uint32_t i = 0; i < leaves_; ++i) {
      ranks_[i] = i < count_ ? rank_of(i) : kNeverMade;
      winners_[leaves_ + i] = static_cast<uint16_t>(i);
    }
    for (uint32_t i = leaves_; i-- > 1;) play(i);
  }

  /// Makes the merge with the lowest rank; returns false if there is none.
  bool merge() {
    const uint32_t at = winners_[1];
    if (ranks_[at] == kNeverMade) return false;
    const uint32_t right = next_[at];
    ids_[at] = merges_.find(ids_[at], ids_[right]);
    ends_[at] = ends_[right];
    next_[at] = next_[right];
    if (next_[at] < count_) before_[next_[at]] = static_cast<uint16_t>(at);
    set(right, kNeverMade);
    set(at, rank_of(at));
    if (at > 0) set(before_[at], rank_of(before_[at]));
    return true;
  }

  void cut(BpeCut* out) const {
    out->count = 0;
    for (uint32_t i = 0; i < count_; i = next_[i]) {
      out->ids[out->count] = ids_[i];
      out->ends[out->count++] = ends_[i];
    }
  }

 private:
  uint32_t rank_of(uint32_t at) const {
    if (next_[at] >= count_ || ids_[at] == kNoToken || ids_[next_[at]] == kNoToken) return kNeverMade;
    const uint32_t whole = merges_.find(ids_[at], ids_[next_[at]]);
    return whole == kNoToken ? kNeverMade : merges_.entries[whole].rank;
  }
  void play(uint32_t node) {
    const uint16_t left = winners_[2 * node], right = winners_[2 * node + 1];
    winners_[node] = ranks_[right] < ranks_[left] ? right : left;
  }
  void set(uint32_t at, uint32_t rank) {
    ranks_[at] = rank;
    for (uint32_t node = (leaves_ + at) / 2; node > 0; node /= 2) play(node);
  }

  const MergeTable& merges_;
  uint32_t count_ = 0;
  uint32_t leaves_ = 1;
  uint32_t ids_[kBpeWindow];
  uint32_t ranks_[kBpeWindow];
  uint16_t ends_[kBpeWindow];
  uint16_t next_[kBpeWindow];
  uint16_t before_[kBpeWindow];
  uint16_t winners_[2 * kBpeWindow];  // winner of node i; its children are nodes 2 i and 2 i + 1
};

}  // namespace

void cut_by_merging(const Tables& tables, const uint8_t* bytes, uint32_t size, BpeCut* out) {
  MergedWindow window(tables, bytes, size);
  while (window.merge()) {
  }
  window.cut(out);
}

}  // namespace bantam::text
