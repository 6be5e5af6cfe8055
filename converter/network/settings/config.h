// EncoderConfig: what config.json says about an encoder, read as its family says.
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

/// Most tokens of texts of any length (Settings::any_length): scores have constants for each distance, which would be
/// larger than the model beyond this.
constexpr uint32_t kMostPlaces = 1U << 13;
/// Most positions that settings may state, so that every product keeps within 64 bits.
constexpr uint32_t kMaxPositions = 1U << 20;

/// Widths that transformers' own settings cannot express, one value a layer; config.json's "bantam_layout" (see
/// ../student). Without it every layer has the same.
struct LayerWidths {
  std::vector<uint32_t> heads;         // attention heads
  std::vector<uint32_t> intermediate;  // columns between the two feed-forward layers
  /// The layer whose matrices each layer shares: itself, or an earlier one.
  std::vector<uint32_t> shared;
};

/// The positional settings of a layer's attention.
struct LayerPlaces {
  Rotary rotary;
  uint32_t turned = 0;  // columns of a head that rotary positions turn
  bool sees_all = true;
  uint32_t window = 0;    // otherwise: tokens on each side that a token sees; of decoders, in front of it
  uint32_t dilation = 1;  // steps between these
};

/// Attention by blocks (Settings::blocks).
struct TokenBlocks {
  uint32_t size = 0;    // tokens; 0: there are none
  uint32_t random = 0;  // that each sees besides
  /// Tokens of the longest text that sees all keys, as transformers has it.
  uint32_t full_until() const { return (5 + 2 * random) * size; }
};

/// Scores of relative places (Block::places).
struct RelativePlaces {
  uint32_t span = 0;     // half the rows of Slot::kPlaces; 0: there are none
  uint32_t buckets = 0;  // 0: each distance is a place
  uint32_t most = 0;     // distance that the last bucket ends with
  bool keys = false;     // queries are multiplied with places ("c2p")
  bool queries = false;  // keys are ("p2c")
  bool shared = false;   // places go through the layers' own queries and keys
  bool norm = false;     // there is Slot::kPlacesNorm
  uint32_t terms = 1;    // of a score: it is divided by the root of so many head widths
  bool vectors = false;  // each distance has one, Slot::kDistanceKeys
  uint32_t clamp = 0;    // XLNet: distances beyond it are as it; 0: each is a place
};

/// Attention by sums over keys; see KeySums in the schema.
struct SummedKeys {
  uint32_t features = 0;  // 0: attention is not of this kind
  fb::FeatureKind kind = fb::FeatureKind::softmax;
  float epsilon = 0;
  /// Places (Linformer): who has matrices of its own. kHeads: the heads of a layer have the same, keys and values do not.
  enum class Sharing : uint8_t { kNone, kHeads, kKeysValues, kLayers };
  Sharing sharing = Sharing::kNone;
  // Factors of queries and of keys: the part of the scores' scale that each takes.
  float query_factor = 1, key_factor = 1;
};

/// Layers whose tokens see those of chunks near their own (Reformer, arXiv 2001.04451); see ChunkAttention in the schema.
struct ChunkedLayers {
  struct Chunks {
    uint32_t length = 0, before = 0, after = 0;
  };
  std::vector<bool> hashed;  // which layers' chunks are by hashes, of all; empty: no layer has chunks
  Chunks of_text, of_hashes;
  uint32_t filled = 0;            // texts are cut as if they had as many tokens as a multiple of it
  uint32_t shortest = 0;          // the shorter of the two lengths that layers have
  uint32_t rounds = 0;            // of hashes
  std::vector<uint32_t> buckets;  // counts; empty: as many as suit the longest text
  uint32_t positions = 0;         // that config.json speaks of
  uint32_t seed = 0;
  bool seeded = false;                               // config.json has the seed
  uint32_t axis_rows[2] = {}, axis_columns[2] = {};  // of places by axes; 0: places have a table
};

/// An image in patches, each a token, one of the whole image in front of them, and `behind` of them what stands for a teacher.
struct ImageShape {
  uint32_t width = 0, height = 0, channels = 0, patch = 1, in_front = 0, behind = 0;
  uint32_t patches() const { return (width / patch) * (height / patch); }
  uint32_t tokens() const { return in_front + patches() + behind; }
};

/// Layers whose tokens go through some of several feed-forward layers each (Slot::kRouter).
struct ExpertLayers {
  uint32_t experts = 0, top = 0;  // of a layer, of a token
  uint32_t columns = 0;           // between the two layers of an expert
  uint32_t shared = 0;            // the same of the experts that all tokens go through; 0: there are none
  uint32_t capacity = 0;          // most tokens of an expert; 0: any number
  float factor = 1;               // of what experts make, but for those
  float threshold = 0;            // of masked shares
  bool shares_of_one = false;     // shares of a token's experts are divided by their sum
  std::vector<bool> layers;       // which layers are; empty: none
};

