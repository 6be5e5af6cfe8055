// intent FILE TEXT: prints the intent and the slots of a command.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>

#include "bantam/host.h"
#include "bantam/tasks.h"

static void check(bantam::Status status, const char* what) {
  if (status == bantam::Status::kOk) return;
  std::fprintf(stderr, "%s: %s\n", what, bantam::status_message(status));
  std::exit(1);
}

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  const bantam::Text text{argv[2], std::strlen(argv[2])};

  bantam::host::MappedFile file;
  check(file.open(argv[1]), argv[1]);
  bantam::Model model;  // a verified view of the file's bytes, which outlive it
  check(bantam::Model::open(file.data(), file.size(), &model), argv[1]);

  const bantam::SessionOptions options;
  const size_t size = bantam::arena_bytes(model, options);  // exact
  void* arena = ::operator new(size, std::align_val_t(64));
  bantam::Session* session = nullptr;
  check(bantam::Session::create(model, options, arena, size, &session), "session");

  check(session->add(text, {}, {}), "tokenize");
  check(session->run(), "run");

  uint32_t count = 0, holds = 0;
  bantam::LabelScore intent;
  check(bantam::classify(*session, 0, &intent, 1, &count, &holds), "classify");
  if (holds == 0) std::printf("out of scope: ");  // the score is under the file's limit
  const bantam::Text label = model.label(0, intent.label);
  std::printf("%.*s %.3f\n", static_cast<int>(label.size), label.data, static_cast<double>(intent.score));

  bantam::Entity slots[16];
  check(bantam::tag(*session, 0, text, slots, 16, &count), "tag");
  for (uint32_t i = 0; i < count; i++) {
    const bantam::Offset span = slots[i].span;  // bytes of the text
    std::printf("  %.*s: %.*s\n", static_cast<int>(slots[i].name.size), slots[i].name.data,
                static_cast<int>(span.end - span.begin), text.data + span.begin);
  }
  ::operator delete(arena, std::align_val_t(64));
}
