// Answers lines with the model of bantam_model.h and a session with the settings of bantam_config.h.
#include "bantam_lines.h"

#include "bantam/session.h"
#include "bantam_model.h"
#include "configured_session.h"
#include "session/as_written.h"
#include "terminal.h"

namespace {

#if defined(BANTAM_ARENA_SECTION)
[[gnu::section(BANTAM_ARENA_SECTION)]]
#endif
alignas(16) uint8_t arena[bantam::firmware::kArenaBytes];
bantam::firmware::Terminal terminal;
bantam::firmware::Sink sink;
bantam::Session* session;

bantam::Status open(bantam::Fault* fault, const char** where) {
  *where = "model";
  bantam::Model model;
  bantam::Status status = bantam::Model::open(bantam_model_data, bantam_model_data_SIZE, &model, fault);
  if (status != bantam::Status::kOk) return status;
  *where = "session";
  status =
      bantam::Session::create(model, bantam::firmware::configured_options(), arena, sizeof(arena), &session, fault);
  return status == bantam::Status::kOk ? terminal.start(session, sink, bantam::firmware::kFrame) : status;
}

}  // namespace

// With or without a macro that tells of fused operations: projects meet compilers that the library does not know.
int bantam_self_test(void) { return bantam::rounds_products() && bantam::keeps_formulas(); }

int bantam_lines_start(bantam_lines_write write, void* context) {
  sink = {write, context};
  if (bantam_self_test() == 0) {
    constexpr char kText[] =
        "error\tcompiler\tthis build alters floats: compile with -ffp-contract=off -fno-fast-math\n";
    write(context, kText, sizeof(kText) - 1);
    return 1;
  }
  bantam::Fault fault;
  const char* where = nullptr;
  const bantam::Status status = open(&fault, &where);
  if (status != bantam::Status::kOk) bantam::firmware::report(sink, where, status, fault);
  return status == bantam::Status::kOk ? 0 : 1;
}

void bantam_lines_put(uint8_t byte) { terminal.put(byte); }

void bantam_lines_finish(void) {
  terminal.finish();
  bantam::firmware::report_memory(sink, *session, sizeof(arena), 0, 0);
}
