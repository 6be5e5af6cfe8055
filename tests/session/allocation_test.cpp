// Nothing in open, create, tokenize, run or the task heads allocates. This program replaces malloc and related
// functions; while a Ban exists, calling one ends the program.
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "bantam/tasks.h"
#include "tests/session/run_helpers.h"
#include "tests/session/tokenizer_model.h"

namespace {

thread_local bool allocation_is_banned = false;

void check(const char* function) {
  if (!allocation_is_banned) return;
  allocation_is_banned = false;
  std::fprintf(stderr, "%s was called where nothing may allocate\n", function);
  std::abort();
}

class Ban {
 public:
  Ban() { allocation_is_banned = true; }
  ~Ban() { allocation_is_banned = false; }
  Ban(const Ban&) = delete;
  Ban& operator=(const Ban&) = delete;
};

}  // namespace

extern "C" {
void* __libc_malloc(size_t size);                      // NOLINT(bugprone-reserved-identifier)
void* __libc_calloc(size_t count, size_t size);        // NOLINT(bugprone-reserved-identifier)
void* __libc_realloc(void* old, size_t size);          // NOLINT(bugprone-reserved-identifier)
void* __libc_memalign(size_t alignment, size_t size);  // NOLINT(bugprone-reserved-identifier)
void __libc_free(void* block);                         // NOLINT(bugprone-reserved-identifier)

void* malloc(size_t size) {
  check("malloc");
  return __libc_malloc(size);
}
void* calloc(size_t count, size_t size) {
  check("calloc");
  return __libc_calloc(count, size);
}
void* realloc(void* old, size_t size) {
  check("realloc");
  return __libc_realloc(old, size);
}
void* aligned_alloc(size_t alignment, size_t size) {
  check("aligned_alloc");
  return __libc_memalign(alignment, size);
}
int posix_memalign(void** out, size_t alignment, size_t size) {
  check("posix_memalign");
  *out = __libc_memalign(alignment, size);
  return 0;
}
void free(void* block) {
  if (block != nullptr) check("free");
  __libc_free(block);
}
}  // extern "C"

namespace bantam::testing {
namespace {

TEST(Allocation, TheBanWorks) {
  EXPECT_DEATH(
      {
        const Ban ban;
        volatile int* leaked = new int(1);
        std::fprintf(stderr, "%d", *leaked);
      },
      "malloc was called");
}

struct NoAllocationCase {
  const char* name;
  WeightType type;
  bool f32_attention;
};

class NoAllocation : public ::testing::TestWithParam<NoAllocationCase> {};

TEST_P(NoAllocation, FromOpenToTheAnswer) {
  const FileBytes file(model_with_tokenizer(GetParam().type));
  const std::string text =
      "Schalte das Licht in der K\xC3\xBC"
      "che an, \xE4\xBD\xA0\xE5\xA5\xBD!";
  const Ids ids = random_ids({40, 9}, 211, 2, 3);
  const Batch batch = ids.batch();
  SessionOptions options;
  options.max_tokens = 96;
  options.max_sequences = 3;
  options.f32_attention = GetParam().f32_attention;
  Arena arena(size_t{4} << 20);
  Model model;
  Session* session = nullptr;
  Status opened, created, ran_ids, added, ran_text, classified, encoded;
  LabelScore scores[3];
  uint32_t count = 0;
  OutputView view;
  int32_t token_ids[64];
  EncodeResult result;
  {
    const Ban ban;
    opened = Model::open(file.data(), file.size(), &model);
    created = Session::create(model, options, arena.data(), arena_bytes(model, options), &session);
    ran_ids = session->run(batch);
    session->clear();
    added = session->add({text.data(), text.size()}, {text.data(), 10}, {});
    ran_text = session->run();
    classified = classify(*session, 0, scores, 3, &count);
    session->output(1, 0, &view);
    TokenBuffer buffer;
    buffer.ids = token_ids;
    buffer.capacity = 64;
    encoded = session->tokenizer()->encode({text.data(), text.size()}, {}, {}, buffer, &result);
  }
  EXPECT_EQ(opened, Status::kOk);
  EXPECT_EQ(created, Status::kOk);
  EXPECT_EQ(ran_ids, Status::kOk);
  EXPECT_EQ(added, Status::kOk);
  EXPECT_EQ(ran_text, Status::kOk);
  EXPECT_EQ(classified, Status::kOk);
  EXPECT_EQ(encoded, Status::kOk);
  EXPECT_EQ(count, 3u);
  EXPECT_GT(result.count, 5u);
}

INSTANTIATE_TEST_SUITE_P(All, NoAllocation,
                         ::testing::Values(NoAllocationCase{"f32", WeightType::kF32, false},
                                           NoAllocationCase{"int8", WeightType::kI8, false},
                                           NoAllocationCase{"f32_attention", WeightType::kI8, true}),
                         [](const auto& one) { return one.param.name; });

}  // namespace
}  // namespace bantam::testing
