// rewrite_file: changes some tables or blobs of a finished .bantam file.
#ifndef BANTAM_CONVERTER_FORMAT_REWRITE_H_
#define BANTAM_CONVERTER_FORMAT_REWRITE_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "bantam/model.h"
#include "format/file.h"

namespace bantam::convert {

/// A file split into its tables and the bytes of each blob. Both may be changed freely; rewrite_file then lays out the
/// blobs again.
class FileEditor {
 public:
  /// The original file, opened.
  const Model& original() const { return original_; }

  /// The tables. Offsets and sizes of blobs are those of the original file; to change a blob, change bytes(blob).
  fb::ModelT& model() { return model_; }

  /// The content of a blob of model(), which the caller may overwrite, truncate or extend. Tensors that share a blob
  /// (same offset and size) share these bytes: change them once. Throws Error (internal) if the blob is absent or
  /// empty, or if it is neither from the file nor from add().
  std::vector<uint8_t>& bytes(const fb::Blob* blob);

  /// Adds a new blob, to be assigned to a field of model().
  std::unique_ptr<fb::Blob> add(std::vector<uint8_t> content);

 private:
  friend FileBytes rewrite_file(const uint8_t* bytes, size_t size, const std::function<void(FileEditor&)>& edit);
  /// Offset and size in the original file; for an added blob, an offset beyond the end of any file, and its number.
  using Place = std::pair<uint64_t, uint64_t>;

  /// Copies the bytes to aligned memory; `bytes` may have any alignment.
  FileEditor(const uint8_t* bytes, size_t size);
  FileBytes assemble();

  FileBytes file_;
  Model original_;
  fb::ModelT model_;
  std::map<Place, std::vector<uint8_t>> contents_;
};

/// Splits the file bytes[0, size), calls `edit`, and assembles it again: keeps the order of blobs, aligns each to 64
/// bytes, updates offsets, sizes and checksums, and opens the result with Model::open. Fields that this version's
/// schema does not know are lost. Without an edit, a file that this version's converter wrote is reproduced byte for
/// byte. Throws Error: invalid input if Model::open rejects `bytes`; internal or unsupported if it rejects the result.
FileBytes rewrite_file(const uint8_t* bytes, size_t size, const std::function<void(FileEditor&)>& edit);

/// Returns the file with its tokenizers in the form for firmware: without the table of whole words (text/word_table.h),
/// which takes 20 bytes per word and only saves time; and with the map of code points (text/char_map.h), which files of
/// version 0.1 lack. Ids and offsets stay the same.
FileBytes with_small_tokenizers(const uint8_t* bytes, size_t size);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_FORMAT_REWRITE_H_
