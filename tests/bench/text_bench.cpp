// From a sentence to its intent and slots with the model in this repository, and the time of each step.
#include <benchmark/benchmark.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <string_view>

#include "bantam/host.h"
#include "bantam/tasks.h"
#include "pipeline/convert.h"

namespace bantam::tests {
namespace {

/// Twelve words each.
constexpr std::array<std::string_view, 4> kSentences = {
    "add the next song by miles davis to my late night playlist",
    "book a table for four at an italian restaurant in boston tomorrow",
    "what time is the last tram playing at the cinema near us",
    "will it rain in the mountains north of here on friday morning",
};

/// models/voice-commands in int8, converted on first use, and a session with the default options.
class VoiceCommands {
 public:
  static VoiceCommands& get() {
    static VoiceCommands commands;
    return commands;
  }
  VoiceCommands(const VoiceCommands&) = delete;
  VoiceCommands& operator=(const VoiceCommands&) = delete;
  ~VoiceCommands() { std::free(arena_); }

  Session* session() const { return session_; }
  const Tokenizer& tokenizer() const { return *session_->tokenizer(); }

 private:
  VoiceCommands() {
    const std::filesystem::path path =
        std::filesystem::temp_directory_path() / ("text_bench_" + std::to_string(getpid()) + ".bantam");
    convert::ConvertOptions options;
    options.source = std::filesystem::path(BANTAM_SOURCE_DIR) / "models/voice-commands";
    options.output = path;
    options.parity = "none";
    convert::convert(options);
    const Status opened = file_.open(path.c_str());
    std::filesystem::remove(path);
    if (opened != Status::kOk || Model::open(file_.data(), file_.size(), &model_) != Status::kOk) std::abort();
    const size_t size = arena_bytes(model_, {});
    arena_ = std::aligned_alloc(64, (size + 63) / 64 * 64);
    if (Session::create(model_, {}, arena_, size, &session_) != Status::kOk) std::abort();
  }

  host::MappedFile file_;
  Model model_;
  void* arena_ = nullptr;
  Session* session_ = nullptr;
};

Text sentence(size_t index) {
  const std::string_view text = kSentences.at(index % kSentences.size());
  return {text.data(), text.size()};
}

void require(benchmark::State& state, Status status) {
  if (status != Status::kOk) state.SkipWithError(status_message(status));
}

struct Answer {
  LabelScore intent;
  std::array<Entity, 16> slots;
  uint32_t intents = 0;
  uint32_t count = 0;
};

Status decode(const Session& session, Text text, Answer* answer) {
  const Status status = classify(session, 0, &answer->intent, 1, &answer->intents);
  if (status != Status::kOk) return status;
  return tag(session, 0, text, answer->slots.data(), static_cast<uint32_t>(answer->slots.size()), &answer->count);
}

void BM_Tokenize(benchmark::State& state) {
  Session* session = VoiceCommands::get().session();
  size_t i = 0;
  for (auto _ : state) {
    session->clear();
    require(state, session->add(sentence(i++), {}, {}));
  }
}
BENCHMARK(BM_Tokenize);

void BM_Forward(benchmark::State& state) {
  Session* session = VoiceCommands::get().session();
  session->clear();
  require(state, session->add(sentence(0), {}, {}));
  for (auto _ : state) require(state, session->run());
}
BENCHMARK(BM_Forward);

/// Returns the session with the outputs of the first sentence.
Session* session_after_run(benchmark::State& state) {
  Session* session = VoiceCommands::get().session();
  session->clear();
  require(state, session->add(sentence(0), {}, {}));
  require(state, session->run());
  return session;
}

void BM_Classify(benchmark::State& state) {
  Session* session = session_after_run(state);
  Answer answer;
  for (auto _ : state) require(state, classify(*session, 0, &answer.intent, 1, &answer.intents));
}
BENCHMARK(BM_Classify);

void BM_Tag(benchmark::State& state) {
  Session* session = session_after_run(state);
  Answer answer;
  for (auto _ : state) require(state, tag(*session, 0, sentence(0), answer.slots.data(), 16, &answer.count));
}
BENCHMARK(BM_Tag);

void BM_TextToIntentAndSlots(benchmark::State& state) {
  Session* session = VoiceCommands::get().session();
  Answer answer;
  size_t i = 0;
  for (auto _ : state) {
    const Text text = sentence(i++);
    session->clear();
    require(state, session->add(text, {}, {}));
    require(state, session->run());
    require(state, decode(*session, text, &answer));
    benchmark::DoNotOptimize(answer);
  }
}
BENCHMARK(BM_TextToIntentAndSlots);

}  // namespace
}  // namespace bantam::tests