/// Words up to `end`, from the end of the cluster in front on, have so many columns.
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
  uint32_t kv_heads = 0;  // of keys and values; as many as `heads` where they are not shared
  uint32_t inner = 0;     // columns between bottlenecks; `hidden` where there are none
  uint32_t intermediate = 0;
  uint32_t positions = 0;                  // that tokens can have
  uint32_t first_position = 0;             // the position table's row of the first token
  uint32_t segments = 0;                   // rows of the segment table; 0: the model has none
  uint32_t first_segment = 0;              // of those that texts have: `segments` from here on
  uint32_t segment_rows = 0;               // of the table in files
  fb::MaskKind mask = fb::MaskKind::none;  // of layers without a window
  fb::ActivationKind activation = fb::ActivationKind::gelu;
  float epsilon = 1e-12F;
  bool causal = false;         // tokens see themselves and those in front of them
  bool parallel = false;       // attention and feed-forward layers read the same rows
  float embedding_factor = 1;  // of embeddings
  float score_scale = 0;       // of scores; 0: 1 / the root of a head's width
  float added_factor = 1;      // of what attention and feed-forward layers add
  float soft_cap = 0;          // of scores; 0: none
  bool tie_embeddings = true;
  uint32_t head_width = 0;
  LayerWidths widths;
  std::vector<LayerPlaces> places;  // of each layer; empty: of none
  TokenBlocks blocks;
  uint32_t separator = 0;  // the id of the token between texts, where there are global tokens
  RelativePlaces relative;
  bool position_table = false;  // there is Slot::kPositions
  uint32_t embedding_rank = 0;  // columns of the word embeddings, before a projection to `hidden`; 0: no projection
  uint32_t embedding = 0;       // columns of all embedding tables; `hidden` where nothing projects them
  bool projects = false;        // there is Slot::kEmbeddingProjection
  uint32_t convolution = 0;     // tokens that Slot::kConvolution reads at a time; 0: there is none
  uint32_t value_taps = 0;      // the same of Slot::kValueConvolution
  fb::ActivationKind convolution_activation = fb::ActivationKind::none;
  uint32_t task_types = 0;     // rows of the task type table; 0: there is none
  uint32_t groups = 0;         // of layers with one set of weights (Family::shares_layers); 0: each has its own
  bool bottlenecks = false;    // `inner` is another width
  bool narrow_scores = false;  // queries and keys have a bottleneck of their own, values none
  bool trigrams = false;       // words are projected with their neighbours
  bool plain_pooler = false;   // the pooler's row is the first token's
  uint32_t feed_forwards = 1;  // of each layer, one after the other
  uint32_t inner_layers = 1;   // layers inside each of a group; `layers` counts all that run
  uint32_t buckets = 0;        // of distances (Slot::kDistances), up to `most_distance`
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
  /// Groups of columns that outputs of a module are made of, where it is a convolution over single tokens (SqueezeBERT).
  std::map<Slot, uint32_t> column_groups;
  std::vector<WordCluster> clusters;  // of words, the last ends with the vocabulary; empty: there is one table
  bool same_columns = false;          // of all clusters: their tables are one tensor
  bool divides_last = false;          // what the output layer over the vocabulary reads, by the root of its width
};

/// Heads of keys and values of a layer, which a student may have fewer of.
uint32_t kv_heads_of(const EncoderConfig& config, uint32_t layer);
/// The names of a family that Weights has to know: tensors of its pooler, and of heads for another task, are ignored
/// without an error.
ModelNames model_names(const Family& family);
/// The place of a layer's tensors, relative to the base model: "encoder.layer.3.".
std::string layer_prefix(const EncoderConfig& config, uint32_t layer);
/// Does a model of these settings have the role's tensors, and does this layer of it?
bool has_role(const EncoderConfig& config, Slot slot);
bool has_role(const EncoderConfig& config, Slot slot, uint32_t layer);
/// The stored roles with their names; a role that is numbered inside a layer (feed-forward layers, experts) appears
/// once per number.
std::vector<std::pair<Slot, std::string>> stored_roles(const EncoderConfig& config);
/// How many an axis counts where no layer has been narrowed; 0: kNone.
uint32_t extent_of(const EncoderConfig& config, Axis axis);
/// The shape of a tensor that Block::shifted stores for a layer by head.
std::vector<uint32_t> shape_by_head(const EncoderConfig& config, Slot slot);
/// A role's name. Where roles are parts of one tensor it lacks "[i/n]": it is the whole tensor's name, with "_gate" for
/// the gate.
std::string plain_name(const Family& family, Slot slot);
/// The name in the graph of the operator of layer `layer` for `slot`, or of its tensor; it is unique where layers share
/// weights, too.
std::string graph_name(const EncoderConfig& config, uint32_t layer, Slot slot);

/// Reads the encoder's settings, with transformers' defaults. Settings that version 1 cannot express are
/// added to the problems as unsupported; values out of range as invalid.
EncoderConfig read_encoder_config(const Fields& config);
/// Reads the settings of the encoder of an encoder-decoder (Family::source).
EncoderConfig read_source_config(const Fields& config, const Family& family);

/// `key`, or the synonym that this file has in its place (Settings::synonyms).
const char* key_in(const Fields& config, const Settings& settings, const char* key);
bool read_flag(const Fields& config, const Flag& flag);

/// Adds a problem for each setting that is there and differs from the value here.
void require(const Fields& config, const std::vector<std::pair<const char*, const char*>>& settings);

/// An activation by transformers' name; records a problem under `key` when it is unknown.
fb::ActivationKind read_activation(const Fields& config, const std::string& key, const std::string& otherwise);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_NETWORK_SETTINGS_CONFIG_H_
