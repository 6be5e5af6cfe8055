// pytorch_model.bin: what torch.save writes of a state dict, a zip archive with a pickle and storages, read without torch
// and without executing anything.
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
  /// Throws Error naming the file: kIo; kInvalid for a damaged one, for tensors that reach beyond their storages or whose
  /// elements overlap; kUnsupported for what read_state_dict() refuses, for files of torch before 1.6 and big-endian ones.
  explicit TorchFile(std::filesystem::path path);

  std::string read_bytes(const std::string& name) const override;

 private:
  void add(const std::string& name, PickledTensor tensor);

  ZipFile zip_;
  std::string folder_;  // of the archive, with a slash
  std::map<std::string, PickledTensor> views_;
  mutable std::set<std::string> checked_;  // storages whose checksum is right
};

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_SOURCE_TORCH_FILE_H_
