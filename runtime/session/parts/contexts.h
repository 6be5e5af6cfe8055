// Contexts: the keys and values that a decoder's attention stores for earlier tokens of its sequences, in pages of 16
// tokens. A page that several contexts share (beams of one prompt) is stored once, and copied when one of them writes
// to it.
#ifndef BANTAM_SESSION_PARTS_CONTEXTS_H_
#define BANTAM_SESSION_PARTS_CONTEXTS_H_

#include <string.h>

#include "bantam/session.h"
#include "linked.h"
#include "ops/ops.h"

namespace bantam {

/// States: what operators keep once in a context, whatever its length. A slot holds the states of all operators behind
/// a context's last token and does not change any more: a run reads the slot of a context and writes another one, so
/// that contexts share slots and a failed run changes none. There are two slots for each context. No fields and no work
/// if states are not linked; no work in a model without states.
template <bool kLinked>
struct StateSlots {
  uint32_t* slots = nullptr;      // [count]: the slot of each context with tokens; null: the model has no states
  uint32_t* new_slots = nullptr;  // [count]: working memory of reorder_slots()
  uint32_t* before = nullptr;     // [count]: by sequence of the batch, as ops::Contexts
  uint32_t* behind = nullptr;     // [count]
  uint32_t* taken = nullptr;      // [2 * count]: working memory of choose_slots()

  bool has_slots() const { return slots != nullptr; }

  /// Points the fields at `numbers` [state_numbers], for a model with states and `count` contexts.
  void place_slots(uint32_t* numbers, uint32_t count) {
    for (uint32_t** table : {&slots, &new_slots, &before, &behind, &taken}) {
      *table = numbers;
      numbers += count;
    }
  }

  /// Chooses the slots that the sequences of a batch read and write; `contexts`: the context of each, of `count` with
  /// `lengths` tokens. O(count).
  void choose_slots(uint32_t sequences, const uint32_t* contexts, uint32_t count, const uint32_t* lengths) {
    if (slots == nullptr) return;
    for (uint32_t i = 0; i < 2 * count; ++i) taken[i] = 0;
    for (uint32_t i = 0; i < count; ++i) {
      if (lengths[i] != 0) taken[slots[i]] = 1;
    }
    // Contexts hold at most `count` slots, and sequences take at most as many: one is always free.
    uint32_t next = 0;
    for (uint32_t i = 0; i < sequences; ++i) {
      while (taken[next] != 0) ++next;
      before[i] = slots[contexts[i]];
      behind[i] = next++;
    }
  }

  /// Gives the context the slot that sequence `sequence` of the batch has written.
  void keep_slot(uint32_t sequence, uint32_t context) {
    if (slots != nullptr) slots[context] = behind[sequence];
  }

  void share_slot(uint32_t from, uint32_t to) {
    if (slots != nullptr) slots[to] = slots[from];
  }

  /// Context i gets the slot of context from[i], for all i < n at once.
  void reorder_slots(const uint32_t* from, uint32_t n) {
    if (slots == nullptr) return;
    for (uint32_t i = 0; i < n; ++i) new_slots[i] = slots[from[i]];
    memcpy(slots, new_slots, n * sizeof(uint32_t));
  }
};
template <>
struct StateSlots<false> {
  static bool has_slots() { return false; }
  static void choose_slots(uint32_t, const uint32_t*, uint32_t, const uint32_t*) {}
  static void keep_slot(uint32_t, uint32_t) {}
  static void share_slot(uint32_t, uint32_t) {}
  static void reorder_slots(const uint32_t*, uint32_t) {}
};

struct ContextStore : StateSlots<linked::kStates> {
  uint32_t count;       // contexts
  uint32_t room;        // tokens in each
  uint32_t list_pages;  // most pages of each
  uint32_t tensors;     // of the model
  uint8_t* pages;       // tensor after tensor, count * list_pages pages each
  uint64_t* begins;     // [tensors + 1]: offsets in `pages`
  uint32_t* lists;      // [count][list_pages]: the page number of each page of a context
  uint32_t* held;       // [count]: pages in the context's list, at least as many as its tokens need
  uint32_t* uses;       // [count * list_pages]: number of lists that contain a page; 0: it is free
  uint32_t* lengths;    // [count]: tokens
  uint32_t* numbers;    // [count]: the context of each sequence of the batch
  uint32_t* past;       // [count]: tokens that it held before the run
  int32_t* ids;         // [count][room]
  // Working memory of reorder(): like lists, held, lengths and ids. Only with several contexts.
  uint32_t* new_lists;
  uint32_t* new_held;
  uint32_t* new_lengths;
  int32_t* new_ids;
  ops::Contexts view;  // of all this, for operators

  /// Empties all contexts. The caller fills `begins`, which depends on the model.
  void clear();

  bool has(uint32_t context) const { return context < count; }
  int32_t* ids_of(uint32_t context) const { return ids + size_t{context} * room; }

  /// Removes all but the first `length` tokens.
  void truncate(uint32_t context, uint32_t length);

  /// Returns true if the context can be truncated to `length` tokens, of which it has at least so many.
  bool can_truncate(uint32_t context, uint32_t length) const {
    return !has_slots() || length == 0 || length == lengths[context];
  }

  /// Gives the context pages of its own for `tokens` more tokens, for which it has room. Shared pages stay unchanged.
  void prepare(uint32_t context, uint32_t tokens);

  /// Appends tokens to the context.
  void append(uint32_t context, const int32_t* tokens, uint32_t tokens_count);

  /// Makes context `to` a copy of `from`.
  void copy(uint32_t from, uint32_t to);

  /// Makes context i a copy of context from[i], for all i < n at once; from[i] < count. Copies only lists and ids.
  void reorder(const uint32_t* from, uint32_t n);

 private:
  uint32_t* list_of(uint32_t context) const { return lists + size_t{context} * list_pages; }
  uint32_t take_page(uint32_t context, uint32_t place);
  void copy_page(uint32_t from, uint32_t to);
};

/// Size in numbers of the tables other than `ids`: the lists and the rest, including those for reorder() if there are
/// several contexts.
constexpr uint64_t context_numbers(uint64_t contexts, uint64_t list_pages) {
  const uint64_t pages = contexts * list_pages;
  return 2 * pages + 4 * contexts + (contexts > 1 ? pages + 2 * contexts : 0);
}
/// Size in numbers of the tables of states.
constexpr uint64_t state_numbers(uint64_t contexts) { return 6 * contexts; }
constexpr uint64_t context_id_rows(uint64_t contexts) { return contexts > 1 ? 2 * contexts : contexts; }

/// Points the store at `numbers` [context_numbers] and `ids` [context_id_rows][room].
void place_contexts(uint32_t* numbers, int32_t* ids, ContextStore* store);

}  // namespace bantam

#endif  // BANTAM_SESSION_PARTS_CONTEXTS_H_
