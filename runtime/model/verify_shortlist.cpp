#include "linked.h"
#include "model/heads.h"
#include "model/shortlist.h"

#if BANTAM_IF_LINKED(Sources)

namespace bantam {
namespace {

constexpr uint32_t kMostMultiple = 1024;

/// Checks that the lists lie inside the data, are contiguous, and contain only existing words.
[[maybe_unused]] Verdict check_lists(const fb::Shortlist& shortlist, const uint8_t* data, size_t data_size) {
  const fb::Blob* lists = shortlist.lists();
  const uint64_t head = (uint64_t{shortlist.source_words()} + 1) * sizeof(uint32_t);
  if (lists == nullptr || lists->segment() != 0 || lists->offset() > data_size ||
      lists->size() > data_size - lists->offset() || lists->size() < head || lists->size() - head > UINT32_MAX) {
    return corrupt("the lists of a shortlist lie outside the data section, or are too few");
  }
  const uint8_t* begins = data + lists->offset();
  const uint8_t* bytes = begins + head;
  const auto size = static_cast<uint32_t>(lists->size() - head);
  if (list_begin(begins, 0) != 0 || list_begin(begins, shortlist.source_words()) != size) {
    return corrupt("the lists of a shortlist do not share its bytes out");
  }
  for (uint32_t number = 0; number < shortlist.source_words(); ++number) {
    const uint32_t begin = list_begin(begins, number), end = list_begin(begins, number + 1);
    if (begin > end || end > size) return corrupt("the lists of a shortlist do not follow each other");
    ListedWords words(bytes + begin, bytes + end, shortlist.first());
    for (uint32_t word = 0; words.next(&word);) {
      if (word >= shortlist.words()) return corrupt("a shortlist has a word that there is not");
    }
    if (!words.is_whole()) return corrupt("a shortlist ends within a word");
  }
  return {};
}

}  // namespace

Verdict check_shortlist(const fb::Model& model, const uint8_t* data, size_t data_size) {
  const fb::Task* task = model.task();
  const fb::Shortlist* shortlist = task == nullptr ? nullptr : task->shortlist();
  if (shortlist == nullptr) return {};
  if constexpr (!linked::kShortlist) {
    return not_linked("this build leaves out shortlists");
  } else {
    const bool generates = has_source(model) && (traits(task->kind()).parts & kNextWordsPart) != 0;
    const int32_t output = generates ? find_head(model, kNextWordHead) : -1;
    if (output < 0) return corrupt("a shortlist without an encoder-decoder that generates");
    const int32_t scores = model.outputs()->Get(static_cast<uint32_t>(output))->tensor();
    if (shortlist->words() > width(tensor(model, scores)) || shortlist->first() == 0 ||
        shortlist->first() > shortlist->words() || shortlist->multiple() == 0 ||
        shortlist->multiple() > kMostMultiple ||
        shortlist->source_words() > ids_input(model, fb::Phase::source)->limit()) {
      return corrupt("a shortlist has more words than there are scores or ids, or none that are always there", scores);
    }
    for (uint32_t i = 0; i < count(task->end_ids()); ++i) {
      const auto id = static_cast<uint32_t>(task->end_ids()->Get(i));
      if (id >= shortlist->first()) return corrupt("a shortlist has no place for what ends a text");
    }
    return check_lists(*shortlist, data, data_size);
  }
}

}  // namespace bantam

#endif  // BANTAM_IF_LINKED(Sources)
