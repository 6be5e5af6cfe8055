// guess_costs FILE [GUESSES [SHARE [CONTEXT]]]: times a decoder with and without guesses of tokens, in turns, and
// prints one line of JSON. In each pass GUESSES (4) tokens are guessed, each rightly with the probability SHARE (0.7),
// whatever the model is: `plain_ms` and `guessed_ms` are milliseconds a token, `pass_ms` and `step_ms` those of a pass
// of GUESSES + 1 rows and of one row. The least of the rounds counts. CONTEXT (64) tokens precede. One thread.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <vector>

#include "bantam/sampling.h"
#include "base/status_error.h"
#include "run/engine.h"

namespace bantam::convert {
namespace {

constexpr uint32_t kTokens = 96, kRounds = 7;

double milliseconds_since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count();
}

class Bench {
 public:
  Bench(const ModelFile& file, uint32_t guesses, double share, uint32_t context)
      : file_(file), engine_(file, options(context)), guesses_(guesses), share_(share) {
    for (uint32_t i = 0; i < context; ++i) prompt_.push_back(static_cast<int32_t>(i * 7919 % vocabulary()));
  }

  void print() {
    double plain = 1e9, guessed = 1e9, step = 1e9, pass = 1e9;
    uint32_t passes = 0;
    for (uint32_t round = 0; round < kRounds; ++round) {
      plain = std::min(plain, make(0, &passes) / kTokens);
      guessed = std::min(guessed, make(guesses_, &passes) / kTokens);
      step = std::min(step, rows(1));
      pass = std::min(pass, rows(guesses_ + 1));
    }
    std::printf(
        "{\"plain_ms\": %.4f, \"guessed_ms\": %.4f, \"tokens_ratio\": %.3f, \"passes_per_token\": %.3f, "
        "\"step_ms\": %.4f, \"pass_ms\": %.4f, \"pass_ratio\": %.3f}\n",
        plain, guessed, plain / guessed, static_cast<double>(passes) / kTokens, step, pass, pass / step);
  }

 private:
  static EngineOptions options(uint32_t context) {
    EngineOptions options;
    options.max_context = context + 2 * kTokens;
    options.max_tokens = std::max(context, 64U);
    return options;
  }
  uint32_t vocabulary() const { return engine_.model().vocabulary(); }

  void run(const int32_t* ids, uint32_t count) {
    Batch batch;
    batch.ids = ids;
    batch.tokens = count;
    batch.last_rows = count == 1;
    check(engine_.session().run(batch), file_.path());
  }
  int32_t choose(uint32_t row) {
    NextToken next;
    check(next_token(engine_.session(), 0, row, {}, &next), file_.path());
    return next.id;
  }
  void begin() {
    check(engine_.session().truncate(0, 0), file_.path());
    run(prompt_.data(), static_cast<uint32_t>(prompt_.size()));
  }
  bool guesses_right() { return static_cast<double>(choice_number(1, drawn_++)) < share_; }

  /// Returns the milliseconds of kTokens tokens. The first call knows no text yet and makes it without guesses.
  double make(uint32_t guesses, uint32_t* passes) {
    begin();
    std::vector<int32_t> made = {choose(static_cast<uint32_t>(prompt_.size()) - 1)}, ids;
    uint32_t done = 0;
    drawn_ = 0;
    const auto from = std::chrono::steady_clock::now();
    while (made.size() <= kTokens) {
      ids.assign(1, made.back());
      for (uint32_t i = 0; i < guesses && made.size() + i < text_.size(); ++i) {
        const int32_t right = text_[made.size() + i];
        ids.push_back(guesses_right() ? right : (right + 1) % static_cast<int32_t>(vocabulary()));
      }
      run(ids.data(), static_cast<uint32_t>(ids.size()));
      ++done;
      uint32_t kept = 0;
      made.push_back(choose(0));
      while (kept + 1 < ids.size() && made.back() == ids[kept + 1]) made.push_back(choose(++kept));
      const uint32_t wrong = static_cast<uint32_t>(ids.size()) - 1 - kept;
      Session& session = engine_.session();
      if (wrong != 0) check(session.truncate(0, session.context_length(0) - wrong), file_.path());
    }
    const double time = milliseconds_since(from) * kTokens / static_cast<double>(made.size() - 1);
    if (guesses == 0) text_ = made;
    *passes = done;
    return time;
  }

  double rows(uint32_t count) {
    begin();
    std::vector<int32_t> ids(prompt_.begin(), prompt_.begin() + count);
    double least = 1e9;
    for (uint32_t i = 0; i < 16; ++i) {
      const auto from = std::chrono::steady_clock::now();
      run(ids.data(), count);
      least = std::min(least, milliseconds_since(from));
      check(engine_.session().truncate(0, static_cast<uint32_t>(prompt_.size())), file_.path());
    }
    return least;
  }

  const ModelFile& file_;
  Engine engine_;
  uint32_t guesses_;
  double share_;
  uint32_t drawn_ = 0;
  std::vector<int32_t> prompt_, text_;
};

}  // namespace
}  // namespace bantam::convert

int main(int argc, char** argv) {
  if (argc < 2 || argc > 5) {
    std::fprintf(stderr, "guess_costs FILE [GUESSES [SHARE [CONTEXT]]]\n");
    return 2;
  }
  try {
    const auto number = [&](int i, double otherwise) { return argc > i ? std::atof(argv[i]) : otherwise; };
    const bantam::convert::ModelFile file(argv[1]);
    bantam::convert::Bench(file, static_cast<uint32_t>(number(2, 4)), number(3, 0.7),
                           static_cast<uint32_t>(number(4, 64)))
        .print();
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "guess_costs: %s\n", error.what());
    return 1;
  }
}
