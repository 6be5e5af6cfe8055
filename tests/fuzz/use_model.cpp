#include "tests/fuzz/use_model.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>
#include <random>

#include "bantam/beams.h"
#include "bantam/constraint.h"
#include "bantam/generation.h"
#include "bantam/sampling.h"
#include "bantam/steps.h"
#include "tests/fuzz/arena_guard.h"
#include "tests/session/exercise.h"

namespace bantam::fuzz {
namespace {

using testing::Transcript;

constexpr const char* kTexts[] = {
    "Turn the lights on in the kitchen, \xE4\xBD\xA0\xE5\xA5\xBD \xFF!",
    "",
    "play [MASK] some jazz [MASK] <mask>",
    "a",
    "the the the the the the the the the the the the the the the",
    "caf\xC3\xA9 \xCC\x81\xCC\x80 \xF0\x9D\x85\x9E \xEA\xB0\x81 \xC4\xB0 <0x41>",
    "in in in  in\tin\nin [CLS] [SEP] [PAD] </s> <s>",
    "\x80\x80\x80\xF0\x90",
    "Supercalifragilisticexpialidocious2345678901234567890123456789012345678901234567890123",
    "{\"a\": [1, 2"};

Text text_of(const char* text) { return {text, std::strlen(text)}; }

/// Memory of exactly this size, filled with `fill`.
struct Memory {
  Memory(size_t size, uint8_t fill) : bytes(static_cast<uint8_t*>(::operator new (size, std::align_val_t{64}))) {
    std::memset(bytes, fill, size);
  }
  ~Memory() { ::operator delete (bytes, std::align_val_t{64}); }
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;
  uint8_t* bytes;
};

/// The ids of sequences.
struct Rows {
  std::vector<int32_t> ids, segments, marks;
  std::vector<uint32_t> offsets = {0}, contexts, sources, wanted;
  Batch batch;
};

class User {
 public:
  User(const Model& model, Session* session, uint64_t number, Transcript* said)
      : model_(model), session_(*session), random_(number), said_(*said), guard_(session) {
    const uint32_t width = model.feature_width();
    features_.resize(width > (1U << 12) ? 0 : size_t{96} * width);
    for (size_t i = 0; i < features_.size(); ++i) features_[i] = static_cast<float>(i % 17) / 8 - 1;
  }

  void use() {
    if (has_sources() && !chance(8)) encode();
    for (uint32_t round = 0; round < 2; ++round) {
      run_ids();
      if (has_sources() && chance(2)) encode();
    }
    if (session_.max_context() != 0) {
      generate();
      search();
    }
    for (uint32_t round = 0; round < 2 && model_.has_tokenizer(); ++round) run_texts();
  }

 private:
  uint32_t below(uint64_t n) { return n == 0 ? 0 : static_cast<uint32_t>(random_() % n); }
  bool chance(uint32_t one_in) { return below(one_in) == 0; }
  bool has_sources() const { return model_.source_vocabulary() != 0; }
  bool has_chunks() const { return model_.chunk_tokens() != 0; }

  Status told(Status status) {
    guard_.lift();
    said_.put(status);
    return status;
  }

  void put_rows(const OutputView& view) {
    for (uint32_t row = 0; row < view.rows; ++row) said_.put(view.data + row * view.stride, view.width * sizeof(float));
  }

  /// Records all rows of each output or, if an output has only some rows, the rows of each sequence.
  void put_outputs() {
    for (uint32_t i = 0; i < model_.output_count(); ++i) {
      OutputView view;
      const Status whole = told(session_.output(i, &view));
      if (whole == Status::kOk) put_rows(view);
      for (uint32_t sequence = 0; whole != Status::kOk && sequence < session_.sequence_count(); ++sequence) {
        if (told(session_.output(i, sequence, &view)) == Status::kOk) put_rows(view);
      }
    }
  }

