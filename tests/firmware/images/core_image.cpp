// Opens, plans and runs without any linked operator, tokenizer or task: the core, as `./dev size` calls it. A file with
// operators gets a status.
#include "bantam/session.h"
#include "console.h"

extern "C" {
extern const uint8_t bantam_model[];
extern const uint8_t bantam_model_end[];
}

namespace {

alignas(16) [[gnu::section(".arena")]] uint8_t arena[16 * 1024];

bantam::Status run() {
  bantam::Model model;
  bantam::Fault fault;
  const bantam::Status opened =
      bantam::Model::open(bantam_model, static_cast<size_t>(bantam_model_end - bantam_model), &model, &fault);
  if (opened != bantam::Status::kOk) return opened;
  bantam::Session* session = nullptr;
  const bantam::Status created = bantam::Session::create(model, {}, arena, sizeof arena, &session, &fault);
  if (created != bantam::Status::kOk) return created;
  const int32_t id = 1;
  bantam::Batch batch;
  batch.ids = &id;
  batch.tokens = 1;
  return session->run(batch);
}

}  // namespace

int main() {
  bantam::test::put("status ");
  bantam::test::put_number(static_cast<uint32_t>(run()));
  bantam::test::put("\n");
  return 0;
}
