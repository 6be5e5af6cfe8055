// Sets of code points, as used in split patterns.
#ifndef BANTAM_CONVERTER_TOKENIZER_CODE_SET_H_
#define BANTAM_CONVERTER_TOKENIZER_CODE_SET_H_

#include <cstdint>
#include <string>
#include <vector>

namespace bantam::convert {

constexpr uint32_t kCodePoints = 0x110000;

/// The code points in [begin, end).
struct CodeRange {
  uint32_t begin;
  uint32_t end;
};

/// The code points that Hugging Face's regular expressions match with \p{L}, \p{M}, \p{N}, \p{P}, \p{S}, \s, \w and \d.
/// Ranges ascend and do not touch.
const std::vector<CodeRange>& matched_by_L();
const std::vector<CodeRange>& matched_by_M();
const std::vector<CodeRange>& matched_by_N();
const std::vector<CodeRange>& matched_by_P();
const std::vector<CodeRange>& matched_by_S();
const std::vector<CodeRange>& matched_by_blank();
const std::vector<CodeRange>& matched_by_w();
const std::vector<CodeRange>& matched_by_d();
/// The code points that \p{name} matches for any other general category or a script; `name` is in lower case. Null if
/// it is unknown.
const std::vector<CodeRange>* matched_by_property(const std::string& name);
/// The code points that the library's splitters Whitespace and Digits, which use other tables, regard as word
/// characters and as digits.
const std::vector<CodeRange>& matched_by_word();
const std::vector<CodeRange>& numerals();
/// The scripts that the library's splitter UnicodeScripts distinguishes; the first entry holds the code points that fit
/// every script.
const std::vector<std::vector<CodeRange>>& scripts();

class CodeSet {
 public:
  CodeSet() = default;
  explicit CodeSet(std::vector<CodeRange> ranges) : ranges_(std::move(ranges)) {}

  void add(uint32_t begin, uint32_t end);
  void add(const CodeSet& other);
  void complement();
  bool has(uint32_t code) const;

  /// Ranges in ascending order that do not touch each other.
  const std::vector<CodeRange>& ranges() const { return ranges_; }

 private:
  std::vector<CodeRange> ranges_;
};

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_TOKENIZER_CODE_SET_H_
