#include "run/engine.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "bantam/host.h"
#include "bantam/tasks.h"
#include "base/own_program.h"
#include "base/regular_file.h"
#include "base/status_error.h"
#include "base/suggest.h"
#include "format/bundle.h"
#include "format/verify_data.h"
#include "format/view.h"
#include "index_generated.h"
#include "session/layout.h"

namespace bantam::convert {
namespace {

/// Returns the instruction set of --isa, else of BANTAM_ISA, else the best available.
Isa choose_isa(const std::string& option) {
  const char* environment = std::getenv("BANTAM_ISA");
  const bool from_option = !option.empty();
  const std::string name = from_option ? option : (environment != nullptr ? environment : "");
  if (name.empty() || name == "auto") return Isa::kAuto;
  const char* where = from_option ? "--isa" : "BANTAM_ISA";
  Isa isa = Isa::kAuto;
  if (!isa_parse({name.data(), name.size()}, &isa)) {
    fail(ExitCode::kUsage, "{}: there is no instruction set \"{}\"; bantam version lists them", where, name);
  }
  if (!isa_available(isa)) {
    fail(ExitCode::kUnsupported, "{} {}: not on this machine or not in this build; bantam version lists what is", where,
         name);
  }
  return isa;
}

/// Limits threads to the number of processors, because more would gain nothing.
uint32_t threads_to_use(uint32_t wanted) {
  if (wanted == 1) return 1;  // counting the processors takes system calls
  const uint32_t most = host::processors();
  return wanted == 0 ? most : std::min(wanted, most);
}

/// Checks the stored sums of the weights. Model::open does not read the weights, and kernels with unsigned activations
/// use the sums, so wrong sums would give different answers on another processor. O(bytes of weights): a few
/// milliseconds.
void check_weights(const ModelFile& file) {
  std::vector<std::string> problems;
  verify_data(file.model(), &problems);
  if (problems.empty()) return;
  fail(ExitCode::kInvalid, "{}: {}; bantam verify says what else is wrong", file.path(), problems.front());
}

/// The default number of rows of a tile in SessionOptions, and the largest number of tiles in a packed run.
constexpr uint32_t kTileRows = 128;
constexpr uint32_t kMostTiles = 16;

/// Returns the number of rows of a session for one text (SessionOptions::max_tokens).
uint32_t longest_text(const Model& model) { return model.max_sequence() != 0 ? model.max_sequence() : 512; }

}  // namespace

struct ModelFile::Mapping {
  host::MappedFile file;
};

namespace {

/// Returns true for a file that bantam index wrote, by its first bytes.
bool is_index(const uint8_t* data, size_t size) {
  return size >= 8 && flatbuffers::BufferHasIdentifier(data, fb::SearchIndexIdentifier());
}

[[noreturn]] void fail_to_open(const std::string& path, const uint8_t* data, size_t size, Status status,
                               const Fault& fault) {
  if (status == Status::kNotAModel && is_index(data, size)) {
    fail(ExitCode::kInvalid,
         "{0}: is an index of texts, not a model; bantam search FILE.bantam {0} QUERY searches it, with the model "
         "that made it",
         path);
  }
  throw Error(exit_code(status), fmt::format("{}: {}", path, describe(status, fault)));
}

/// Refuses a file that begins neither as a model nor as a program before reading it, whatever its size.
void refuse_other_file(const std::string& path) {
  constexpr size_t kFirst = 64;
  alignas(16) std::array<uint8_t, kFirst> first{};
  size_t size = 0;
  try {
    size = RegularFile(path).read(first.data(), first.size());
  } catch (const Error&) {
    return;  // opening the file gives a better message
  }
  Model none;
  Fault fault;
  const Status status = Model::open(first.data(), size, &none, &fault);
  if (status == Status::kNotAModel && !is_program(first.data(), size)) {
    fail_to_open(path, first.data(), size, status, fault);
  }
}

}  // namespace

ModelFile::ModelFile(const std::string& path, Hold hold) : path_(path), mapping_(std::make_unique<Mapping>()) {
  const char* reason = "";
  host::MappedFile& file = mapping_->file;
  const bool mapped = hold == Hold::kMapped || path == own_program();
  if (!mapped) refuse_other_file(path);
  if ((mapped ? file.open(path.c_str(), &reason) : file.read(path.c_str(), &reason)) != Status::kOk) {
    const bool memory = std::strcmp(reason, std::strerror(ENOMEM)) == 0;
    fail(memory ? ExitCode::kOutOfSpace : ExitCode::kIo, "{}: {}", path, explain_unopened(path, reason));
  }
  Bundle whole{0, file.size(), ""};
  if (is_program(file.data(), file.size())) whole = read_bundle(file.data(), file.size(), path);
  Fault fault;
  const Status status = Model::open(file.data() + whole.offset, static_cast<size_t>(whole.size), &model_, &fault);
  if (status != Status::kOk) {
    fail_to_open(path, file.data() + whole.offset, static_cast<size_t>(whole.size), status, fault);
  }
}

ModelFile::~ModelFile() = default;

struct Engine::Pool {
  explicit Pool(uint32_t count) : threads(count) {}
  host::ThreadPool threads;
  host::XnnpackBackend xnnpack;
};

Engine::Engine(const ModelFile& file, const EngineOptions& options) : file_(file), batch_(options.batch) {
  check_weights(file);
  pool_ = std::make_unique<Pool>(threads_to_use(options.threads));
  threads_ = pool_->threads.threads();
  SessionOptions session;
  session.max_tokens = options.max_tokens;
  if (batch_ == kPacked) {
    // For an encoder-decoder, each text would reserve the memory of its longest source.
    batch_ = file.model().source_vocabulary() != 0 ? 1 : kPackedTexts;
    rows_ = std::min(threads_, kMostTiles) * kTileRows;
    session.max_tokens = longest_text(file.model());
    // A model without a limit takes texts up to the arena's size, which must not depend on the number of threads.
    if (file.model().max_sequence() != 0) session.max_tokens = std::max(session.max_tokens, rows_);
  }
  session.max_sequences = batch_;
  session.max_context = options.max_context;
  if (file.model().source_vocabulary() != 0) session.max_source = options.max_source;
  session.isa = choose_isa(options.isa);
  session.f32_attention = options.f32_attention;
  session.workers = threads_;
  session.parallel = pool_->threads.parallel();
  if (options.backend == "xnnpack") {
    if (!host::XnnpackBackend::available()) {
      fail(ExitCode::kUnsupported, "--backend xnnpack: this build has none; leave the option out");
    }
    if (pool_->xnnpack.create(file.model(), threads_) != Status::kOk) {
      fail(ExitCode::kUnsupported,
           "--backend xnnpack: {} has int8 layers, or many on the same weights; leave the option out, or convert with "
           "--weights f32",
           file.path());
    }
    session.backend = pool_->xnnpack.backend();
  }
  open_session(session);
}

void Engine::open_session(const SessionOptions& options) {
  const size_t bytes = bantam::arena_bytes(file_.model(), options);
  // If the size is 0, create() reports the reason.
  constexpr size_t kAlignment = 64;
  void* const arena = std::aligned_alloc(kAlignment, (bytes + kAlignment) / kAlignment * kAlignment);
  if (arena == nullptr) {
    fail(ExitCode::kOutOfSpace, "out of memory: {} needs an arena of {} bytes; use a smaller --batch", file_.path(),
         bytes);
  }
  Fault fault;
  Session* session = nullptr;
  const Status status = Session::create(file_.model(), options, arena, bytes, &session, &fault);
  if (status == Status::kOk) {
    std::free(arena_);
    arena_ = arena;
    arena_bytes_ = bytes;
    session_ = session;
    options_ = options;
    return;
  }
  std::free(arena);
  // An invalid argument here comes from one of the user's options.
  const ExitCode code = status == Status::kInvalidArgument ? ExitCode::kUsage : exit_code(status);
  throw Error(code, fmt::format("{}: {}", file_.path(), describe(status, fault)));
}

void Engine::score_only(uint32_t rows) {
  SessionOptions options = options_;
  options.scored_rows = rows;
  if (bantam::arena_bytes(model(), options) != 0) open_session(options);
}

uint32_t Engine::longest() const {
  if (rows_ == UINT32_MAX) return session_->max_tokens() / batch_;
  return longest_text(model());
}

Engine::~Engine() { std::free(arena_); }

bool keeps_contexts(const Model& model) {
  SessionOptions session;
  session.max_context = 1;
  return arena_bytes(model, session) != 0;
}

bool forgets_tokens(const Model& model) { return slot_bytes(root(model)) == 0; }

bool only_makes_texts(const Model& model) {
  const fb::Model& file = root(model);
  const bool shifts = file.task() != nullptr && file.task()->shift_id() != -1;
  return has_source(file) && chunk_tokens(file) == 0 && !shifts;
}

void refuse_only_makes_texts(const ModelFile& file) {
  if (!only_makes_texts(file.model())) return;
  if (has_part(file.model().task(), kNextWordsPart)) {
    fail(ExitCode::kUnsupported, "{}: makes texts of texts; use bantam generate, translate or summarize", file.path());
  }
  fail(ExitCode::kUnsupported,
       "{}: its decoder reads tokens that no text says; give them with bantam run --ids and --decoder-ids",
       file.path());
}

uint32_t text_limit(const Model& model) {
  Tokenizer tokenizer;
  if (Tokenizer::open(model, 0, &tokenizer) != Status::kOk) return 0;
  const uint32_t stated = tokenizer.max_tokens();
  const bool longer = stated == 0 || (model.max_sequence() != 0 && stated > model.max_sequence());
  return longer ? model.max_sequence() : stated;
}

std::string property_of(const Model& model, const char* key) {
  return to_string(property(model, {key, std::strlen(key)}));
}

}  // namespace bantam::convert
