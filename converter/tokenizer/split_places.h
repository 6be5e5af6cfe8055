// Builds the states of a search for one word from a transition function.
#ifndef BANTAM_CONVERTER_TOKENIZER_SPLIT_PLACES_H_
#define BANTAM_CONVERTER_TOKENIZER_SPLIT_PLACES_H_

#include <cstdint>
#include <map>
#include <stdexcept>
#include <vector>

#include "text/split_table.h"
#include "tokenizer/split_pattern.h"
#include "tokenizer/unicode/code_classes.h"

namespace bantam::convert {

/// The transition from a place for a class of code points.
template <typename Place>
struct SplitEntry {
  bool ends = false;  // the word ends before the code point
  bool goes_on = false;
  Place next = {};
};

/// Numbers the places that are reachable from `begin`. follow(place, is_begin, c, &end) returns the SplitEntry for
/// class c, and in `end` the properties of a word that ends at the place, in the form of SplitStates::ends. Place() is
/// the end of the search. Throws std::invalid_argument if the tables are too small.
template <typename Place, typename Follow>
SplitStates number_places(const CodeClasses& classes, const Place& begin, Follow&& follow) {
  SplitStates out;
  out.stride = classes.count() + 1;
  out.first_of_last = out.stride;
  out.class_of = classes.all();
  out.next.resize(out.stride, 0);
  out.ends = {0};
  std::vector<Place> places = {Place(), begin};
  std::map<Place, uint32_t> numbers = {{begin, 1}};
  for (size_t i = 1; i < places.size(); ++i) {
    const Place place = places[i];
    uint8_t end = 0;
    for (uint32_t c = 0; c < out.stride; ++c) {
      const SplitEntry<Place> entry = follow(place, i == 1, c, &end);
      uint32_t next = 0;
      if (entry.goes_on) {
        const auto [found, is_new] = numbers.emplace(entry.next, static_cast<uint32_t>(places.size()));
        if (is_new) places.push_back(entry.next);
        next = found->second * out.stride;
      }
      out.next.push_back(static_cast<uint16_t>(next | (entry.ends ? text::kSplitMatch : 0)));
    }
    out.ends.push_back(end);
    if (places.size() > text::kMaxSplitStates || places.size() * out.stride > text::kMaxSplitEntries) {
      throw std::invalid_argument("the pattern needs too many states");
    }
  }
  out.count = static_cast<uint32_t>(places.size());
  if (out.ends == std::vector<uint8_t>(out.count)) out.ends.clear();
  return out;
}

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_TOKENIZER_SPLIT_PLACES_H_
