#include "ops/more/key_lists.h"

#include <string.h>

#include "linked.h"

#if BANTAM_IF_LINKED(mask_globals) || BANTAM_IF_LINKED(mask_of_globals) || BANTAM_IF_LINKED(mask_blocks)

namespace bantam::ops {
namespace {

/// Each byte of the bias of hidden keys, -6e29: their weight is then 0.
constexpr int kHidden = 0xF0;

/// ln n for n = 1, 2, ...
constexpr float kLogarithms[] = {0.0f,        0.693147181f, 1.09861229f, 1.38629436f, 1.60943791f, 1.79175947f,
                                 1.94591015f, 2.07944154f,  2.19722458f, 2.30258509f, 2.39789527f, 2.48490665f,
                                 2.56494936f, 2.63905733f,  2.7080502f,  2.77258872f};
static_assert(sizeof(kLogarithms) / sizeof(float) == kMaxRandomBlocks + 1);

uint32_t blocks_of(uint32_t tokens, uint32_t block) { return tokens / block + (tokens % block != 0 ? 1 : 0); }

/// The blocks that a query attends to, ascending, and their multiplicities.
struct SeenBlocks {
  uint32_t blocks[kMaxRandomBlocks + 5];
  uint32_t times[kMaxRandomBlocks + 5];
  uint32_t count = 0;