  void fill(uint32_t vocabulary, uint32_t most, uint32_t longest, uint32_t most_sequences, Rows* rows) {
    const uint32_t sequences = 1 + below(most_sequences);
    if (chance(3)) longest = 1;  // so that there are many sequences
    for (uint32_t i = 0; i < sequences && rows->ids.size() < most; ++i) {
      const auto left = static_cast<uint32_t>(most - rows->ids.size());
      for (uint32_t n = 1 + below(std::min(left, longest)); n > 0; --n) {
        rows->ids.push_back(static_cast<int32_t>(random_() % std::max(1U, vocabulary)));
        rows->segments.push_back(static_cast<int32_t>(below(model_.segment_types())));
        rows->marks.push_back(static_cast<int32_t>(below(model_.mark_types())));
      }
      rows->offsets.push_back(static_cast<uint32_t>(rows->ids.size()));
    }
    rows->batch.ids = rows->ids.data();
    rows->batch.segments = rows->segments.data();
    rows->batch.marks = rows->marks.data();
    rows->batch.offsets = rows->offsets.data();
    rows->batch.sequences = static_cast<uint32_t>(rows->offsets.size() - 1);
    rows->batch.tokens = rows->offsets.back();
  }

  /// Returns the tokens of all contexts.
  std::vector<int32_t> kept() const {
    std::vector<int32_t> all;
    for (uint32_t i = 0; session_.max_context() != 0 && i < session_.max_sequences(); ++i) {
      const uint32_t length = session_.context_length(i);
      if (length > session_.max_context()) std::abort();
      all.push_back(static_cast<int32_t>(length));
      all.insert(all.end(), session_.context_ids(i), session_.context_ids(i) + length);
    }
    return all;
  }

  /// Encodes sources and checks that contexts keep their tokens.
  void encode() {
    const std::vector<int32_t> before = kept();
    encode_sources();
    if (kept() != before) {
      std::fprintf(stderr, "structure: a pass over sources changed contexts\n");
      std::abort();
    }
  }

  void encode_sources() {
    Rows rows;
    fill(model_.source_vocabulary(), session_.max_source(), session_.max_source(), session_.max_sources() + 1, &rows);
    if (!features_.empty()) rows.batch.features = features_.data();
    if (told(session_.encode(rows.batch)) != Status::kOk) return;
    ++done.sources;
    put_outputs();
  }

  Status run(const Batch& batch) {
    if (!chance(4)) return told(session_.run(batch));
    SteppedRun run;
    bool ended = false;
    Status status = SteppedRun::begin(&session_, batch, &run);
    while (status == Status::kOk && !ended) {
      status = run.advance(1 + below(5), &ended);
      guard_.lift();
    }
    ++done.steps;
    return told(status);
  }

  void run_ids() {
    Rows rows;
    const uint32_t longest =
        std::min(model_.max_sequence() == 0 ? UINT32_MAX : model_.max_sequence(), session_.max_tokens());
    fill(model_.vocabulary(), session_.max_tokens(), longest, session_.max_sequences(), &rows);
    Batch& batch = rows.batch;
    if (!features_.empty() && !has_chunks()) batch.features = features_.data();
    batch.last_rows = chance(3);
    batch.listed = chance(3);
    if (session_.max_context() != 0 && chance(2)) {
      for (uint32_t i = 0; i < batch.sequences; ++i) rows.contexts.push_back(i + below(2));
      batch.contexts = rows.contexts.data();
    }
    if (has_sources() && chance(2)) {
      for (uint32_t i = 0; i < batch.sequences; ++i)
        rows.sources.push_back(chance(8) ? kNoSource : below(session_.max_sources()));
      batch.sources = rows.sources.data();
    }
    if (chance(3)) {
      for (uint32_t row = 0; row < batch.tokens; ++row) {
        if (chance(3)) rows.wanted.push_back(row);
      }
      batch.rows = rows.wanted.empty() ? nullptr : rows.wanted.data();
      batch.row_count = static_cast<uint32_t>(rows.wanted.size());
    }
    if (run(batch) != Status::kOk) return;
    ++done.runs;
    put_outputs();
    testing::ask_tasks(model_, session_, {}, &said_);
    if (session_.max_context() == 0) return;
    const uint32_t n = session_.max_sequences();
    const std::vector<uint32_t> from = {below(n), below(n), below(n), below(n)};
    said_.put(session_.truncate(below(n), below(8)));
    said_.put(session_.reorder_contexts(from.data(), std::min(n, 4U)));
    said_.put(session_.copy_context(below(n), below(n)));
  }

