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

/// One output of one sequence, copied: `rows` rows of `width` values.
struct OutputRows {
  std::string name;
  uint32_t rows = 0;
  uint32_t width = 0;
  bool per_token = false;
  std::vector<float> values;
  const float* row(size_t r) const { return values.data() + r * width; }
};

/// Default labels, for comparing and timing files if nobody has named any.
const std::vector<std::string>& common_labels();
/// As Session::add_labelled.
Status add_labelled(Session& session, const std::string& text, const std::vector<std::string>& labels);

/// The largest number of tokens that a decoder adds when texts of sources are compared or measured.
constexpr uint32_t kCompletionTokens = 24;

/// The implementation of f32 linear layers. kNative: bantam's kernels, the same numbers everywhere. kFastest: XNNPACK
/// if this build has it and the file is all-float; good enough to compare with, never to put numbers in a file.
enum class Linears { kNative, kFastest };

class Runner {
 public:
  /// Opens the bytes, which outlive the runner, and makes a session for sequences of up to `max_tokens`
  /// tokens. Throws Error (invalid, or out of memory).
  Runner(const FileBytes& bytes, uint32_t max_tokens, Linears linears = Linears::kNative);
  ~Runner();
  Runner(const Runner&) = delete;
  Runner& operator=(const Runner&) = delete;

  const Model& model() const { return model_; }

  /// Returns true if the tokenizer finds a token in a text or pair: a tokenizer of words leaves out words that it does
  /// not know.
  bool takes(const std::string& text, const std::string& second = "");
  /// Tokenizes as the file says, truncated to the session's tokens; if the model takes labels with a text, adds the
  /// common ones. Throws Error when the file has no tokenizer.
  Sample encode(const std::string& text, const std::string& second = "");

  /// Encodes several texts. For a model that takes texts retrieved for chunks, concatenates them until a sample has
  /// three chunks, so that something is retrieved; for others each text is a sample.
  std::vector<Sample> encode_all(const std::vector<std::string>& texts);

  /// Returns all outputs for one sequence; for an encoder-decoder the decoder's. Throws Error naming the sample when
  /// the runtime refuses it.
  std::vector<OutputRows> run(const Sample& sample);

  /// Completes the sample of an encoder-decoder with its decoder's input: the source's own tokens if the file says so,
  /// else the token that texts begin with and up to `most` tokens that this model finds likeliest behind it. If the
  /// model takes texts retrieved for chunks, gives each chunk as many neighbours as allowed: the tokens from the chunk
  /// on, each neighbour starting one token later, wrapping around from the text's end to its beginning. Leaves other
  /// samples unchanged.
  void complete(Sample* sample, uint32_t most);

 private:
  /// Calls Session::run. For a file in scratch memory runs a few operators at a time and then releases their weights.
  Status run(const Batch& batch);
  /// Runs the pass over the source. Throws Error if the runtime refuses it.
  void encode_source(const Sample& sample);
  /// Runs a sample of a model that takes texts retrieved for chunks.
  std::vector<OutputRows> run_chunks(const Sample& sample);
  /// Appends copies of the last pass's outputs.
  void add_outputs(const std::string& text, std::vector<OutputRows>* outputs);

  Model model_;
  const FileBytes* scratch_;  // the file's bytes, where they are not in memory but in a temporary file; else null
  std::unique_ptr<host::XnnpackBackend> backend_;
  std::unique_ptr<uint8_t, void (*)(void*)> arena_;
  Session* session_ = nullptr;
};

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_RUN_RUNNER_H_