  /// `again`: counts a block that is already there once more.
  void add(uint32_t block, bool again) {
    uint32_t at = count;
    while (at > 0 && blocks[at - 1] > block) --at;
    if (at > 0 && blocks[at - 1] == block) {
      times[at - 1] += again ? 1 : 0;
      return;
    }
    for (uint32_t i = count; i > at; --i) {
      blocks[i] = blocks[i - 1];
      times[i] = times[i - 1];
    }
    blocks[at] = block;
    times[at] = 1;
    ++count;
  }
};

/// Distance that windows reach on each side.
uint64_t window_reach(const fb::Attention& a) { return uint64_t{a.window()} * a.dilation(); }

/// Entries of one head's list of random blocks.
uint32_t entries_of(const fb::Model& model, const fb::Attention& a) {
  return blocks_of(longest_sequence(model, fb::Phase::main), a.block()) * a.random();
}

bool is_shared(const fb::Model& model, const fb::Op& op) {
  const fb::Attention& a = *op.attributes_as_Attention();
  return extent(tensor(model, named_input(op, a.random_blocks())), 0) == entries_of(model, a);
}

Verdict check_blocks(const Site& site) {
  const fb::Attention& a = *site.op.attributes_as_Attention();
  const uint32_t longest = longest_sequence(site.model, site.phase);
  if (a.block() == 0 || longest == 0) return corrupt("blocks of no tokens, or in texts of any length");
  if (a.random() > kMaxRandomBlocks) return unsupported("more than 15 random blocks beside a block");
  const int32_t list = named_input(site.op, a.random_blocks());
  if ((list >= 0) != (a.random() != 0)) return corrupt("random blocks and their list do not belong together");
  if (list < 0) return {};
  const uint64_t entries = uint64_t{blocks_of(longest, a.block())} * a.random();
  if (entries * a.heads() > kMaxWidth) return unsupported("lists of too many random blocks", list);
  const bool shared = tensor(site.model, list).shape()->size() == 1 && extent(tensor(site.model, list), 0) == entries;
  return check_numbers(site, list, fb::DType::i32, static_cast<uint32_t>(shared ? entries : entries * a.heads()));
}

}  // namespace

Verdict check_key_lists(const Site& site) {
  const fb::Attention& a = *site.op.attributes_as_Attention();
  const bool globals = sees_globals(a), blocks = sees_blocks(a);
  if (!globals && a.dilation() != 1) return corrupt("a window that leaves tokens out is of no mask that does");
  if (!blocks && (a.block() != 0 || a.full_until() != 0 || a.random() != 0 || a.random_blocks() >= 0)) {
    return corrupt("blocks of tokens in attention whose mask has none");
  }
  if (!globals && !blocks && !only_globals(a)) return {};
  const bool biased =
      a.sinks() >= 0 || a.distance_bias() >= 0 || a.slopes() >= 0 || a.place_rows() >= 0 || a.segment_keys() >= 0;
  if (biased || a.cross() || a.soft_cap() != 0.0f || (blocks && site.phase != fb::Phase::main)) {
    return corrupt("attention to global tokens or to blocks goes with no bias and no cap, and blocks with no source");
  }
  if (blocks) return check_blocks(site);
  if (globals && (a.window() == 0 || a.dilation() == 0)) return corrupt("a window of no tokens");
  return check_globals(site);
}

Seeing seeing_of(const TileRun& run, const fb::Attention& a, uint32_t sequence, uint32_t begin, uint32_t* end) {
  if (sees_globals(a) || only_globals(a)) {
    const GlobalRows globals = global_rows(run, sequence);
    const bool global = is_global(run, globals, begin);
    uint32_t same = begin + 1;
    while (same < *end && is_global(run, globals, same) == global) ++same;
    *end = same;
    const Seeing others = only_globals(a) ? Seeing::kNothing : Seeing::kListed;
    const Seeing own = only_globals(a) ? Seeing::kAll : Seeing::kNothing;
    return global ? own : others;
  }
  const uint32_t tokens = run.offsets[sequence + 1] - run.offsets[sequence];
  if (!sees_blocks(a) || tokens <= a.full_until()) return Seeing::kAll;
  const uint32_t place = begin - run.offsets[sequence], block = place / a.block();
  const uint32_t left = a.block() - place % a.block();
  if (*end - begin > left) *end = begin + left;
  return block == 0 || block + 1 == blocks_of(tokens, a.block()) ? Seeing::kAll : Seeing::kListed;
}

KeyList::KeyList(const TileRun& run, const fb::Op& op, uint32_t sequence, uint32_t begin, uint32_t end, uint32_t head,
                 uint32_t* pages)
    : run_(run),
      op_(op),
      a_(*op.attributes_as_Attention()),
      begin_(run.offsets[sequence]),
      end_(run.offsets[sequence + 1]),
      first_query_(begin),
      end_query_(end),
      pages_(pages) {
  // The sequence's first page comes first, so that lanes are counted from the beginning of the sequence.
  add_rows(begin_, begin_ + 1);
  if (sees_globals(a_)) {
    globals_ = global_rows(run, sequence);
    list_globals();
  } else {
    list_blocks(head);
  }
}

bool KeyList::differs_by_head(const TileRun& run, const fb::Op& op) {
  const fb::Attention& a = *op.attributes_as_Attention();
  return sees_blocks(a) && a.random() != 0 && !is_shared(run.model, op);
}

uint32_t KeyList::add_rows(uint32_t begin, uint32_t end) {
  const uint32_t first = begin / 16, behind = (end + 15) / 16;
  const uint32_t next = count_ == 0 ? first : pages_[count_ - 1] + 1;
  // Pages that are already listed are the last ones of the list.
  const uint32_t at = first >= next ? count_ : count_ - (next - first);
  for (uint32_t page = first > next ? first : next; page < behind; ++page) pages_[count_++] = page;
  return at * 16 + begin % 16;
}

void KeyList::list_globals() {
  const uint64_t reach = window_reach(a_);
  window_begin_ = first_query_ - begin_ > reach ? static_cast<uint32_t>(first_query_ - reach) : begin_;
  const uint64_t last = end_query_ + reach;
  const uint32_t window_end = last < end_ ? static_cast<uint32_t>(last) : end_;
  if (globals_.marked) {
    for (uint32_t row = begin_; row < window_begin_; ++row) {
      if (is_global(run_, globals_, row)) add_rows(row, row + 1);
    }
  } else if (globals_.begin < globals_.end && globals_.begin <= window_begin_) {
    spans_[span_count_++] = {add_rows(globals_.begin, globals_.end), globals_.end - globals_.begin, 0.0f};
  }
  window_element_ = add_rows(window_begin_, window_end);
  if (globals_.marked) {
    for (uint32_t row = window_end; row < end_; ++row) {
      if (is_global(run_, globals_, row)) add_rows(row, row + 1);
    }
  } else if (globals_.begin < globals_.end && globals_.begin > window_begin_) {
    spans_[span_count_++] = {add_rows(globals_.begin, globals_.end), globals_.end - globals_.begin, 0.0f};
  }
}

void KeyList::list_blocks(uint32_t head) {
  const uint32_t blocks = blocks_of(end_ - begin_, a_.block()), own = (first_query_ - begin_) / a_.block();
  SeenBlocks seen;
  const uint32_t always[] = {0u, own - 1, own, own + 1, blocks - 1};
  for (const uint32_t block : always) seen.add(block, false);
  if (a_.random() != 0) {
    const int32_t* random = constant<int32_t>(run_, named_input(op_, a_.random_blocks())) + size_t{own} * a_.random();
    if (!is_shared(run_.model, op_)) random += size_t{head} * entries_of(run_.model, a_);
    for (uint32_t i = 0; i < a_.random(); ++i) {
      if (random[i] >= 0 && static_cast<uint32_t>(random[i]) < blocks) seen.add(static_cast<uint32_t>(random[i]), true);
    }
  }
  for (uint32_t i = 0; i < seen.count; ++i) {
    const uint32_t begin = begin_ + seen.blocks[i] * a_.block();
    const uint32_t count = end_ - begin < a_.block() ? end_ - begin : a_.block();
    spans_[span_count_++] = {add_rows(begin, begin + count), count, kLogarithms[seen.times[i] - 1]};
  }
}

uint32_t KeyList::kv_end() const {
  const uint32_t first = pages_[count_ - 1] * 16;  // first row of the list's last page
  return (count_ - 1) * 16 + (end_ - first < 16 ? end_ - first : 16);
}

void KeyList::show_window(uint32_t query, float* row) const {
  const uint64_t reach = window_reach(a_);
  const uint32_t step = a_.dilation();
  // The first key of the window that is in the sequence, a multiple of the step away.
  const uint64_t before = query - begin_;
  const uint64_t back = before < reach ? before / step * step : reach;
  const uint64_t end = query + reach + 1 < end_ ? query + reach + 1 : end_;
  const uint64_t begin = query - back;
  float* keys = row + (window_element_ + (begin - window_begin_));
  if (step == 1) {
    memset(keys, 0, static_cast<size_t>(end - begin) * sizeof(float));
    return;
  }
  for (uint64_t i = 0; i < end - begin; i += step) keys[i] = 0.0f;
}

void KeyList::show_marked(float* row) const {
  for (uint32_t i = 0; i < count_; ++i) {
    for (uint32_t lane = 0; lane < 16; ++lane) {
      const uint32_t key = pages_[i] * 16 + lane;
      if (key >= begin_ && key < end_ && is_global(run_, globals_, key)) row[i * 16 + lane] = 0.0f;
    }
  }
}

void KeyList::fill_bias(const kernels::Attention& call) const {
  auto* row = static_cast<float*>(call.scratch);
  const size_t elements = size_t{count_} * 16;
  for (uint32_t r = 0; r < call.queries; ++r, row += elements) {
    if (r != 0 && !sees_globals(a_)) {  // all queries attend to the same keys
      memcpy(row, row - elements, elements * sizeof(float));
      continue;
    }
    memset(row, kHidden, elements * sizeof(float));
    if (sees_globals(a_)) show_window(first_query_ + r, row);
    if (globals_.marked) show_marked(row);
    for (uint32_t i = 0; i < span_count_; ++i) {
      for (uint32_t k = 0; k < spans_[i].count; ++k) row[spans_[i].element + k] = spans_[i].bias;
    }
  }
}

}  // namespace bantam::ops

#endif  // BANTAM_IF_LINKED(mask_globals) || BANTAM_IF_LINKED(mask_of_globals) || BANTAM_IF_LINKED(mask_blocks)
