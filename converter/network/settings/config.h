// EncoderConfig: an encoder's settings, read from config.json as its family defines them.
#ifndef BANTAM_CONVERTER_NETWORK_SETTINGS_CONFIG_H_
#define BANTAM_CONVERTER_NETWORK_SETTINGS_CONFIG_H_

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "bantam_generated.h"
#include "graph/places.h"
#include "network/family.h"
#include "source/fields.h"
#include "source/weights.h"

namespace bantam::convert {

/// The largest number of tokens for texts of any length (Settings::any_length): scores have a constant for each
/// distance, and beyond this limit these constants would be larger than the model.
constexpr uint32_t kMostPlaces = 1U << 13;
/// The largest number of positions that settings may state, so that every product fits 64 bits.
constexpr uint32_t kMaxPositions = 1U << 20;

/// Widths that transformers' own settings cannot express, one value per layer: config.json's "bantam_layout" (see
/// ../student). Without it all layers have the same widths.
struct LayerWidths {
  std::vector<uint32_t> heads;         // attention heads
  std::vector<uint32_t> intermediate;  // columns between the two feed-forward layers
  /// The layer whose matrices each layer uses: itself, or an earlier one.
  std::vector<uint32_t> shared;
};

/// The positional settings of a layer's attention.
struct LayerPlaces {
  Rotary rotary;
  uint32_t turned = 0;  // columns of a head that rotary positions rotate
  bool sees_all = true;
  // If not sees_all: tokens on each side that a token sees; in decoders, tokens before it.
  uint32_t window = 0;
  uint32_t dilation = 1;  // step between these tokens
};

/// Attention by blocks (Settings::blocks).
struct TokenBlocks {
  uint32_t size = 0;    // tokens per block; 0: attention is not by blocks
  uint32_t random = 0;  // random blocks that each block sees in addition
  /// The longest text in tokens that gets full attention, as in transformers.
  uint32_t full_until() const { return (5 + 2 * random) * size; }
};

/// Terms of scores for relative positions (Block::places).
struct RelativePlaces {
  uint32_t span = 0;     // half the rows of Slot::kPlaces; 0: no relative positions
  uint32_t buckets = 0;  // 0: each distance is a position of its own
  uint32_t most = 0;     // the largest distance of the last bucket
  bool keys = false;     // products of queries with positions ("c2p")
  bool queries = false;  // products of keys with positions ("p2c")
  bool shared = false;   // positions are projected by the layers' own query and key matrices
  bool norm = false;     // the model has Slot::kPlacesNorm
  uint32_t terms = 1;    // terms of a score, which is divided by the square root of `terms` head widths
  bool vectors = false;  // each distance has a vector, Slot::kDistanceKeys
  uint32_t clamp = 0;    // XLNet: larger distances count as this one; 0: no limit
};

/// Attention by sums over keys; see KeySums in the schema.
struct SummedKeys {
  uint32_t features = 0;  // 0: attention is not of this kind
  fb::FeatureKind kind = fb::FeatureKind::softmax;
  float epsilon = 0;
  /// Places (Linformer): what shares a matrix. kHeads: all heads of a layer share one, but keys and values have
  /// separate ones.
  enum class Sharing : uint8_t { kNone, kHeads, kKeysValues, kLayers };
  Sharing sharing = Sharing::kNone;
  // Factors of queries and of keys: the part of the scores' scale that each takes.
  float query_factor = 1, key_factor = 1;
};

/// Layers whose tokens see neighboring chunks (Reformer, arXiv 2001.04451); see ChunkAttention in the schema.
struct ChunkedLayers {
  struct Chunks {
    uint32_t length = 0, before = 0, after = 0;
  };
  std::vector<bool> hashed;  // for each layer, whether it forms chunks by hashes; empty: no layer has chunks
  Chunks of_text, of_hashes;
  uint32_t filled = 0;            // texts are cut into chunks as if their length were rounded up to a multiple of this
  uint32_t shortest = 0;          // the shorter chunk length of both kinds of layers
  uint32_t rounds = 0;            // rounds of hashes
  std::vector<uint32_t> buckets;  // counts of buckets; empty: chosen to suit the longest text
  uint32_t positions = 0;         // positions that config.json states
  uint32_t seed = 0;
  bool seeded = false;                               // config.json has a seed
  uint32_t axis_rows[2] = {}, axis_columns[2] = {};  // of axial positions; 0: positions have one table
};

/// An image as patches, one token each. `in_front` tokens for the whole image come before them, `behind` tokens of a
/// teacher after them.
struct ImageShape {
  uint32_t width = 0, height = 0, channels = 0, patch = 1, in_front = 0, behind = 0;
  uint32_t patches() const { return (width / patch) * (height / patch); }
  uint32_t tokens() const { return in_front + patches() + behind; }
};

/// Layers that route each token through some of several feed-forward layers (Slot::kRouter).
struct ExpertLayers {
  uint32_t experts = 0, top = 0;  // per layer, and per token
  uint32_t columns = 0;           // between the two layers of an expert
  uint32_t shared = 0;            // the same for the experts that all tokens go through; 0: there are none
  uint32_t capacity = 0;          // largest number of tokens per expert; 0: no limit
  float limit = 0;                // of columns before the activation and of gates; 0: there is none
  float factor = 1;               // of the output of the chosen experts, not of shared ones
  float threshold = 0;            // threshold of masked shares
  bool shares_of_one = false;     // a token's shares are divided by their sum
  std::vector<bool> layers;       // for each layer, whether it has experts; empty: none has
};

/// The words of one cluster, from the end of the previous cluster up to `end` (exclusive), and their columns.
struct WordCluster {
  uint32_t end, columns;
};

struct EncoderConfig {
  const Family* family = nullptr;
  std::string model_type;
  uint32_t vocabulary = 0;
  uint32_t hidden = 0;
  uint32_t layers = 0;
  uint32_t heads = 0;
  uint32_t kv_heads = 0;   // heads of keys and values; equals `heads` if they are not shared
  bool head_norms = true;  // Slot::kQueryNorm and kKeyNorm, if the family has them
  uint32_t inner = 0;      // columns between bottlenecks; `hidden` without bottlenecks
  uint32_t intermediate = 0;
  uint32_t positions = 0;                  // the largest number of tokens
  uint32_t first_position = 0;             // the position table's row of the first token
  uint32_t segments = 0;                   // segments that texts have; 0: the model has none
  uint32_t first_segment = 0;              // the segment table's row of segment 0
  uint32_t segment_rows = 0;               // rows of the segment table in files
  fb::MaskKind mask = fb::MaskKind::none;  // for layers without a window
  fb::ActivationKind activation = fb::ActivationKind::gelu;
  float epsilon = 1e-12F;
  bool causal = false;         // tokens see only themselves and earlier tokens
  bool parallel = false;       // attention and feed-forward layers read the same input
  float embedding_factor = 1;  // of embeddings
  float score_scale = 0;       // of scores; 0: 1 / sqrt(head width)
  float added_factor = 1;      // of the outputs that attention and feed-forward layers add
  float soft_cap = 0;          // of scores; 0: none
  bool tie_embeddings = true;
  uint32_t head_width = 0;
  LayerWidths widths;
  std::vector<LayerPlaces> places;  // one per layer; empty: layers have no such settings
  TokenBlocks blocks;
  uint32_t separator = 0;  // id of the token between texts, for models with global tokens
  RelativePlaces relative;
  bool position_table = false;  // the model has Slot::kPositions
  uint32_t embedding_rank = 0;  // columns of the word embeddings, before a projection to `hidden`; 0: no projection
  uint32_t embedding = 0;       // columns of all embedding tables; `hidden` without a projection
  bool projects = false;        // the model has Slot::kEmbeddingProjection
  uint32_t convolution = 0;     // tokens that Slot::kConvolution spans; 0: there is none
  uint32_t span_taps = 0;       // tokens of a convolution beside attention; 0: there is none
  // For each layer, whether it has attention; the others have what their family has instead. Empty: all have attention.
  std::vector<bool> attends;
  uint32_t short_taps = 0;  // tokens that Slot::kShortTaps spans
  uint32_t value_taps = 0;  // tokens that Slot::kValueConvolution spans; 0: there is none
  fb::ActivationKind convolution_activation = fb::ActivationKind::none;
  uint32_t task_types = 0;  // rows of the task type table; 0: there is none
  // Groups of layers that share weights (Family::shares_layers); 0: each layer has its own.
  uint32_t groups = 0;
  bool bottlenecks = false;    // layers have bottlenecks
  bool narrow_scores = false;  // queries and keys have their own bottleneck; values have none
  bool trigrams = false;       // words are projected together with their neighbors
  bool plain_pooler = false;   // the pooler's row is the first token's row
  uint32_t feed_forwards = 1;  // feed-forward layers per layer, one after the other
  uint32_t inner_layers = 1;   // layers within each layer of a group; `layers` counts all that run
  uint32_t buckets = 0;        // buckets of distances (Slot::kDistances) up to `most_distance`
  uint32_t most_distance = 0;
  /// How each layer treats entities: it ignores them, adds their vectors to its feed-forward layers, or lets them
  /// attend to each other first.
  enum class Entities : uint8_t { kNone, kAdded, kAttend };
  std::vector<Entities> entity_layers;  // empty: the family has none
  uint32_t entities = 0, entity_width = 0, entity_heads = 0;
  ExpertLayers experts;
  SummedKeys summed;
  ChunkedLayers chunked;
  ImageShape image;  // Block::patches
  /// Groups of columns of a module that is stored as a grouped convolution over single tokens (SqueezeBERT).
  std::map<Slot, uint32_t> column_groups;
  // Clusters of words; the last one ends with the vocabulary; empty: there is one table.
  std::vector<WordCluster> clusters;
  bool same_columns = false;  // all clusters have the same columns: their tables are one tensor
  // The input of the output layer over the vocabulary is divided by the square root of its width.
  bool divides_last = false;
};

/// Heads of keys and values of a layer; a student may have fewer than its teacher.
uint32_t kv_heads_of(const EncoderConfig& config, uint32_t layer);
/// The names of a family that Weights needs: tensors of its pooler, and of heads for another task, are ignored without
/// an error.
ModelNames model_names(const Family& family);
/// The prefix of a layer's tensors, relative to the base model: "encoder.layer.3.".
std::string layer_prefix(const EncoderConfig& config, uint32_t layer);
/// True if a model of these settings has the role's tensors, or if its layer `layer` has them.
bool has_role(const EncoderConfig& config, Slot slot);
bool has_role(const EncoderConfig& config, Slot slot, uint32_t layer);
/// The stored roles with their names; a role that is numbered within a layer (feed-forward layers, experts) appears
/// once per number.
std::vector<std::pair<Slot, std::string>> stored_roles(const EncoderConfig& config);
/// The length of an axis if no layer has been narrowed; 0: kNone.
uint32_t extent_of(const EncoderConfig& config, Axis axis);
/// The shape of a layer's tensor that Block::shifted stores by head.
std::vector<uint32_t> shape_by_head(const EncoderConfig& config, Slot slot);
/// A role's name. If roles are parts of one tensor, it is the whole tensor's name without "[i/n]"; the gate's name ends
/// with "_gate".
std::string plain_name(const Family& family, Slot slot);
/// The name in the graph of the operator of layer `layer` for `slot`, or of its tensor. It is unique even if layers
/// share weights.
std::string graph_name(const EncoderConfig& config, uint32_t layer, Slot slot);

/// Reads the encoder's settings, with transformers' defaults. Settings that version 1 cannot express become problems of
/// the kind unsupported; values out of range become invalid ones.
EncoderConfig read_encoder_config(const Fields& config);
/// Reads the settings of the encoder of an encoder-decoder (Family::source).
EncoderConfig read_source_config(const Fields& config, const Family& family);

/// `key`, or the synonym that this file uses for it (Settings::synonyms).
const char* key_in(const Fields& config, const Settings& settings, const char* key);
bool read_flag(const Fields& config, const Flag& flag);

/// Adds a problem for each setting that is present and differs from the value here.
void require(const Fields& config, const std::vector<std::pair<const char*, const char*>>& settings);

/// The activation of transformers' name under `key`; an unknown one is a problem.
fb::ActivationKind read_activation(const Fields& config, const std::string& key, const std::string& otherwise);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_NETWORK_SETTINGS_CONFIG_H_
