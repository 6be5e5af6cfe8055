#include "source/marian/marian_shortlist.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/error.h"

namespace bantam::convert {
namespace {

constexpr uint64_t kMarianLists = 0xF11A48D5013417F5;
constexpr uint32_t kFilledUpTo = 8;  // Marian's int8 matrices have a multiple of this many columns

struct ListsHead {
  uint64_t kind, checksum, first, best, begins, words;
};
constexpr size_t kSummedFrom = 2 * sizeof(uint64_t);

template <typename T>
T number_at(std::string_view bytes, size_t at) {
  T value = 0;
  std::memcpy(&value, bytes.data() + at, sizeof value);
  return value;
}

/// Boost's hash_combine over 64-bit integers; trailing bytes are not included.
uint64_t checksum_of(std::string_view bytes) {
  uint64_t sum = 0;
  for (size_t at = 0; at + sizeof(uint64_t) <= bytes.size(); at += sizeof(uint64_t)) {
    sum ^= number_at<uint64_t>(bytes, at) + 0x9E3779B9 + (sum << 6) + (sum >> 2);
  }
  return sum;
}

}  // namespace

bool is_marian_shortlist(std::string_view bytes) {
  return bytes.size() >= sizeof(uint64_t) && number_at<uint64_t>(bytes, 0) == kMarianLists;
}

SourceShortlist read_marian_shortlist(std::string_view bytes, const std::string& where, uint64_t sources,
                                      uint64_t words) {
  const auto refuse = [&](const std::string& what, const char* next) {
    throw Error(ExitCode::kInvalid, fmt::format("{}: {}; {}", where, what, next));
  };
  constexpr const char* kAgain = "download or copy it again";
  constexpr const char* kOfOther = "is it this model's? Name another by --shortlist, or --shortlist none";
  if (!is_marian_shortlist(bytes)) {
    refuse("is not a binary shortlist of Marian",
           "\"marian-conv --shortlist\" makes one of a text; or convert with --shortlist none");
  }
  if (bytes.size() < sizeof(ListsHead)) refuse("ends within its first numbers", kAgain);
  ListsHead head{};
  std::memcpy(&head, bytes.data(), sizeof head);
  const uint64_t behind = bytes.size() - sizeof head;
  if (head.begins == 0 || head.begins > behind / sizeof(uint64_t) || head.words > behind / sizeof(uint32_t) ||
      head.begins * sizeof(uint64_t) + head.words * sizeof(uint32_t) != behind) {
    refuse(fmt::format("has {} bytes, not those of {} lists of {} words", bytes.size(), head.begins, head.words),
           kAgain);
  }
  if (checksum_of(bytes.substr(kSummedFrom)) != head.checksum) refuse("its checksum is not that of its bytes", kAgain);
  if (head.begins - 1 != sources) {
    refuse(fmt::format("has lists of {} words, the model's source has {}", head.begins - 1, sources), kOfOther);
  }
  if (head.first == 0 || head.first > words) {
    refuse(fmt::format("has {} words in every list, of the {} that the model's target has", head.first, words),
           kOfOther);
  }
  SourceShortlist out;
  out.words = static_cast<uint32_t>(words);
  out.first = static_cast<uint32_t>(head.first);
  out.multiple = kFilledUpTo;
  const size_t begins = sizeof head, listed = begins + static_cast<size_t>(head.begins) * sizeof(uint64_t);
  for (uint64_t source = 0; source < sources; ++source) {
    const size_t at = begins + static_cast<size_t>(source) * sizeof(uint64_t);
    const auto begin = number_at<uint64_t>(bytes, at), end = number_at<uint64_t>(bytes, at + sizeof(uint64_t));
    if (begin > end || end > head.words || (source == 0 && begin != 0)) {
      refuse(fmt::format("the list of word {} ends in front of its begin, or beyond the file", source), kAgain);
    }
    std::vector<uint32_t> list(static_cast<size_t>(end - begin));
    if (!list.empty()) {
      std::memcpy(list.data(), bytes.data() + listed + static_cast<size_t>(begin) * sizeof(uint32_t),
                  list.size() * sizeof(uint32_t));
    }
    const auto beyond = std::find_if(list.begin(), list.end(), [&](uint32_t word) { return word >= words; });
    if (beyond != list.end()) {
      refuse(fmt::format("the list of word {} has word {}, the model's target has {}", source, *beyond, words),
             kOfOther);
    }
    out.lists.push_back(std::move(list));
  }
  return out;
}

}  // namespace bantam::convert
