// A search of vectors is a linear layer for one row, with the vectors as weights. A search of terms uses an inverted
// index.
#include "search/search.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

#include "kernels/kernels.h"

namespace bantam::convert {
namespace {

constexpr uint32_t kChunk = 2048;  // number of scores that stay in L1 until they are examined
constexpr uint32_t kSixteen = 16;

bool better(const Found& a, const Found& b) { return a.score != b.score ? a.score > b.score : a.entry < b.entry; }

/// Keeps the best `most` of all scores, in no particular order.
class Candidates {
 public:
  Candidates(size_t most, const Allowed& allowed) : most_(most), allowed_(allowed) { heap_.reserve(most + 1); }

  void show(const float* scores, uint32_t first, uint32_t count) {
    uint32_t i = 0;
    for (; i + kSixteen <= count; i += kSixteen) {
      // One comparison rules out sixteen scores: later, hardly any score is good enough.
      float largest = scores[i];
      for (uint32_t j = 1; j < kSixteen; ++j) largest = std::max(largest, scores[i + j]);
      if (heap_.size() == most_ && !(largest > heap_.front().score)) continue;
      for (uint32_t j = i; j < i + kSixteen; ++j) add({first + j, scores[j]});
    }
    for (; i < count; ++i) add({first + i, scores[i]});
  }
  std::vector<Found> take() { return std::move(heap_); }

 private:
  void add(const Found& found) {
    if (!allowed_.empty() && allowed_[found.entry] == 0) return;
    if (heap_.size() == most_) {
      if (!better(found, heap_.front())) return;
      std::pop_heap(heap_.begin(), heap_.end(), better);
      heap_.pop_back();
    }
    heap_.push_back(found);
    std::push_heap(heap_.begin(), heap_.end(), better);
  }

  size_t most_;
  const Allowed& allowed_;
  std::vector<Found> heap_;  // the worst is at the front
};

/// A query in the form that kernels expect.
struct Query {
  std::vector<int8_t> row;
  float scale = 1;

  Query(const std::vector<float>& unit, uint8_t offset_xor)
      : row((unit.size() + 15) / 16 * 16, static_cast<int8_t>(offset_xor)) {
    float most = 0;
    for (const float v : unit) most = std::max(most, std::fabs(v));
    if (most > 0) scale = most / 127;
    for (size_t i = 0; i < unit.size(); ++i)
      row[i] = static_cast<int8_t>(static_cast<int32_t>(std::nearbyint(unit[i] / scale)) ^ offset_xor);
  }
};

std::vector<Found> rough(const SearchIndex& index, const std::vector<float>& unit, size_t most, const Allowed& allowed,
                         Isa isa) {
  const kernels::Table* table = kernels::table(isa);
  const Query query(unit, table->offset_xor);
  alignas(64) float scores[kChunk];
  kernels::LinearQ8 layer = {};
  layer.x = query.row.data();
  layer.x_stride = query.row.size();
  layer.x_scale = &query.scale;
  layer.rows = 1;
  layer.k = (index.width() + 3) / 4 * 4;
  layer.y = scores;
  layer.y_stride = kChunk;
  Candidates candidates(most, allowed);
  for (uint32_t first = 0; first < index.count(); first += kChunk) {
    const uint32_t count = std::min(kChunk, index.count() - first);
    layer.w = index.tiles() + size_t{first} * layer.k;
    layer.w_scale = index.scales() + first;
    layer.w_sum = index.sums() + first;
    layer.n = (count + kSixteen - 1) / kSixteen * kSixteen;
    table->linear_q8(layer);
    candidates.show(scores, first, count);
  }
  return candidates.take();
}

/// Returns the candidates of at least `records` records, if the index has as many.
std::vector<Found> candidates_of(const SearchIndex& index, const std::vector<float>& unit, size_t records,
                                 const Allowed& allowed, Isa isa) {
  std::vector<uint8_t> seen;
  for (size_t most = std::min<size_t>(index.count(), records);; most = std::min<size_t>(index.count(), 4 * most)) {
    std::vector<Found> found = rough(index, unit, most, allowed, isa);
    if (!index.has_chunks() || found.size() < most || most == index.count()) return found;
    seen.assign(index.records(), 0);
    size_t different = 0;
    for (const Found& f : found) different += std::exchange(seen[index.place(f.entry)], uint8_t{1}) == 0 ? 1U : 0U;
    if (different >= records) return found;
  }
}

/// Keeps the best chunk of each record, and of these the `top` best, in order.
void keep_best(const SearchIndex& index, uint32_t top, std::vector<Found>* found) {
  const size_t kept = std::min<size_t>(found->size(), index.has_chunks() ? found->size() : top);
  std::partial_sort(found->begin(), found->begin() + static_cast<std::ptrdiff_t>(kept), found->end(), better);
  found->resize(kept);
  if (!index.has_chunks()) return;
  std::vector<uint8_t> seen(index.records());
  const auto is_other = [&](const Found& f) { return std::exchange(seen[index.place(f.entry)], uint8_t{1}) != 0; };
  found->erase(std::remove_if(found->begin(), found->end(), is_other), found->end());
  if (found->size() > top) found->resize(top);
}

}  // namespace

std::vector<Found> find_nearest(const SearchIndex& index, const std::vector<float>& query, uint32_t top, Isa isa,
                                Length how, const Allowed& allowed) {
  double squares = 0;
  for (const float v : query) squares += double{v} * double{v};
  const double length = squares > 0 && how == Length::kDivided ? std::sqrt(squares) : 1;
  std::vector<float> unit;
  unit.reserve(query.size());
  for (const float v : query) unit.push_back(static_cast<float>(v / length));
  if (top == 0 || index.count() == 0) return {};
  std::vector<Found> found = candidates_of(index, unit, size_t{top} * 4 + 40, allowed, isa);
  std::vector<float> vector(index.width());
  for (Found& f : found) {
    index.read(f.entry, vector.data());
    double sum = 0;
    for (uint32_t c = 0; c < index.width(); ++c) sum += double{vector[c]} * double{unit[c]};
    f.score = static_cast<float>(sum * double{index.scales()[f.entry]});
  }
  keep_best(index, top, &found);
  return found;
}

std::vector<Found> find_by_terms(const SearchIndex& index, const std::vector<bantam::Candidate>& query, uint32_t top,
                                 const Allowed& allowed) {
  std::vector<double> sums(index.count());
  for (const bantam::Candidate& term : query) {
    if (term.id < 0 || static_cast<uint32_t>(term.id) >= index.width()) continue;
    const SearchIndex::Postings postings = index.postings(static_cast<uint32_t>(term.id));
    for (uint32_t i = 0; i < postings.count; ++i)
      sums[postings.texts[i]] += double{term.score} * double{postings.weights[i]};
  }
  std::vector<Found> found;
  for (uint32_t i = 0; i < index.count(); ++i) {
    if (sums[i] > 0 && (allowed.empty() || allowed[i] != 0)) found.push_back({i, static_cast<float>(sums[i])});
  }
  keep_best(index, top, &found);
  return found;
}

}  // namespace bantam::convert
