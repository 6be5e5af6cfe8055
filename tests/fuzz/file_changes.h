// Systematic changes of one model file: each number, absent fields, counts and orders of vectors, words of data, and
// changes chosen by random numbers. The same file and numbers give the same changes.
#ifndef BANTAM_TESTS_FUZZ_FILE_CHANGES_H_
#define BANTAM_TESTS_FUZZ_FILE_CHANGES_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "tests/fuzz/model_tree.h"

namespace bantam::fuzz {

/// Receives a changed file, the kind of the change, and its offset or number. Returns true if the file opens.
using Judge = std::function<bool(const std::vector<uint8_t>& file, const char* kind, uint64_t number)>;

class FileChanges {
 public:
  /// `seed`: a file that opens. `other`: a file from which parts may be taken. Both must outlive this object.
  FileChanges(const std::vector<uint8_t>& seed, const std::vector<uint8_t>& other, Judge judge);

  /// Tries the changes of verdicts_test.cpp: single changes; then several at a time and changes by the schema, for
  /// numbers from 0 on and for the rows NAME KIND NUMBER of the file `chosen` whose NAME is `name`.
  void try_tested(const std::string& chosen, const std::string& name);
  /// The first numbers of changes that try_tested() does not try.
  static constexpr uint64_t kSeveral = 2000, kTrees = 400;

  /// Changes two or three numbers, words or sets of equal numbers, chosen by `number`.
  void try_several(uint64_t number);
  /// Makes a change by the schema (model_mutator.h).
  void try_tree(uint64_t number);

 private:
  void try_all();
  void put(size_t at, uint64_t number, size_t size);
  void put_back(size_t at, size_t size);
  uint64_t number_at(size_t at, size_t size) const;
  bool change(const char* kind, size_t at, uint64_t number, size_t size);
  void try_header();
  void try_numbers();
  void try_equal_numbers();
  void try_layout();
  bool is_read(size_t place);
  void find_tables();
  void try_words();
  void change_one(std::mt19937_64* random);

  std::vector<uint8_t> file_;
  const std::vector<uint8_t>& seed_;
  const std::vector<uint8_t>& other_;
  Judge judge_;
  size_t graph_ = 0, graph_size_ = 0, data_ = 0;
  std::vector<Slot> slots_;
  std::vector<std::vector<size_t>> equal_;  // slots of one field with equal numbers, at least two each
  std::vector<size_t> tables_;              // blobs whose first words change verdicts, as byte offsets in the file
  std::vector<size_t> changed_;             // offsets at which change_one wrote 8 bytes
};

}  // namespace bantam::fuzz

#endif  // BANTAM_TESTS_FUZZ_FILE_CHANGES_H_
