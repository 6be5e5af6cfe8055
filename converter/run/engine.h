// A model file, a thread pool and a session that uses both, for commands that run a model.
#ifndef BANTAM_CONVERTER_RUN_ENGINE_H_
#define BANTAM_CONVERTER_RUN_ENGINE_H_

#include <cstdint>
#include <memory>
#include <string>

#include "bantam/session.h"
#include "base/strings.h"
#include "graph/task_parts.h"

namespace bantam::convert {

/// EngineOptions::batch for packed runs. They add texts until the rows give every thread a tile. The arena is no larger
/// than the longest text or those rows require. Answers have the same bits as for single texts, as with any batch.
constexpr uint32_t kPacked = 0;
/// The number of texts that callers of packed runs should have ready.
constexpr uint32_t kPackedTexts = 128;

/// Options that all commands that run a model share.
struct EngineOptions {
  uint32_t threads = 1;            // at most host::processors() are used; 0: all of them
  std::string isa;                 // empty: BANTAM_ISA, else the best available
  std::string backend = "native";  // or "xnnpack", for files without int8
  bool f32_attention = false;      // for int8 files
  uint32_t batch = 1;              // largest number of sequences per run; kPacked: as many as fill the threads' tiles
  uint32_t max_tokens = 0;   // rows per run; 0: batch times the model's longest sequence; with contexts at most 128
  uint32_t max_context = 0;  // tokens of a context; 0: no contexts
  uint32_t max_source = 0;   // for encoder-decoders: rows per run over sources; 0: the model's longest source
};

/// How a program holds an open file: mapped; or copied to memory, if the program waits for input and the file may be
/// overwritten meanwhile.
enum class Hold : uint8_t { kMapped, kInMemory };

/// A mapped and verified file: a .bantam file, or an app of `bantam bundle` (format/bundle.h). It is not copyable,
/// because models and sessions point into it.
class ModelFile {
 public:
  /// Throws with the file's name, the cause and the next step (a similar name if the file does not exist). The running
  /// program itself is always mapped, because nobody can write to it.
  explicit ModelFile(const std::string& path, Hold hold = Hold::kMapped);
  ~ModelFile();
  ModelFile(const ModelFile&) = delete;
  ModelFile& operator=(const ModelFile&) = delete;

  const std::string& path() const { return path_; }
  const Model& model() const { return model_; }
  uint64_t size() const { return model_.size(); }

 private:
  struct Mapping;
  std::string path_;
  std::unique_ptr<Mapping> mapping_;
  Model model_;
};

/// A session with its arena and threads.
class Engine {
 public:
  /// `file` must outlive the engine. Checks the weights as `bantam verify` does, so that results have the same bits
  /// everywhere.
  Engine(const ModelFile& file, const EngineOptions& options);
  ~Engine();
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  Session& session() { return *session_; }
  /// For models that fill in masks: limits later runs to word scores for at most `rows` tokens
  /// (SessionOptions::scored_rows). This opens a new session: references to the old one become invalid, and added texts
  /// are lost. Nothing changes if the model cannot score only some tokens.
  void score_only(uint32_t rows);
  /// 0: runs score all tokens.
  uint32_t scored_rows() const { return options_.scored_rows; }
  const ModelFile& file() const { return file_; }
  const Model& model() const { return file_.model(); }
  size_t arena_bytes() const { return arena_bytes_; }
  /// The largest number of texts in one run.
  uint32_t batch() const { return batch_; }
  /// Returns the largest number of rows of one text.
  uint32_t longest() const;
  /// Returns true if a run of this many texts and rows should start.
  bool is_full(uint32_t texts, uint32_t rows) const { return texts >= batch_ || rows >= rows_; }
  uint32_t threads() const { return threads_; }

 private:
  struct Pool;
  /// Opens a session and closes the previous one. If that fails, throws and changes nothing, so a server can continue
  /// with its current session.
  void open_session(const SessionOptions& options);
  const ModelFile& file_;
  std::unique_ptr<Pool> pool_;
  SessionOptions options_;
  void* arena_ = nullptr;
  size_t arena_bytes_ = 0;
  uint32_t batch_ = 1;
  uint32_t rows_ = UINT32_MAX;  // for packed runs
  uint32_t threads_ = 1;
  Session* session_ = nullptr;
};

/// Returns true if sessions of the model can keep contexts, in which texts continue token by token.
bool keeps_contexts(const Model& model);
/// Returns true if contexts can forget their last tokens (Session::truncate). False: the model keeps states.
bool forgets_tokens(const Model& model);

/// Returns true for encoder-decoders whose decoder has a different vocabulary from the source's, so that a text alone
/// has no answer.
bool only_makes_texts(const Model& model);
/// Throws Error (unsupported) for such a file; the message names the command that accepts it.
void refuse_only_makes_texts(const ModelFile& file);

/// Returns the number of tokens at which texts are truncated: the smaller of the tokenizer's and the model's limit. 0:
/// there is no limit, or no tokenizer.
uint32_t text_limit(const Model& model);

/// Returns the file's property `key`; "" if it has none.
std::string property_of(const Model& model, const char* key);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_RUN_ENGINE_H_
