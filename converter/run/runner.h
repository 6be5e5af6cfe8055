// Runner: runs a session over a model's bytes, for comparing files.
#ifndef BANTAM_CONVERTER_RUN_RUNNER_H_
#define BANTAM_CONVERTER_RUN_RUNNER_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "bantam/host.h"
#include "bantam/session.h"
#include "data/sample.h"
#include "pack/build.h"
#include "run/chunks.h"

namespace bantam::convert {

/// A copy of one output of one sequence: `rows` rows of `width` values.
struct OutputRows {
  std::string name;
  uint32_t rows = 0;
  uint32_t width = 0;
  bool per_token = false;
  std::vector<float> values;
  const float* row(size_t r) const { return values.data() + r * width; }
};

/// Default labels for comparing and timing files, if the user names none.
const std::vector<std::string>& common_labels();
/// See Session::add_labelled.
Status add_labelled(Session& session, const std::string& text, const std::vector<std::string>& labels);

/// The largest number of tokens that a decoder adds when source texts are compared or measured.
constexpr uint32_t kCompletionTokens = 24;

/// The implementation of f32 linear layers. kNative: bantam's kernels, with the same numbers everywhere. kFastest:
/// XNNPACK if this build has it and the file is all-float; accurate enough for comparison, but never used for numbers
/// in a file.
enum class Linears { kNative, kFastest };

class Runner {
 public:
  /// Opens the bytes, which must outlive the runner, and makes a session for sequences of up to `max_tokens` tokens.
  /// Throws Error (invalid, or out of memory).
  Runner(const FileBytes& bytes, uint32_t max_tokens, Linears linears = Linears::kNative);
  ~Runner();
  Runner(const Runner&) = delete;
  Runner& operator=(const Runner&) = delete;

  const Model& model() const { return model_; }

  /// Returns true if the tokenizer finds a token in the text or pair. A tokenizer of whole words skips unknown words,
  /// so there may be none.
  bool takes(const std::string& text, const std::string& second = "");
  /// Tokenizes with the file's tokenizer and truncates to the session's size; if the model reads labels with a text,
  /// adds the common ones. Throws Error if the file has no tokenizer.
  Sample encode(const std::string& text, const std::string& second = "");

  /// Encodes several texts. For a model that reads texts retrieved for chunks, concatenates them until a sample has
  /// three chunks, so that something is retrieved; for others, each text is a sample.
  std::vector<Sample> encode_all(const std::vector<std::string>& texts);

  /// Returns all outputs for one sequence; for an encoder-decoder, the decoder's outputs. Throws Error with the
  /// sample's name if the runtime refuses it.
  std::vector<OutputRows> run(const Sample& sample);

  /// Completes the sample of an encoder-decoder with the decoder's input: the source's own tokens if the file says so;
  /// otherwise the token that begins texts and up to `most` tokens that this model predicts greedily. If the model
  /// reads texts retrieved for chunks, gives each chunk as many neighbors as allowed: the tokens from the chunk on,
  /// where each neighbor starts one token later and wraps around from the text's end to its beginning. Leaves other
  /// samples unchanged.
  void complete(Sample* sample, uint32_t most);

 private:
  /// Calls Session::run. For a file in scratch memory, runs a few operators at a time and then releases their weights.
  Status run(const Batch& batch);
  /// Runs the pass over the source. Throws Error if the runtime refuses it.
  void encode_source(const Sample& sample);
  /// Runs a sample of a model that takes texts retrieved for chunks.
  std::vector<OutputRows> run_chunks(const Sample& sample);
  /// Appends copies of the last pass's outputs.
  void add_outputs(const std::string& text, std::vector<OutputRows>* outputs);

  Model model_;
  const FileBytes* scratch_;  // the file's bytes, if they are in a temporary file instead of memory; otherwise null
  std::unique_ptr<host::XnnpackBackend> backend_;
  std::unique_ptr<uint8_t, void (*)(void*)> arena_;
  Session* session_ = nullptr;
};

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_RUN_RUNNER_H_
