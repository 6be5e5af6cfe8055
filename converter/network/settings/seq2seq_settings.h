// Reads the settings of a recurrent encoder-decoder from config.json: docs/recurrent.md has the keys.
#ifndef BANTAM_CONVERTER_NETWORK_SETTINGS_SEQ2SEQ_SETTINGS_H_
#define BANTAM_CONVERTER_NETWORK_SETTINGS_SEQ2SEQ_SETTINGS_H_

#include <cstdint>

#include "base/error.h"
#include "network/blocks/recurrent.h"
#include "source/fields.h"

namespace bantam::convert {

/// How the last states of an encoder's two directions become one row.
enum class Join { kConcat, kSum, kMean, kForward, kReverse };
/// The initial states of a decoder's layers: the final state of the encoder's layer of the same number, that of its
/// last layer, or zeros.
enum class First { kLayers, kLast, kZeros };
/// The layer between the encoder's final states and the decoder's initial states.
enum class Bridge { kNone, kLinear, kTanh };
/// How a decoder's state scores the source's rows (Luong et al., arXiv 1508.04025; Bahdanau et al., arXiv 1409.0473).
enum class Score { kNone, kDot, kScaledDot, kGeneral, kAdditive };
/// The input of the output layer: the state; a layer over context and state; the pairwise maximum of a layer's outputs
/// over state, word and context.
enum class Readout { kState, kCombine, kMaxout };

struct PairAttention {
  Score score = Score::kNone;
  // The previous token's state computes scores, and its context is an input of the cells.
  bool previous = false;
  bool feeding = false;  // the readout is an input of the cells at the next token
  fb::AlignPlace place = fb::AlignPlace::all;
  uint32_t window = 0;
  Readout readout = Readout::kCombine;
  bool reads_previous = false;  // the readout reads the previous token's state
  bool tanh = true;             // Readout::kCombine ends with tanh
  uint32_t size = 0;            // rows of the readout's matrix
  uint32_t score_size = 0;      // rows of the matrix of additive scores
  uint32_t position_size = 0;   // rows of the layer that predicts the place

  /// True if a token reads results of the previous token.
  bool goes_back() const { return previous || feeding; }
};

struct PairSettings {
  RecurrentSettings encoder, decoder;
  Join join = Join::kConcat;
  First first = First::kLayers;
  Bridge bridge = Bridge::kNone;
  bool every_step = false;  // each token also reads the source's state
  PairAttention attention;

  bool attends() const { return attention.score != Score::kNone; }
  bool begins() const { return first != First::kZeros; }
  uint32_t joined() const { return encoder.both && join == Join::kConcat ? 2 * encoder.state : encoder.state; }
};

/// Throws all problems of the settings at once, because wrong ones would make every tensor's shape wrong.
PairSettings read_pair(const Fields& config);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_NETWORK_SETTINGS_SEQ2SEQ_SETTINGS_H_
