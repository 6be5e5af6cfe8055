// The models that operators_bench and models_bench run: every .bantam file of one folder, which models.py fills.
#ifndef BANTAM_TESTS_BENCH_MODEL_FILES_H_
#define BANTAM_TESTS_BENCH_MODEL_FILES_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "bantam/host.h"
#include "bantam/session.h"

namespace bantam::bench {

struct ModelFile {
  std::string name;  // without folder and extension
  host::MappedFile file;
  Model model;
};

/// Returns the files of $BANTAM_BENCH_MODELS or, if it is not set, of bench/models in the build folder, by name. Ends
/// the program with a message if there are none.
const std::vector<ModelFile>& model_files();

/// Ends the program with a message if the status is not kOk.
void require(Status status, const std::string& what);

/// A session with its arena and threads, for one batch of random ids with these lengths.
class Runner {
 public:
  Runner(const ModelFile& file, const std::vector<uint32_t>& lengths, uint32_t threads, Isa isa = Isa::kAuto);

  void run() { require(session_->run(batch_), name_); }
  Session& session() { return *session_; }
  const Batch& batch() const { return batch_; }
  uint32_t threads() const { return pool_.threads(); }
  const Parallel* parallel() const { return pool_.parallel(); }

 private:
  std::string name_;
  host::ThreadPool pool_;
  std::vector<int32_t> ids_;
  std::vector<uint32_t> offsets_;
  std::unique_ptr<void, void (*)(void*)> arena_;
  Batch batch_;
  Session* session_ = nullptr;
};

/// Returns the instruction sets of this machine without the reference.
std::vector<Isa> fast_isas();

}  // namespace bantam::bench

#endif  // BANTAM_TESTS_BENCH_MODEL_FILES_H_
