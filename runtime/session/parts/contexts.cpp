#include "session/parts/contexts.h"

#include <string.h>

#include "linked.h"

#if BANTAM_IF_LINKED(Contexts)

namespace bantam {
namespace {

constexpr uint32_t kPageTokens = 16;

uint32_t pages_of(uint32_t tokens) { return (tokens + kPageTokens - 1) / kPageTokens; }

}  // namespace

void place_contexts(uint32_t* numbers, int32_t* ids, ContextStore* store) {
  const size_t pages = size_t{store->count} * store->list_pages;
  const auto take = [&numbers](size_t n) {
    uint32_t* const begin = numbers;
    numbers += n;
    return begin;
  };
  store->lists = take(pages);
  store->uses = take(pages);
  for (uint32_t** table : {&store->held, &store->lengths, &store->numbers, &store->past}) *table = take(store->count);
  store->ids = ids;
  if (store->count < 2) return;
  store->new_lists = take(pages);
  store->new_held = take(store->count);
  store->new_lengths = take(store->count);
  store->new_ids = ids + size_t{store->count} * store->room;
}

void ContextStore::clear() {
  for (uint32_t i = 0; i < count; ++i) held[i] = lengths[i] = 0;
  for (size_t i = 0; i < size_t{count} * list_pages; ++i) uses[i] = 0;
}

void ContextStore::truncate(uint32_t context, uint32_t length) {
  lengths[context] = length;
  const uint32_t* list = list_of(context);
  for (uint32_t& pages_held = held[context]; pages_held > pages_of(length); --pages_held) --uses[list[pages_held - 1]];
}

/// Returns a free page. There is always one: all lists together hold fewer pages than exist, and a shared page counts
/// once. The context's own place is tried first, so that its pages are contiguous unless another context needed them.
uint32_t ContextStore::take_page(uint32_t context, uint32_t place) {
  uint32_t page = context * list_pages + place;
  const uint32_t all = count * list_pages;
  while (uses[page] != 0) page = page + 1 < all ? page + 1 : 0;
  uses[page] = 1;
  return page;
}

void ContextStore::copy_page(uint32_t from, uint32_t to) {
  const size_t all = size_t{count} * list_pages;
  for (uint32_t t = 0; t < tensors; ++t) {
    const auto bytes = static_cast<size_t>(begins[t + 1] - begins[t]) / all;
    if (bytes != 0) memcpy(pages + begins[t] + to * bytes, pages + begins[t] + from * bytes, bytes);
  }
}

void ContextStore::prepare(uint32_t context, uint32_t more) {
  uint32_t* list = list_of(context);
  const uint32_t last = pages_of(lengths[context] + more);
  for (uint32_t place = lengths[context] / kPageTokens; place < last; ++place) {
    if (place >= held[context]) {
      list[place] = take_page(context, place);
      held[context] = place + 1;
    } else if (uses[list[place]] > 1) {
      const uint32_t page = take_page(context, place);
      copy_page(list[place], page);
      --uses[list[place]];
      list[place] = page;
    }
  }
}

void ContextStore::append(uint32_t context, const int32_t* tokens, uint32_t tokens_count) {
  memcpy(ids_of(context) + lengths[context], tokens, tokens_count * sizeof(int32_t));
  lengths[context] += tokens_count;
}

void ContextStore::copy(uint32_t from, uint32_t to) {
  if (from == to) return;
  truncate(to, 0);
  share_slot(from, to);
  lengths[to] = lengths[from];
  held[to] = pages_of(lengths[from]);
  for (uint32_t place = 0; place < held[to]; ++place) ++uses[list_of(to)[place] = list_of(from)[place]];
  memcpy(ids_of(to), ids_of(from), lengths[from] * sizeof(int32_t));
}

void ContextStore::reorder(const uint32_t* from, uint32_t n) {
  if (count < 2) return;  // from[0] is 0
  reorder_slots(from, n);
  for (uint32_t i = 0; i < n; ++i) {
    const uint32_t* list = list_of(from[i]);
    uint32_t* target = new_lists + size_t{i} * list_pages;
    new_lengths[i] = lengths[from[i]];
    new_held[i] = pages_of(new_lengths[i]);
    for (uint32_t place = 0; place < new_held[i]; ++place) {
      target[place] = list[place];
      ++uses[list[place]];
    }
    memcpy(new_ids + size_t{i} * room, ids_of(from[i]), new_lengths[i] * sizeof(int32_t));
  }
  for (uint32_t i = 0; i < n; ++i) {
    truncate(i, 0);
    lengths[i] = new_lengths[i];
    held[i] = new_held[i];
    memcpy(list_of(i), new_lists + size_t{i} * list_pages, held[i] * sizeof(uint32_t));
    memcpy(ids_of(i), new_ids + size_t{i} * room, lengths[i] * sizeof(int32_t));
  }
}

}  // namespace bantam

#endif  // BANTAM_IF_LINKED(Contexts)