  void forget() {
    for (uint32_t i = 0; i < session_.max_sequences(); ++i) session_.truncate(i, 0);
  }

  /// Sets up a JSON constraint after a prompt of token 0; returns false if the file has no tokenizer for it.
  bool constrain(JsonText* json, Constraint* out) {
    static constexpr JsonField kFields[2] = {{{"name", 4}, JsonKind::kString}, {{"n", 1}, JsonKind::kInteger}};
    const int32_t prompt = 0;
    JsonOptions options;
    options.fields = chance(2) ? nullptr : kFields;
    options.field_count = options.fields == nullptr ? 0 : 2;
    options.depth = 1 + below(10);
    if (!model_.has_tokenizer() || Tokenizer::open(model_, 0, &tokenizer_) != Status::kOk) return false;
    if (told(json->open(tokenizer_, options, end_tokens(model_), &prompt, 1)) != Status::kOk) return false;
    *out = json->constraint();
    ++done.json;
    return true;
  }

  void generate() {
    forget();
    JsonText json;
    Constraint constraint;
    Sampling sampling;
    sampling.temperature = chance(2) ? 0.0F : 0.8F;
    sampling.top_k = below(6);
    sampling.top_p = chance(2) ? 1.0F : 0.9F;
    sampling.no_repeat_ngram = below(4);
    sampling.repetition_penalty = 1.1F;
    sampling.log_probability = true;
    sampling.seed = random_();
    if (chance(3) && constrain(&json, &constraint)) sampling.constraint = &constraint;
    sampling.prompt = 1;
    sampling.max_new = session_.max_context() - 1;
    auto id = static_cast<int32_t>(sampling.constraint != nullptr ? 0 : below(model_.vocabulary()));
    const uint32_t source = 0;
    for (uint32_t step = 0; step < 6; ++step) {
      Batch batch;
      batch.ids = &id;
      batch.tokens = 1;
      batch.last_rows = true;
      batch.sources = has_sources() && !has_chunks() ? &source : nullptr;
      if (!features_.empty() && !has_chunks()) batch.features = features_.data();
      NextToken next;
      if (run(batch) != Status::kOk || told(next_token(session_, 0, sampling, &next)) != Status::kOk) return;
      ++done.chosen;
      said_.put(next.id);
      said_.put(next.log_probability);
      id = next.id;
    }
  }

  void search() {
    BeamOptions options;
    Generation stored;
    JsonText json;
    Constraint constraint;
    if (chance(2) && generation(model_, below(generation_count(model_)), &stored) == Status::kOk)
      options = stored.beams;
    options.beams = std::min(session_.max_sequences(), 1 + below(4));
    if (chance(2)) options.max_new = 1 + below(8);
    options.early_stopping = static_cast<EarlyStopping>(below(3));
    if (chance(3) && constrain(&json, &constraint)) {
      options.constraint = &constraint;
      options.first_id = -1;
    }
    const size_t size = BeamSearch::bytes(session_, options);
    if (size == 0 || size > testing::kLargestArena) return;
    const Memory memory(size, 0x5A);
    BeamSearch search;
    const int32_t prompt[2] = {0, static_cast<int32_t>(model_.vocabulary() / 2)};
    Status status = told(search.begin(&session_, options, prompt, options.constraint != nullptr ? 1 : 1 + below(2), 0,
                                      memory.bytes, size));
    bool ended = false;
    for (uint32_t step = 0; step < 8 && status == Status::kOk && !ended; ++step) status = told(search.step(&ended));
    done.beams += status == Status::kOk ? 1 : 0;
    for (uint32_t rank = 0; rank < search.count(); ++rank) {
      const BeamText text = search.text(rank);
      said_.put(text.ids, text.count * sizeof(int32_t));
      said_.put(text.score);
    }
  }

