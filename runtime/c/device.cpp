// The C API of stepped runs and of files in flash: each function converts its arguments to C++ ones. No logic of its
// own.
#include "bantam/bantam_device.h"
#include "bantam/file.h"
#include "bantam/steps.h"
#include "c/same.h"
#include "language.h"

namespace {

using namespace bantam::c;  // NOLINT(google-build-using-namespace): the other half of these files
using bantam::FileCheck;
using bantam::SteppedRun;

static_assert(sizeof(SteppedRun) <= sizeof(bantam_stepped_run));
static_assert(alignof(SteppedRun) <= alignof(bantam_stepped_run));
static_assert(sizeof(FileCheck) <= sizeof(bantam_file_check));
static_assert(alignof(FileCheck) <= alignof(bantam_file_check));

SteppedRun* to_cpp(bantam_stepped_run* run) { return reinterpret_cast<SteppedRun*>(run); }
const SteppedRun* to_cpp(const bantam_stepped_run* run) { return reinterpret_cast<const SteppedRun*>(run); }
FileCheck* to_cpp(bantam_file_check* check) { return reinterpret_cast<FileCheck*>(check); }

/// Calls begin(session, run) with a new run.
template <typename Begin>
bantam_status begin_run(bantam_stepped_run* run, bantam_session* session, const Begin& begin) {
  if (run == nullptr) return BANTAM_INVALID_ARGUMENT;
  return bantam::c::to_c(begin(bantam::c::to_cpp(session), new (run) SteppedRun()));
}

/// Calls `advance(&done)` and returns its status; sets *done to 0 or 1.
template <typename Advance>
bantam_status advance_once(int* done, const Advance& advance) {
  bool ended = false;
  const bantam_status status = bantam::c::to_c(advance(&ended));
  *done = ended ? 1 : 0;
  return status;
}

}  // namespace

extern "C" {

bantam_status bantam_stepped_run_begin(bantam_stepped_run* run, bantam_session* session) {
  return begin_run(run, session, [](bantam::Session* s, SteppedRun* out) { return SteppedRun::begin(s, out); });
}

bantam_status bantam_stepped_run_begin_ids(bantam_stepped_run* run, bantam_session* session, const int32_t* ids,
                                           const int32_t* segments, const uint32_t* offsets, uint32_t sequences,
                                           uint32_t tokens) {
  return begin_run(run, session, [&](bantam::Session* s, SteppedRun* out) {
    return SteppedRun::begin(s, {ids, segments, offsets, sequences, tokens}, out);
  });
}

bantam_status bantam_stepped_run_advance(bantam_stepped_run* run, uint32_t operators, int* done) {
  if (run == nullptr || done == nullptr) return BANTAM_INVALID_ARGUMENT;
  return advance_once(done, [&](bool* ended) { return to_cpp(run)->advance(operators, ended); });
}

uint32_t bantam_stepped_run_executed(const bantam_stepped_run* run) {
  return run == nullptr ? 0 : to_cpp(run)->executed();
}

uint32_t bantam_stepped_run_operators(const bantam_stepped_run* run) {
  return run == nullptr ? 0 : to_cpp(run)->operators();
}

bantam_status bantam_file_bytes(const void* bytes, size_t room, size_t* out) {
  return to_c(bantam::file_bytes(bytes, room, out));
}

bantam_status bantam_file_check_begin(bantam_file_check* check, const void* bytes, size_t size) {
  if (check == nullptr) return BANTAM_INVALID_ARGUMENT;
  return to_c(FileCheck::begin(bytes, size, new (check) FileCheck()));
}

bantam_status bantam_file_check_advance(bantam_file_check* check, size_t bytes, int* done) {
  if (check == nullptr || done == nullptr) return BANTAM_INVALID_ARGUMENT;
  return advance_once(done, [&](bool* ended) { return to_cpp(check)->advance(bytes, ended); });
}

size_t bantam_file_check_checked(const bantam_file_check* check) {
  return check == nullptr ? 0 : reinterpret_cast<const FileCheck*>(check)->checked();
}

}  // extern "C"
