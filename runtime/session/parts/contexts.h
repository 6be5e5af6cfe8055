// Contexts: what a decoder's attention keeps of the tokens that sequences have had. Keys and values lie in pages of 16 tokens;
// a page that several contexts have in common (beams of one prompt) is stored once, and copied when one of them writes to it.
#ifndef BANTAM_SESSION_PARTS_CONTEXTS_H_
#define BANTAM_SESSION_PARTS_CONTEXTS_H_

#include "bantam/session.h"
#include "ops/ops.h"

namespace bantam {

struct ContextStore {
  uint32_t count;       // contexts
  uint32_t room;        // tokens of each
  uint32_t list_pages;  // most pages of each
  uint32_t tensors;     // of the model
  uint8_t* pages;       // tensor after tensor, count * list_pages pages each
  uint64_t* begins;     // [tensors + 1], in `pages`
  uint32_t* lists;      // [count][list_pages]: which page of the memory each page of a context is
  uint32_t* held;       // [count]: pages in its list, at least those of its tokens
  uint32_t* uses;       // [count * list_pages]: lists that a page is in; 0: it is free
  uint32_t* lengths;    // [count]: tokens
  uint32_t* numbers;    // [count]: the context of each sequence of the batch
  uint32_t* past;       // [count]: what it held before
  int32_t* ids;         // [count][room]
  // Where reorder() works: as lists and held, lengths, ids. Only with several contexts.
  uint32_t* new_lists;
  uint32_t* new_held;
  uint32_t* new_lengths;
  int32_t* new_ids;
  ops::Contexts view;  // of all this, for operators

  /// Empties all contexts. `begins` is filled by who knows the model.
  void clear();

  bool has(uint32_t context) const { return context < count; }
  int32_t* ids_of(uint32_t context) const { return ids + size_t{context} * room; }

  /// Forgets all but the first `length` tokens.
  void truncate(uint32_t context, uint32_t length);

  /// Gives the context pages of its own for `tokens` more, for which it has room. What it held stays where contexts share it.
  void prepare(uint32_t context, uint32_t tokens);

  /// `tokens` more belong to the context.
  void append(uint32_t context, const int32_t* tokens, uint32_t tokens_count);

  /// Context `to` becomes what `from` is.
  void copy(uint32_t from, uint32_t to);

  /// Context i becomes what context from[i] was, for all i < n at once; from[i] < count. Nothing but lists and ids is copied.
  void reorder(const uint32_t* from, uint32_t n);

 private:
  uint32_t* list_of(uint32_t context) const { return lists + size_t{context} * list_pages; }
  uint32_t take_page(uint32_t context, uint32_t place);
  void copy_page(uint32_t from, uint32_t to);
};

/// Numbers of the tables behind `ids`: lists and the rest, those for reorder() among them where there are several contexts.
constexpr uint64_t context_numbers(uint64_t contexts, uint64_t list_pages) {
  const uint64_t pages = contexts * list_pages;
  return 2 * pages + 4 * contexts + (contexts > 1 ? pages + 2 * contexts : 0);
}
constexpr uint64_t context_id_rows(uint64_t contexts) { return contexts > 1 ? 2 * contexts : contexts; }

/// Points the store at `numbers` [context_numbers] and `ids` [context_id_rows][room].
void place_contexts(uint32_t* numbers, int32_t* ids, ContextStore* store);

}  // namespace bantam

#endif  // BANTAM_SESSION_PARTS_CONTEXTS_H_
