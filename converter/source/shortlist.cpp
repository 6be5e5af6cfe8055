#include "source/shortlist.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "base/error.h"

namespace bantam::convert {
namespace {

/// Appends `gap` as a varint with 7 bits per byte.
void add_gap(uint32_t gap, std::vector<uint8_t>* bytes) {
  for (; gap >= 0x80; gap >>= 7) bytes->push_back(static_cast<uint8_t>(gap | 0x80));
  bytes->push_back(static_cast<uint8_t>(gap));
}

}  // namespace

void add_shortlist(const SourceShortlist& shortlist, Graph* graph) {
  std::vector<uint32_t> begins = {0};
  std::vector<uint8_t> lists;
  for (size_t own = 0; own < shortlist.lists.size(); ++own) {
    std::vector<uint32_t> words = shortlist.lists[own];
    std::sort(words.begin(), words.end());
    uint32_t least = shortlist.first;
    for (const uint32_t word : words) {
      if (word < least || (shortlist.shared && word == own)) continue;
      add_gap(word - least, &lists);
      least = word + 1;
    }
    begins.push_back(static_cast<uint32_t>(lists.size()));
  }
  const auto* head = reinterpret_cast<const uint8_t*>(begins.data());
  std::vector<uint8_t> bytes(head, head + begins.size() * sizeof(uint32_t));
  bytes.insert(bytes.end(), lists.begin(), lists.end());
  auto stored = std::make_unique<fb::ShortlistT>();
  stored->words = shortlist.words;
  stored->first = shortlist.first;
  stored->multiple = shortlist.multiple;
  stored->shared = shortlist.shared;
  stored->source_words = static_cast<uint32_t>(shortlist.lists.size());
  stored->lists = std::make_unique<fb::Blob>();
  graph->blobs.push_back({stored->lists.get(), std::move(bytes)});
  graph->model.task->shortlist = std::move(stored);
}

}  // namespace bantam::convert
