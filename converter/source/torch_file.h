// pytorch_model.bin: a state dict written by torch.save, a zip archive with a pickle and storages. It is read without
// torch and without executing anything.
#ifndef BANTAM_CONVERTER_SOURCE_TORCH_FILE_H_
#define BANTAM_CONVERTER_SOURCE_TORCH_FILE_H_

#include <filesystem>
#include <map>
#include <set>
#include <string>

#include "source/pickle.h"
#include "source/weight_file.h"
#include "source/zip.h"

namespace bantam::convert {

class TorchFile : public WeightFile {
 public:
  /// Throws Error that names the file: kIo; kInvalid for a damaged file, and for tensors that exceed their storages or
  /// whose elements overlap; kUnsupported for everything that read_state_dict() refuses, for files of torch before 1.6
  /// and for big-endian files.
  explicit TorchFile(std::filesystem::path path);

  std::string read_bytes(const std::string& name) const override;

 private:
  void add(const std::string& name, PickledTensor tensor);

  ZipFile zip_;
  std::string folder_;  // within the archive, with a trailing slash
  std::map<std::string, PickledTensor> views_;
  mutable std::set<std::string> checked_;  // storages with a verified checksum
};

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_SOURCE_TORCH_FILE_H_