  void add_text(uint32_t sequence) {
    const Text first = text_of(kTexts[below(std::size(kTexts))]), second = text_of(kTexts[below(std::size(kTexts))]);
    EncodeOptions options;
    options.skip = chance(4) ? below(6) : 0;
    options.max_tokens = chance(2) ? below(12) : 0;
    options.add_special = !chance(6);
    options.truncation = static_cast<TruncationSide>(below(5));
    if (chance(4)) {
      const Text labels[2] = {text_of("person"), second};
      told(session_.add_labelled(first, labels, below(3), options));
    } else if (chance(4)) {
      std::vector<int32_t> ids(64);
      std::vector<Offset> offsets(64);
      EncodeOptions all;
      all.add_special = false;
      all.max_tokens = 64;
      const TokenBuffer buffer = {ids.data(), nullptr, offsets.data(), nullptr, 64};
      EncodeResult result;
      const Tokenizer* tokenizer = session_.tokenizer();
      if (tokenizer == nullptr || tokenizer->encode(first, {}, all, buffer, &result) != Status::kOk) return;
      told(session_.add(TextTokens{ids.data(), offsets.data(), result.count}, nullptr, options));
    } else {
      told(session_.add(first, chance(2) ? Text{} : second, options));
    }
    if (!chance(3)) return;
    bool found = false;
    const uint32_t begin = below(8);
    said_.put(session_.mark(sequence, chance(2), {begin, begin + 1 + below(12)},
                            static_cast<int32_t>(below(model_.mark_types() + 1)), &found));
  }

  void run_texts() {
    session_.clear();
    const uint32_t most = std::max(session_.max_sequences(), session_.max_sources());
    for (uint32_t n = 1 + below(most + 1), i = 0; i < n; ++i) add_text(i);
    for (uint32_t i = 0; i < session_.sequence_count(); ++i) {
      const EncodedSequence encoded = session_.sequence(i);
      said_.put(encoded.ids, encoded.row_count * sizeof(int32_t));
      if (encoded.offsets != nullptr) said_.put(encoded.offsets, encoded.row_count * sizeof(Offset));
    }
    const uint32_t how = below(6);
    if (told(how == 0                    ? session_.run_masks()
             : how == 1 && has_sources() ? session_.encode()
                                         : session_.run()) != Status::kOk)
      return;
    ++done.texts;
    put_outputs();
    testing::ask_tasks(model_, session_, text_of(kTexts[below(std::size(kTexts))]), &said_);
  }

  const Model& model_;
  Session& session_;
  std::mt19937_64 random_;
  Transcript& said_;
  ArenaGuard guard_;
  Tokenizer tokenizer_;
  std::vector<float> features_;
};

/// Returns small options of every kind.
SessionOptions options_of(const Model& model, uint64_t number, Isa isa) {
  std::mt19937_64 random(number ^ 0x9E3779B97F4A7C15U);
  const auto below = [&](uint32_t n) { return static_cast<uint32_t>(random() % n); };
  constexpr uint32_t kTiles[] = {0, 4, 8, 16, 32, 64};
  SessionOptions options;
  options.max_tokens = 1 + below(40);
  options.max_sequences = 1 + below(4);
  options.tile_rows = kTiles[below(std::size(kTiles))];
  options.block_rows = below(17);
  options.f32_attention = below(6) == 0;
  options.text_offsets = below(5) != 0;
  options.isa = isa;
  if (model.source_vocabulary() != 0) {
    constexpr uint32_t kMost = 90;
    options.max_source = 1 + below(model.max_source() == 0 ? kMost : std::min(model.max_source(), kMost));
    options.max_sources = below(kMost);
  }
  if (below(4) == 0) {
    options.scored_rows = 1 + below(8);
    if (arena_bytes(model, options) == 0) options.scored_rows = 0;
  }
  options.max_context = 2 + below(24);
  if (arena_bytes(model, options) == 0) options.max_context = 0;
  return options;
}

}  // namespace

Done done;

Used use_model(const Model& model, uint64_t number, Isa isa, uint8_t fill) {
  const SessionOptions options = options_of(model, number, isa);
  const size_t size = arena_bytes(model, options);
  Session* session = nullptr;
  Used used;
  used.created = Status::kArenaTooSmall;
  if (size == 0 || size > testing::kLargestArena) return used;
  const Memory arena(size, fill);
  used.created = Session::create(model, options, arena.bytes, size, &session);
  Transcript said;
  said.put(used.created);
  const uint64_t before = done.runs + done.texts + done.chosen;
  if (used.created == Status::kOk) User(model, session, number, &said).use();
  used.ran = done.runs + done.texts + done.chosen != before;
  used.hash = said.hash();
  return used;
}

}  // namespace bantam::fuzz
