// A device must survive these with a status: damaged files, an arena that is one byte too small, parts that are not
// linked. The input: 'a' tests the arena, 'c' and a number test corrupted files, 'm' a misaligned arena, 'o' opens and
// runs.
#include "bantam/session.h"
#include "console.h"

extern "C" {
extern const uint8_t bantam_model[];
extern const uint8_t bantam_model_end[];
}

namespace {

using bantam::Status;
using bantam::test::put;

// The copy of the model that is damaged, and the session's memory.
alignas(16) [[gnu::section(".arena")]] uint8_t copy[1 << 20];
alignas(16) [[gnu::section(".arena")]] uint8_t arena[48 * 1024];

constexpr uint8_t kDamage[] = {0x01, 0x80, 0xff};

void say(const char* what, Status status) {
  put(what);
  put(": ");
  bantam::test::put_number(static_cast<uint32_t>(status));
  put(" ");
  put(bantam::status_message(status));
  put("\n");
}

size_t model_size() { return static_cast<size_t>(bantam_model_end - bantam_model); }

/// Opens the model and, if it opens, runs three tokens.
Status try_model(const uint8_t* bytes, size_t size, size_t arena_less, size_t arena_offset) {
  bantam::Model model;
  Status status = bantam::Model::open(bytes, size, &model);
  if (status != Status::kOk) return status;
  bantam::SessionOptions options;
  options.max_tokens = 4;
  options.tile_rows = 16;
  const size_t wanted = bantam::arena_bytes(model, options);
  if (wanted > sizeof arena - 16) return Status::kArenaTooSmall;
  bantam::Session* session = nullptr;
  status = bantam::Session::create(model, options, arena + arena_offset, wanted - arena_less, &session);
  if (status != Status::kOk) return status;
  const int32_t ids[3] = {1, 2, 3};
  bantam::Batch batch;
  batch.ids = ids;
  batch.tokens = 3;
  return session->run(batch);
}

/// Damages single bytes of the header and the graph, `step` apart, and truncates the file. Counts the statuses.
void corrupt(size_t step) {
  if (model_size() > sizeof copy || step == 0) return;
  uint64_t data_offset;  // of the 64-byte header (schemas/bantam.fbs); the graph is before the data
  memcpy(&data_offset, bantam_model + 40, sizeof data_offset);
  uint32_t refused = 0;
  uint32_t ran = 0;
  memcpy(copy, bantam_model, model_size());
  for (size_t at = 0; at < data_offset; at += step) {
    for (const uint8_t damage : kDamage) {
      copy[at] ^= damage;
      ++(try_model(copy, model_size(), 0, 0) == Status::kOk ? ran : refused);
      copy[at] ^= damage;
    }
  }
  for (size_t size = 0; size < model_size(); size += 61 * step) {
    if (try_model(copy, size, 0, 0) == Status::kOk) put("a cut file ran\n");
  }
  put("survived ");
  bantam::test::put_number(refused);
  put(" refused, ");
  bantam::test::put_number(ran);
  put(" run\n");
}

}  // namespace

int main() {
  for (int order = bantam::test::get(); order >= 0; order = bantam::test::get()) {
    if (order == 'a') say("arena", try_model(bantam_model, model_size(), 1, 0));
    if (order == 'm') say("misaligned", try_model(bantam_model, model_size(), 0, 8));
    if (order == 'o') say("run", try_model(bantam_model, model_size(), 0, 0));
    if (order == 'c') corrupt(bantam::test::get_number());
  }
  return 0;
}
