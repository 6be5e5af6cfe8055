// Reads lines from the UART and answers each with one line (terminal.h). `bantam firmware` writes bantam_config.h
// (BANTAM_MAX_TOKENS, BANTAM_MAX_CONTEXT, BANTAM_MAX_SOURCE, BANTAM_TILE_ROWS, BANTAM_BLOCK_ROWS, BANTAM_TEXT_OFFSETS,
// BANTAM_PIXELS, BANTAM_FEATURES, BANTAM_ARENA_REST) beside it. Returns 1 if the model cannot run.
#include "bantam_config.h"
#include "board.h"
#include "configured_session.h"
#include "terminal.h"

extern "C" {
extern const uint8_t bantam_model[];
extern const uint8_t bantam_model_end[];
}

extern "C" [[gnu::weak]] int board_accepts_model(const void*, size_t) { return 1; }

namespace {

// Not cleared at start, because a session initializes what it uses.
alignas(16) [[gnu::section(".arena")]] uint8_t arena[bantam::firmware::kArenaBytes];
bantam::firmware::Terminal terminal;

void write(void*, const char* data, size_t size) { board_write(data, size); }
constexpr bantam::firmware::Sink kUart = {write, nullptr};

/// Opens the model and makes the session; on failure reports the reason and returns false. It is not inlined, so that
/// its stack is free again when lines are answered.
[[gnu::noinline]] bool start(bantam::Session** session) {
  bantam::Model model;
  bantam::Fault fault;
  const auto size = static_cast<size_t>(bantam_model_end - bantam_model);
  bantam::Status status = bantam::Status::kUnavailable;
  if (board_accepts_model(bantam_model, size) != 0) status = bantam::Model::open(bantam_model, size, &model, &fault);
  if (status != bantam::Status::kOk) {
    bantam::firmware::report(kUart, "model", status, fault);
    return false;
  }
  status =
      bantam::Session::create(model, bantam::firmware::configured_options(), arena, sizeof(arena), session, &fault);
  if (status == bantam::Status::kOk) status = terminal.start(*session, kUart, bantam::firmware::kFrame);
  if (status != bantam::Status::kOk) bantam::firmware::report(kUart, "session", status, fault);
  return status == bantam::Status::kOk;
}

}  // namespace

int main() {
  bantam::Session* session = nullptr;
  if (!start(&session)) return 1;
  board_write("ready\n", 6);
  for (int byte = board_read(); byte >= 0; byte = board_read()) terminal.put(static_cast<uint8_t>(byte));
  terminal.finish();
  bantam::firmware::report_memory(kUart, *session, sizeof(arena), stack_high_water(), stack_size());
  return 0;
}
