// Runner: a model's bytes with a session over them, for comparing files.
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

/// Labels where nobody has named any: for what a file is compared with, and timed.
const std::vector<std::string>& common_labels();
/// As Session::add_labelled.
Status add_labelled(Session& session, const std::string& text, const std::vector<std::string>& labels);

/// Tokens that a decoder goes on with, at most, where texts of sources are compared or measured.
constexpr uint32_t kCompletionTokens = 24;

/// Who computes f32 linear layers. kNative: bantam's kernels, the same numbers everywhere. kFastest: XNNPACK where
/// this build has it and the file is all-float; good enough to compare with, never to put numbers in a file.
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

  /// Whether the tokenizer finds a token in a text or pair: one of words leaves out those that it does not know.
  bool takes(const std::string& text, const std::string& second = "");
  /// Tokenizes as the file says, truncated to the session's tokens; where labels come with a text, with some that are common. Throws
  /// Error when the file has no tokenizer.
  Sample encode(const std::string& text, const std::string& second = "");

  /// The same of several texts. Those of a model that takes what is retrieved for chunks are put one behind the other, until a sample has
  /// three chunks, so that something is retrieved; of others each is a sample.
  std::vector<Sample> encode_all(const std::vector<std::string>& texts);

  /// All outputs for one sequence; of an encoder-decoder the decoder's. Throws Error naming the sample when the runtime refuses it.
  std::vector<OutputRows> run(const Sample& sample);

  /// Gives the sample of an encoder-decoder what its decoder reads: the source's own tokens where the file says so, else the token
  /// that texts begin with and up to `most` that this model finds likeliest behind it; and each chunk, where the model takes what is retrieved
  /// for them, as many texts as may be: what stands at it and behind it, from a token further on each, the text's beginning behind its end.
  /// Others stay as they are.
  void complete(Sample* sample, uint32_t most);

 private:
  /// Session::run. Of a file in scratch memory a few operators at a time, whose weights are let go again.
  Status run(const Batch& batch);
  /// The pass over the source, and what is true of it.
  void encode_source(const Sample& sample);
  /// The same where the model takes what is retrieved for chunks.
  std::vector<OutputRows> run_chunks(const Sample& sample);
  /// Copies what the last pass made, behind what is there.
  void add_outputs(const std::string& text, std::vector<OutputRows>* outputs);

  Model model_;
  const FileBytes* scratch_;  // the file's bytes, where they are not in memory but in a temporary file; else null
  std::unique_ptr<host::XnnpackBackend> backend_;
  std::unique_ptr<uint8_t, void (*)(void*)> arena_;
  Session* session_ = nullptr;
};

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_RUN_RUNNER_H_
