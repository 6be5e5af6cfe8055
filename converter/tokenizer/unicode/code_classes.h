// Classes of code points that a list of sets does not distinguish.
#ifndef BANTAM_CONVERTER_TOKENIZER_CODE_CLASSES_H_
#define BANTAM_CONVERTER_TOKENIZER_CODE_CLASSES_H_

#include <cstdint>
#include <vector>

#include "tokenizer/unicode/code_set.h"

namespace bantam::convert {

/// Code points that belong to the same sets form a class; classes are numbered from 1. Class 0 is the end of the text.
class CodeClasses {
 public:
  /// The classes in the set `last` get the last numbers. Throws std::invalid_argument if there are more classes than
  /// the tables of runtime/text/split_table.h allow.
  explicit CodeClasses(const std::vector<CodeSet>& sets, const CodeSet& last = {});

  uint32_t count() const { return static_cast<uint32_t>(members_.size()); }
  /// Returns true if the code points of class `c` are in set `set`; false for class 0, the end of the text.
  bool has(uint32_t c, uint32_t set) const { return c != 0 && members_[c - 1][set]; }
  /// The class of each code point.
  const std::vector<uint8_t>& all() const { return code_class_; }
  uint32_t first_of_last() const { return first_of_last_; }

 private:
  void number_last();

  uint32_t first_of_last_ = 0;
  std::vector<uint8_t> code_class_;
  std::vector<std::vector<bool>> members_;
};

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_TOKENIZER_CODE_CLASSES_H_
