// Contexts: the keys and values that a decoder's attention stores for earlier tokens of its sequences, in pages of 16
// tokens. A page that several contexts share (beams of one prompt) is stored once, and copied when one of them writes
// to it.
#ifndef BANTAM_SESSION_PARTS_CONTEXTS_H_
#define BANTAM_SESSION_PARTS_CONTEXTS_H_

#include "bantam/session.h"
#include "linked.h"
#include "ops/ops.h"

namespace bantam {

/// States: what operators keep once in a context, whatever its length. A slot holds the states of all operators behind
/// a context's last token and does not change any more: a run reads the slot of a context and writes another one, so
/// that contexts share slots and a failed run changes none. There are two slots for each context. No fields if states
/// are not linked.
template <bool kLinked>
struct StateSlots {
  uint32_t* slots = nullptr;      // [count]: the slot of each context with tokens; null: the model has no states
  uint32_t* new_slots = nullptr;  // [count]: working memory of reorder()
  uint32_t* before = nullptr;     // [count]: by sequence of the batch, as ops::Contexts
  uint32_t* behind = nullptr;     // [count]
  uint32_t* taken = nullptr;      // [2 * count]: working memory of take_slots()
};
template <>
struct StateSlots<false> {};

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
  bool can_truncate(uint32_t context, uint32_t length) const;

  /// Chooses the slots that the batch's sequences read and write, once `numbers` is known. O(contexts).
  void take_slots(uint32_t sequences);

  /// Gives the context pages of its own for `tokens` more tokens, for which it has room. Shared pages stay unchanged.
  void prepare(uint32_t context, uint32_t tokens);

  /// Gives the context the slot that sequence `sequence` of the batch has written. Only if states are linked, as
  /// can_truncate() and take_slots().
  void keep_slot(uint32_t sequence, uint32_t context);

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
/// Points it at `numbers` [state_numbers], for a model with states.
void place_states(uint32_t* numbers, ContextStore* store);

}  // namespace bantam

#endif  // BANTAM_SESSION_PARTS_CONTEXTS_H_
