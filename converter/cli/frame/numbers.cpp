#include "cli/frame/numbers.h"

#include <algorithm>
#include <charconv>

#include "cli/frame/errors.h"
#include "cli/frame/output.h"

namespace bantam::cli {

std::vector<int32_t> parse_numbers(const std::string& list, const char* option) {
  std::vector<int32_t> numbers;
  const char* at = list.data();
  const char* end = at + list.size();
  const auto separator = [](char c) { return c == ',' || c == ' ' || c == '\n' || c == '\t'; };
  while (at != end) {
    if (separator(*at)) {
      ++at;
      continue;
    }
    int32_t number = 0;
    const auto [rest, error] = std::from_chars(at, end, number);
    if (error != std::errc() || (rest != end && !separator(*rest))) {
      fail(ExitCode::kUsage, "{}: \"{}\" at position {} is not a token number; write numbers with commas between them",
           option, printable(std::string(at, std::min(end, at + 12))), at - list.data() + 1);
    }
    numbers.push_back(number);
    at = rest;
  }
  if (numbers.empty()) fail(ExitCode::kUsage, "{}: no number in it; write numbers with commas between them", option);
  return numbers;
}

void check_range(const std::vector<int32_t>& numbers, uint32_t limit, const char* option) {
  for (size_t i = 0; i < numbers.size(); ++i) {
    if (numbers[i] >= 0 && static_cast<uint32_t>(numbers[i]) < limit) continue;
    fail(ExitCode::kInvalid, "{}: {} (number {} of {}) is out of range; the model takes 0 to {}", option, numbers[i],
         i + 1, numbers.size(), limit == 0 ? 0 : limit - 1);
  }
}

}  // namespace bantam::cli
