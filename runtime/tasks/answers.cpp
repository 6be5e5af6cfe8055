#include "bantam/constraint.h"
#include "linked.h"
#include "tasks/labels.h"

#if BANTAM_IF_LINKED(Contexts)

namespace bantam {

EndTokens end_tokens(const Model& model) {
  const fb::Task* task = tasks::task_of(model);
  EndTokens ends;
  ends.count = task == nullptr ? 0 : count(task->end_ids());
  ends.ids = ends.count == 0 ? nullptr : task->end_ids()->data();
  return ends;
}

uint32_t Answers::length(uint32_t rank) const { return offsets_[order_[rank] + 1] - offsets_[order_[rank]]; }

/// Returns the token at `place` of the answer of this rank; -1 after its end, which sorts before every token.
int32_t Answers::at(uint32_t rank, uint32_t place) const {
  return place < length(rank) ? ids_[offsets_[order_[rank]] + place] : -1;
}

/// Orders the answers of ranks a and b by their tokens; equal answers keep the given order.
bool Answers::is_before(uint32_t a, uint32_t b) const {
  const uint32_t shorter = length(a) < length(b) ? length(a) : length(b);
  for (uint32_t place = 0; place < shorter; ++place) {
    const int32_t left = at(a, place), right = at(b, place);
    if (left != right) return left < right;
  }
  return length(a) != length(b) ? length(a) < length(b) : order_[a] < order_[b];
}

/// A step of heap sort: moves order_[root] down below larger answers, among the first `count`.
void Answers::sink(uint32_t root, uint32_t count) {
  for (uint32_t child = 2 * root + 1; child < count; child = 2 * root + 1) {
    if (child + 1 < count && is_before(child, child + 1)) ++child;
    if (!is_before(root, child)) return;
    const uint32_t up = order_[child];
    order_[child] = order_[root];
    order_[root] = up;
    root = child;
  }
}

Status Answers::open(const int32_t* ids, const uint32_t* offsets, uint32_t answer_count, EndTokens ends, void* memory,
                     size_t size) {
  constexpr uint32_t kMostAnswers = 1u << 30;
  if (ids == nullptr || offsets == nullptr || memory == nullptr || answer_count == 0 || answer_count > kMostAnswers ||
      (ends.ids == nullptr && ends.count != 0)) {
    return Status::kInvalidArgument;
  }
  if (reinterpret_cast<uintptr_t>(memory) % sizeof(uint32_t) != 0) return Status::kMisaligned;
  if (size < bytes(answer_count)) return Status::kBufferTooSmall;
  *this = {};
  for (uint32_t i = 0; i < answer_count; ++i) {
    if (offsets[i + 1] <= offsets[i]) return Status::kInvalidArgument;
    for (uint32_t place = offsets[i]; place < offsets[i + 1]; ++place) {
      if (ids[place] < 0 || ends.has(ids[place])) return Status::kInvalidArgument;
    }
  }
  ids_ = ids;
  offsets_ = offsets;
  order_ = static_cast<uint32_t*>(memory);
  ends_ = ends;
  for (uint32_t i = 0; i < answer_count; ++i) {
    order_[i] = i;
    longest_ = length(i) > longest_ ? length(i) : longest_;
  }
  for (uint32_t root = answer_count / 2; root-- > 0;) sink(root, answer_count);
  for (uint32_t last = answer_count; last-- > 1;) {
    const uint32_t largest = order_[0];
    order_[0] = order_[last];
    order_[last] = largest;
    sink(0, last);
  }
  for (uint32_t rank = 0; ends.count == 0 && rank + 1 < answer_count; ++rank) {
    // In sorted order, answers that begin with an answer follow it.
    uint32_t same = 0;
    while (same < length(rank) && at(rank, same) == at(rank + 1, same)) ++same;
    if (same == length(rank) && length(rank + 1) > same) return Status::kInvalidArgument;
  }
  count_ = end_ = answer_count;
  return Status::kOk;
}

/// Returns the first rank in [begin, end) whose token at `place` is at least `id`; these answers share the tokens
/// before `place`.
uint32_t Answers::lower_bound(uint32_t begin, uint32_t end, uint32_t place, int32_t id) const {
  while (begin < end) {
    const uint32_t middle = begin + (end - begin) / 2;
    if (at(middle, place) < id) {
      begin = middle + 1;
    } else {
      end = middle;
    }
  }
  return begin;
}

/// Finds the ranks of the answers that begin with these tokens. Returns false if there is none.
bool Answers::narrow(const int32_t* ids, uint32_t count, uint32_t* begin, uint32_t* end) const {
  *begin = 0;
  *end = count_;
  for (uint32_t place = 0; place < count && *begin < *end; ++place) {
    if (ids[place] < 0 || ids[place] == INT32_MAX) return false;
    *begin = lower_bound(*begin, *end, place, ids[place]);
    *end = lower_bound(*begin, *end, place, ids[place] + 1);
  }
  return *begin < *end;
}

uint32_t Answers::find(const int32_t* ids, uint32_t count) const {
  uint32_t begin = 0, end = 0;
  if (order_ == nullptr || (ids == nullptr && count != 0) || !narrow(ids, count, &begin, &end)) return count_;
  return length(begin) == count ? order_[begin] : count_;
}

Status Answers::follow(void* state, const int32_t* ids, uint32_t count, uint32_t room, TextEnd* end) {
  auto& self = *static_cast<Answers*>(state);
  if (self.count_ == 0 || (ids == nullptr && count != 0) || end == nullptr) return Status::kInvalidArgument;
  if (count == 0 && room < self.longest_) return Status::kTooManyTokens;
  if (!self.narrow(ids, count, &self.begin_, &self.end_)) return Status::kInvalidArgument;
  self.place_ = count;
  const bool may = self.length(self.begin_) == count;
  const bool must = may && self.length(self.end_ - 1) == count;
  *end = must ? TextEnd::kMust : may ? TextEnd::kMay : TextEnd::kNo;
  return Status::kOk;
}

bool Answers::allows(void* state, int32_t id) {
  const auto& self = *static_cast<const Answers*>(state);
  if (id < 0) return false;
  // Most tokens are smaller than the first or larger than the last token that may follow.
  if (id >= self.at(self.begin_, self.place_) && id <= self.at(self.end_ - 1, self.place_)) {
    const uint32_t rank = self.lower_bound(self.begin_, self.end_, self.place_, id);
    if (rank < self.end_ && self.at(rank, self.place_) == id) return true;
  }
  return self.length(self.begin_) == self.place_ && self.ends_.has(id);
}

Constraint Answers::constraint() { return {follow, allows, this}; }

}  // namespace bantam

#endif  // BANTAM_IF_LINKED(Contexts)
