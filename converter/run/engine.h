// A model file, a thread pool and a session over them, as every command that runs a model needs.
#ifndef BANTAM_CONVERTER_RUN_ENGINE_H_
#define BANTAM_CONVERTER_RUN_ENGINE_H_

#include <cstdint>
#include <memory>
#include <string>

#include "bantam/session.h"
#include "base/strings.h"
#include "graph/task_parts.h"

namespace bantam::convert {

/// EngineOptions::batch of packed runs: texts until their rows give every thread a tile, in an arena that is not larger than one
/// text of the longest takes, or than those rows. Answers have the same bits as one by one, as for any batch.
constexpr uint32_t kPacked = 0;
/// Texts that a caller of packed runs does well to have at hand.
constexpr uint32_t kPackedTexts = 128;

/// Options that all commands that run a model share.
struct EngineOptions {
  uint32_t threads = 1;            // no more than host::processors() are used; 0: as many
  std::string isa;                 // empty: BANTAM_ISA, else the best
  std::string backend = "native";  // or "xnnpack", for files without int8
  bool f32_attention = false;      // of int8 files
  uint32_t batch = 1;              // most sequences of one run; kPacked: as many as fill the threads' tiles
  uint32_t max_tokens = 0;   // rows of one run; 0: batch times the model's longest sequence, with contexts at most 128
  uint32_t max_context = 0;  // tokens of a context; 0: there are none
  uint32_t max_source = 0;   // of encoder-decoders: rows of one run over sources; 0: the model's longest source
};

/// How a program holds a file that it has opened: mapped, or, where it waits for input meanwhile and the file may be written
/// over, in memory of its own.
enum class Hold : uint8_t { kMapped, kInMemory };

/// A mapped and verified file: a .bantam file, or an app of `bantam bundle` (format/bundle.h). Not copyable: models and sessions
/// point into it.
class ModelFile {
 public:
  /// Throws with the file's name, the cause and the next step (a likely name when there is no such file).
  /// The program that runs is mapped in any case: nobody can write into it.
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

/// Session with its arena and threads.
class Engine {
 public:
  /// `file` outlives the engine. Its weights are checked as `bantam verify` does: what runs has the same bits everywhere.
  Engine(const ModelFile& file, const EngineOptions& options);
  ~Engine();
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  Session& session() { return *session_; }
  /// Of models that fill in masks: runs make scores of words for `rows` tokens at most from now on (SessionOptions::scored_rows), in a new
  /// session: references to the old one end, and texts that were added are gone. Nothing changes where the model has none that are made alone.
  void score_only(uint32_t rows);
  /// 0: scores of all tokens are made.
  uint32_t scored_rows() const { return options_.scored_rows; }
  const ModelFile& file() const { return file_; }
  const Model& model() const { return file_.model(); }
  size_t arena_bytes() const { return arena_bytes_; }
  /// Texts of one run at most.
  uint32_t batch() const { return batch_; }
  /// Rows that one text may take.
  uint32_t longest() const;
  /// Is a run of so many texts and rows as large as it should be?
  bool is_full(uint32_t texts, uint32_t rows) const { return texts >= batch_ || rows >= rows_; }
  uint32_t threads() const { return threads_; }

 private:
  struct Pool;
  /// Begins a session, and ends the one before it. Throws, and changes nothing, where none can be made: a server goes on with what it has.
  void open_session(const SessionOptions& options);
  const ModelFile& file_;
  std::unique_ptr<Pool> pool_;
  SessionOptions options_;
  void* arena_ = nullptr;
  size_t arena_bytes_ = 0;
  uint32_t batch_ = 1;
  uint32_t rows_ = UINT32_MAX;  // of packed runs
  uint32_t threads_ = 1;
  Session* session_ = nullptr;
};

/// Sessions of the model can keep contexts, with which texts go on token by token.
bool keeps_contexts(const Model& model);

/// Encoder-decoders whose decoder reads other tokens than the source's: a text alone has no answer.
bool only_makes_texts(const Model& model);
/// Throws Error (unsupported) for such a file: the message names the command that takes it.
void refuse_only_makes_texts(const ModelFile& file);

/// What texts are cut at: the tokenizer's own limit, where it is below the model's. 0: there is none, or no tokenizer.
uint32_t text_limit(const Model& model);

/// What the file's property of that name says; "" where it has none.
std::string property_of(const Model& model, const char* key);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_RUN_ENGINE_H_
