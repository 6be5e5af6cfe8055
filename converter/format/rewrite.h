// rewrite_file: a finished .bantam file with some of its tables or blobs changed.
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

/// A file taken apart: its tables, and the bytes of each blob. Both may be changed freely; rewrite_file decides where the
/// blobs then lie.
class FileEditor {
 public:
  /// The file as it was, open.
  const Model& original() const { return original_; }

  /// The tables. Offsets and sizes of blobs are those of the original file; to change a blob, change bytes(blob).
  fb::ModelT& model() { return model_; }

  /// The content of a blob of model(), which the caller may overwrite, cut or extend. Tensors that share a blob (the
  /// same offset and size) share these bytes: change them once. Throws Error (internal) for a blob that is absent or
  /// empty, or that neither was in the file nor was added.
  std::vector<uint8_t>& bytes(const fb::Blob* blob);

  /// Adds a blob that the file did not hold, for a field of model().
  std::unique_ptr<fb::Blob> add(std::vector<uint8_t> content);

 private:
  friend FileBytes rewrite_file(const uint8_t* bytes, size_t size, const std::function<void(FileEditor&)>& edit);
  /// Offset and size in the original file; for an added blob: an offset beyond every file's end, and its number.
  using Place = std::pair<uint64_t, uint64_t>;

  /// Copies the bytes to an aligned place, so that the caller's bytes may lie anywhere.
  FileEditor(const uint8_t* bytes, size_t size);
  FileBytes assemble();

  FileBytes file_;
  Model original_;
  fb::ModelT model_;
  std::map<Place, std::vector<uint8_t>> contents_;
};

/// Takes the file bytes[0, size) apart, calls `edit`, and puts it together again: blobs in their old order, each at a
/// multiple of 64 bytes, offsets, sizes and checksums redone, the result opened with Model::open. Fields that this
/// version's schema does not know are lost. Without an edit, a file that this version's converter wrote comes out byte
/// for byte. Throws Error: invalid input when Model::open refuses `bytes`; internal or unsupported when it refuses the
/// result.
FileBytes rewrite_file(const uint8_t* bytes, size_t size, const std::function<void(FileEditor&)>& edit);

/// Returns the file with its tokenizers in firmware's form: without the table of whole words (text/word_table.h), which
/// costs 20 bytes a word and saves only time; and with the map of code points (text/char_map.h), which files of version
/// 0.1 lack. Ids and offsets stay the same.
FileBytes with_small_tokenizers(const uint8_t* bytes, size_t size);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_FORMAT_REWRITE_H_
