// The core of the runtime by itself: open a file with all its checks, plan a session, run it, read the outputs. One rule
// and one table of kernels that do nothing stand in for operators and kernels; there is no tokenizer. Its linked size is
// what the core adds to an image. It is measured, not run.
#include "bantam/session.h"
#include "ops/ops.h"

namespace bantam {
namespace ops {
namespace {

Verdict verify(const Site&) { return {}; }
uint64_t scratch(const fb::Model&, const fb::Op&, const ScratchNeed&) { return 0; }
Status run(const TileRun&, const fb::Op&) { return Status::kOk; }
constexpr Rule kStub = {fb::OpAttributes::NONE, 0, verify, scratch, run};

}  // namespace

const Rule* find_rule(const fb::Op&) { return &kStub; }

}  // namespace ops

namespace kernels {

const Table* table(Isa) {
  static constexpr Table kNone = {};
  return &kNone;
}

}  // namespace kernels
}  // namespace bantam

/// All that an image asks of the core.
extern "C" bantam::Status core_only(const void* file, size_t file_size, void* arena, size_t arena_size,
                                    const bantam::Batch* batch, bantam::OutputView* output) {
  bantam::Model model;
  bantam::Status status = bantam::Model::open(file, file_size, &model);
  if (status != bantam::Status::kOk) return status;
  bantam::Session* session = nullptr;
  status = bantam::Session::create(model, {}, arena, arena_size, &session);
  if (status == bantam::Status::kOk) status = session->run(*batch);
  return status == bantam::Status::kOk ? session->output(0, output) : status;
}
