// Reads Marian's binary format (marian-nmt.github.io): named tensors, and among them the model's settings as text.
// Version 1: two numbers, the version and the number of items; for each item the length of its name, its type, its
// number of extents and its size in bytes; the names; the extents; a gap; the items, each aligned to 256 bytes. Numbers
// are little-endian.
#ifndef BANTAM_CONVERTER_SOURCE_MARIAN_FILE_H_
#define BANTAM_CONVERTER_SOURCE_MARIAN_FILE_H_

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "source/checkpoint.h"

namespace bantam::convert {

class MarianFile {
 public:
  /// An item; its location has been checked against the size of the file.
  struct Item {
    uint64_t type = 0;  // Marian's number of the type
    std::vector<uint64_t> shape;
    uint64_t elements = 0;
    size_t begin = 0, size = 0;
  };

  /// Returns true if a file with these first bytes looks like one, judging by the version and the number of items.
  static bool begins(std::string_view bytes);

  /// `bytes` is the whole file; errors call it `where`. Throws Error: kInvalid if the file is damaged, kUnsupported for
  /// another version.
  MarianFile(std::string bytes, std::string where);

  const std::map<std::string, Item>& items() const { return items_; }
  bool has(const std::string& name) const { return items_.count(name) != 0; }
  /// The text of "special:model.yml"; "" if the file has none.
  std::string settings() const;

  /// Reads a table or vector in the order of its shape: f32, or 8-bit integers times their factor. Throws Error that
  /// names the item: kUnsupported for other types, kInvalid for a number that is not finite or a missing item.
  MemoryTensor table(const std::string& name) const;
  /// Reads a matrix [inputs, outputs] transposed: one row per output. Files store integers in this order, and floats in
  /// the order of their shape.
  MemoryTensor weight(const std::string& name) const;

 private:
  const Item& item(const std::string& name) const;
  std::vector<float> values(const std::string& name, const Item& item) const;
  [[noreturn]] void damaged(const std::string& what) const;

  std::string bytes_, where_;
  std::map<std::string, Item> items_;
};

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_SOURCE_MARIAN_FILE_H_
