// Runs fixed ids through every model of a pack and prints one hash of all bits of all outputs, which is the same on
// every instruction set. tests/firmware/make_pack.py makes a pack. Firmware links it; on a host, the first argument
// names its file, and the second an instruction set.
#include "bantam/steps.h"
#include "console.h"
#if !defined(BANTAM_FIRMWARE)
#include <stdio.h>

#include <new>
#endif

namespace {

using bantam::test::put;

constexpr uint32_t kMaxTokens = 33;
constexpr uint32_t kLengths[] = {1, 5, 16, 17, kMaxTokens};

#if defined(BANTAM_FIRMWARE)
alignas(16) [[gnu::section(".arena")]] uint8_t arena[88 * 1024];
extern "C" const uint8_t bantam_model[];
#else
alignas(64) uint8_t arena[4 << 20];
#endif

bool fails(const char* what, bantam::Status status) {
  if (status == bantam::Status::kOk) return false;
  put(what);
  put(": ");
  put(bantam::status_message(status));
  put("\n");
  return true;
}

/// Batches of odd length run in steps, which give the same bits.
bantam::Status run_batch(bantam::Session& session, const bantam::Batch& batch) {
  if (batch.tokens % 2 == 0) return session.run(batch);
  bantam::SteppedRun steps;
  bool done = false;
  bantam::Status status = bantam::SteppedRun::begin(&session, batch, &steps);
  while (status == bantam::Status::kOk && !done) status = steps.advance(3, &done);
  return status;
}

bool run(bantam::Session& session, uint32_t tokens, bantam::test::Hash* hash) {
  const bantam::Model& model = session.model();
  int32_t ids[kMaxTokens];
  int32_t segments[kMaxTokens];
  uint32_t state = tokens;
  for (uint32_t i = 0; i < tokens; ++i) {
    state = state * 1664525u + 1013904223u;
    ids[i] = static_cast<int32_t>((state >> 8) % model.vocabulary());
    segments[i] = static_cast<int32_t>(model.segment_types() > 1 ? i / 9 % 2 : 0);
  }
  bantam::Batch batch;
  batch.ids = ids;
  batch.segments = segments;
  batch.tokens = tokens;
  if (fails("run", run_batch(session, batch))) return false;
  for (uint32_t i = 0; i < model.output_count(); ++i) {
    bantam::OutputView view;
    if (fails("output", session.output(i, &view))) return false;
    for (uint32_t r = 0; r < view.rows; ++r) hash->add(view.data + r * view.stride, size_t{view.width} * 4);
  }
  return true;
}

bool run_model(const uint8_t* bytes, size_t size, bantam::Isa isa, bantam::test::Hash* hash) {
  bantam::Model model;
  if (fails("open", bantam::Model::open(bytes, size, &model))) return false;
  bantam::SessionOptions options;
  options.isa = isa;
  options.tile_rows = 16;
  const uint32_t longest = model.max_sequence() != 0 ? model.max_sequence() : kMaxTokens;
  options.max_tokens = longest < kMaxTokens ? longest : kMaxTokens;
  // A board's arena may be too small for the longest run of a model; hosts use the same limit.
  while (bantam::arena_bytes(model, options) > 84 * 1024 && options.max_tokens > 1) --options.max_tokens;
  bantam::Session* session = nullptr;
  if (fails("session", bantam::Session::create(model, options, arena, sizeof arena, &session))) return false;
  for (uint32_t tokens : kLengths) {
    if (tokens <= session->max_tokens() && !run(*session, tokens, hash)) return false;
  }
  return true;
}

int run_pack(const uint8_t* pack, bantam::Isa isa) {
  bantam::test::Hash hash;
  for (;;) {
    uint32_t size;
    memcpy(&size, pack, 4);
    if (size == 0) break;
    pack += 64;
    if (!run_model(pack, size, isa, &hash)) return 1;
    pack += (size + 63) / 64 * 64;
    bantam::test::put_hex(hash.value());
    put("\n");
  }
  return 0;
}

}  // namespace

#if defined(BANTAM_FIRMWARE)
int main() { return run_pack(bantam_model, bantam::Isa::kAuto); }
#else
int main(int argc, char** argv) {
  bantam::Isa isa = bantam::Isa::kAuto;
  if (argc < 2 || (argc > 2 && !bantam::isa_parse({argv[2], strlen(argv[2])}, &isa))) return 2;
  if (!bantam::isa_available(isa)) {
    puts("this machine has no such instruction set");
    return 77;
  }
  FILE* file = fopen(argv[1], "rb");
  if (file == nullptr || fseek(file, 0, SEEK_END) != 0) return 2;
  const size_t size = static_cast<size_t>(ftell(file));
  rewind(file);
  uint8_t* pack = static_cast<uint8_t*>(::operator new(size, std::align_val_t(64), std::nothrow));
  const bool read = pack != nullptr && fread(pack, 1, size, file) == size;
  fclose(file);
  const int status = read ? run_pack(pack, isa) : 2;
  ::operator delete(pack, std::align_val_t(64));
  return status;
}
#endif
