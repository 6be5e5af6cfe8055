// Model files whose tables were changed (model_mutator.h). Whatever opens is used in every way (use_model.h), and must
// give the same results on every instruction set and for every previous content of the arena. At the end the target
// prints how many files it opened and ran.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include "format/verify_data.h"
#include "tests/every_isa.h"
#include "tests/fuzz/model_mutator.h"
#include "tests/fuzz/use_model.h"

namespace {

using bantam::Isa;

/// The file in memory of exactly its size, so that sanitizers detect reading the first byte beyond it.
struct Aligned {
  Aligned(const uint8_t* data, size_t size)
      : bytes(static_cast<uint8_t*>(::operator new (size == 0 ? 1 : size, std::align_val_t{64}))) {
    if (size != 0) std::memcpy(bytes, data, size);
  }
  ~Aligned() { ::operator delete (bytes, std::align_val_t{64}); }
  Aligned(const Aligned&) = delete;
  Aligned& operator=(const Aligned&) = delete;
  uint8_t* bytes;
};

const std::vector<Isa>& isas() {
  static const std::vector<Isa> all = [] {
    std::vector<Isa> found;
    for (const Isa isa : bantam::testing::every_isa()) {
      if (bantam::isa_available(isa)) found.push_back(isa);
    }
    return found;
  }();
  return all;
}

/// Returns two of this machine's instruction sets. The reference kernels (the first) are several times slower than the
/// others, so they are one of the two only every eighth time.
std::pair<Isa, Isa> two_isas(uint64_t number) {
  const size_t count = isas().size(), fast = count - 1;
  if (fast == 0) return {isas()[0], isas()[0]};
  const size_t one = 1 + number / 8 % fast;
  return {isas()[number % 8 == 0 ? 0 : one], isas()[number % 8 == 0 ? one : 1 + (one + number / 64) % fast]};
}

uint64_t number_of(const uint8_t* data, size_t size) {
  uint64_t hash = 0xCBF29CE484222325U;
  for (size_t i = 0; i + 8 <= size; i += 8) {
    uint64_t word;
    std::memcpy(&word, data + i, sizeof(word));
    hash = (hash ^ word) * 0x9E3779B97F4A7C15U;
    hash ^= hash >> 32;
  }
  return hash;
}

[[noreturn]] void differs(const char* what, Isa isa) {
  std::fprintf(stderr, "structure: answers depend on %s (%s)\n", what, bantam::isa_name(isa));
  std::abort();
}

void tell() {
  using bantam::fuzz::done;
  const auto all = [](uint64_t n) { return static_cast<unsigned long long>(n); };
  std::printf(
      "structure: %llu inputs, %llu opened, %llu sound, %llu ran: %llu runs, %llu in steps, %llu passes over sources, "
      "%llu tokens chosen, %llu searches, %llu constraints, %llu batches of texts\n",
      all(done.inputs), all(done.opened), all(done.sound), all(done.ran), all(done.runs), all(done.steps),
      all(done.sources), all(done.chosen), all(done.beams), all(done.json), all(done.texts));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using bantam::fuzz::done;
  static const int registered = std::atexit(tell);
  static_cast<void>(registered);
  ++done.inputs;
  const Aligned file(data, size);
  bantam::Model model;
  if (bantam::Model::open(file.bytes, size, &model) != bantam::Status::kOk) return 0;
  ++done.opened;
  std::vector<std::string> problems;
  bantam::convert::verify_data(model, &problems);
  done.sound += problems.empty() ? 1U : 0U;
  const uint64_t number = number_of(data, size);
  const auto [isa, other] = two_isas(number / 7);
  const bantam::fuzz::Used one = bantam::fuzz::use_model(model, number, isa, 0);
  done.ran += one.ran ? 1 : 0;
  if (one.created != bantam::Status::kOk) return 0;
  // Answers of an unsound file may differ between instruction sets, but must not depend on the previous content of the
  // arena.
  const bool sound = problems.empty();
  const bantam::fuzz::Used two = bantam::fuzz::use_model(model, number, sound ? other : isa, 0xFF);
  if (one.hash == two.hash) return 0;
  if (bantam::fuzz::use_model(model, number, isa, 0xFF).hash != one.hash) differs("what the arena held", isa);
  differs("the instruction set", other);
}

#if defined(BANTAM_FUZZERS)
extern "C" size_t LLVMFuzzerMutate(uint8_t* data, size_t size, size_t most);

namespace {

size_t put(const std::optional<std::vector<uint8_t>>& made, uint8_t* out, size_t most) {
  if (!made || made->size() > most) return 0;
  std::memcpy(out, made->data(), made->size());
  return made->size();
}

}  // namespace

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t most, unsigned int seed) {
  const std::vector<uint8_t> file(data, data + size);
  const size_t made = seed % 16 == 0 ? 0 : put(bantam::fuzz::mutate_model(file, file, seed, most), data, most);
  return made != 0 ? made : LLVMFuzzerMutate(data, size, most);
}

extern "C" size_t LLVMFuzzerCustomCrossOver(const uint8_t* first, size_t first_size, const uint8_t* second,
                                            size_t second_size, uint8_t* out, size_t most, unsigned int seed) {
  return put(bantam::fuzz::mutate_model({first, first + first_size}, {second, second + second_size}, seed, most), out,
             most);
}
#endif
