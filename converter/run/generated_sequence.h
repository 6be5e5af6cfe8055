// One sequence that is being generated: by which settings its next token is chosen, and when it ends.
#ifndef BANTAM_CONVERTER_RUN_GENERATED_SEQUENCE_H_
#define BANTAM_CONVERTER_RUN_GENERATED_SEQUENCE_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "bantam/sampling.h"
#include "run/decoding.h"
#include "run/engine.h"
#include "run/prompts.h"
#include "run/text_constraint.h"
#include "run/text_stream.h"

namespace bantam::convert {

/// Why a text ended: an end token, a stop text of the options, the largest number of tokens, or a full context.
enum class Finish { kEnd, kStop, kLength, kContext };

/// The beginning of sequences. Several sequences may share one.
struct SequenceInput {
  SourceIds given;                             // the tokens of a decoder's prompt, or of an encoder-decoder's source
  std::vector<int32_t> prompt;                 // the first tokens of the decoder
  std::unique_ptr<TextConstraint> constraint;  // null: any text

  /// Returns the number of forced tokens (a language) before the text that a constraint applies to.
  static uint32_t forced_first(const Decoding& decoding) { return decoding.said.beams.first_id >= 0 ? 1 : 0; }
  /// Returns true if the shortlist holds every token that may be chosen: constraints and forced tokens may need others.
  bool keeps_shortlist(const Decoding& decoding) const {
    return constraint == nullptr && forced_first(decoding) == 0 && decoding.said.beams.last_id < 0;
  }
};

/// Tokenizes a text for the engine's session, whose contexts must have room for another token. Throws (kInvalid) if it
/// has no tokens or leaves no room, or as TextConstraint does. A source is not encoded yet.
SequenceInput read_sequence(Engine& engine, const Decoding& decoding, const std::string& text);
/// The same for a decoder's prompt that is tokens already.
SequenceInput read_sequence(Engine& engine, const Decoding& decoding, std::vector<int32_t> ids);

/// It is not movable, because its text is written to it.
class GeneratedSequence {
 public:
  /// `tokenizer`, `decoding`, `input` and `take` (which may be null) must outlive the sequence. `max_context`: the
  /// number of tokens that its context can hold.
  GeneratedSequence(const Tokenizer& tokenizer, const Decoding& decoding, const SequenceInput& input,
                    uint32_t max_context, uint64_t seed, const TakeText& take)
      : decoding_(decoding),
        input_(input),
        max_context_(max_context),
        seed_(seed),
        stream_(tokenizer, input.prompt, decoding.stop, take) {}

  /// Returns the settings that the next token is chosen by. They are valid until the next call.
  Sampling settings();
  /// Appends a token. `held`: the number of tokens in the context that it was chosen from.
  void add(const NextToken& next, uint32_t held);

  bool done() const { return done_; }
  Finish finish() const { return finish_; }
  const std::vector<int32_t>& ids() const { return ids_; }
  const std::vector<float>& log_probabilities() const { return logs_; }
  double log_sum() const { return log_sum_; }
  const SequenceInput& input() const { return input_; }
  const Decoding& decoding() const { return decoding_; }
  /// Ends the text and returns it.
  std::string text() { return stream_.finish(); }

 private:
  bool is_complete() const;

  const Decoding& decoding_;
  const SequenceInput& input_;
  uint32_t max_context_;
  uint64_t seed_;
  TextStream stream_;
  std::vector<int32_t> ids_, banned_;
  std::vector<float> logs_;
  double log_sum_ = 0;
  bool done_ = false;
  Finish finish_ = Finish::kLength;
};

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_RUN_GENERATED_SEQUENCE_H_
