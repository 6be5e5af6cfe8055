// Family: the description of a kind of encoder, as data: its settings in config.json, its tensors by their roles, and
// its heads. The stack, the heads, students and the tests are built from it. A family is one file of this folder and a
// row of families.inc.
#ifndef BANTAM_CONVERTER_NETWORK_FAMILY_H_
#define BANTAM_CONVERTER_NETWORK_FAMILY_H_

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bantam_generated.h"
#include "base/json_file.h"

namespace bantam::convert {

struct EncoderConfig;
struct LayerSite;
class Fields;

/// The quantity that an axis of a tensor counts. kEmbedding: columns of embedding tables; there are as many as hidden
/// columns where no layer projects them to the hidden width. kScores: columns of queries and keys; kValues: columns of
/// values and contexts; kShared: columns of keys and of values that several heads may share; kHead: columns of one
/// head. kInner: columns between bottlenecks; kValueInput: input columns of the value projection there; kWordInput:
/// input columns of the projection of words. kEntities: rows of the entity table; kEntity: its columns. kExperts:
/// experts of a layer; kExpertFfn: columns between the two feed-forward layers of one expert; kSharedFfn: of
/// those that all tokens go through. kHeads: heads of queries. kStreams: columns of both streams of reversible layers.
enum class Axis {
  kNone,
  kHidden,
  kEmbedding,
  kVocabulary,
  kPositions,
  kScores,
  kValues,
  kShared,
  kHead,
  kFfn,
  kInner,
  kValueInput,
  kWordInput,
  kEntities,
  kEntity,
  kExperts,
  kExpertFfn,
  kSharedFfn,
  kHeads,
  kStreams
};

/// The role of a tensor in an encoder: a table, or a module with NAME.weight and NAME.bias.
enum class Slot {
  // Tables.
  kWords,
  kPositions,
  kSegments,
  kTaskTypes,  // row 0 is added to every token, as transformers does unless told otherwise
  kDistances,  // biases of scores by buckets of distances, [buckets, heads], the same in all layers, or with {} in its name of each
  kEntities,  // vectors of entities, which stand beside tokens (ERNIE, arXiv 1905.07129)
  kFirstAxis,  // of places by two axes, side by side: rows of every so many neighbouring places, and of places among those
  kSecondAxis,
  kPlaces,  // embeddings of relative places, the same in all layers (DeBERTa, arXiv 2006.03654)
  // Slots of image models: the rows of patch positions, the row of the whole image, the row that answers a teacher (the
  // distillation token), and the layer that turns patches into rows.
  kPatchPlaces,
  kWholeImage,
  kTeacherToken,
  kPatches,
  // Modules of the model.
  kEmbeddingNorm,
  kEmbeddingProjection,  // from the tables' columns to the hidden width, behind their norm (Block::sums_projected: in front)
  kConvolution,          // over tokens, of what the first layer reads; added to what it makes, and normed
  kConvolutionNorm,
  kPlacesNorm,
  kTokenProjection,  // matrices without biases: sums over tokens by their places (Linformer, arXiv 2006.04768), one for all layers
  kFactorProjection,  // bantam's own layouts: from factors of the word table to the hidden width, before the norm
  kPooler,
  // Modules of each layer.
  kQuery,
  kKey,
  kValue,
  kQueryKey,     // queries that are keys, too, in layers by hashes (Reformer, arXiv 2001.04451)
  kGlobalQuery,  // of global tokens: their own queries, and what they see of all tokens (Longformer, arXiv 2004.05150)
  kGlobalKey,
  kGlobalValue,
  kQueriesKeysValues,  // in one matrix, group by group (Block::together); without a bias where kQueryBias has those of queries
  kQueryBias,          // vectors, whose names are whole
  kValueBias,
  kPlaceKey,  // of relative places: their keys and queries
  kPlaceQuery,
  kPlaceBias,  // of shifted attention (Block::shifted), whole names: what queries are for places and for segments, less what
  kSegmentBias,  // the layer makes of tokens (kQueryBias: for keys); and keys of the same segment and of another one
  kSegmentKeys,
  kDistanceKeys,  // of distances, with which queries of all heads are multiplied, and keys (Shaw et al., arXiv 1803.02155)
  kValueConvolution,  // without a bias: over tokens, of each head's values, added to what it reads, [heads, 1, tokens, 1]
  kFeatureMatrix,     // without a bias: random vectors of features of queries and keys (Performer, arXiv 2009.14794)
  kKeyProjection,     // without biases: kTokenProjection of a layer's keys, and of its values
  kValueProjection,
  kQueryNorm,  // of queries, and of keys: all heads of a token together, or each (Block::head_norms)
  kKeyNorm,
  kAttentionOut,
  kAttentionNorm,
  kSumNorm,           // behind it, of its sum with what the layer reads
  kAttentionFactors,  // vectors, whose names are whole: what attention and feed-forward layers make is multiplied by them
  kDownFactors,
  kAttentionOutNorm,  // of what attention and what feed-forward layers make, before it is added
  kDownOutNorm,
  kAttentionGate,  // whose sigmoids what attention reads from values is multiplied by
  kSinks,          // vectors, whose names are whole: a score of each head that all queries have, and that has no value
  kContextNorm,    // of what attention reads from values, and of activated columns, in front of their output matrices
  kWideNorm,
  kForget,  // of SSRU cells in the place of attention to the tokens in front
  kCandidate,
  // Slots of bottlenecks: dense layers and norms in front (of the residual; of queries and keys) and behind, and
  // feed-forward layers in front of the last one, numbered inside the layer ("ffn.{}.").
  kNarrow,
  kNarrowNorm,
  kNarrowScores,
  kNarrowScoresNorm,
  kStackUp,
  kStackDown,
  kStackDownNorm,
  kWiden,
  kWidenNorm,
  kUp,    // what is activated
  kGate,  // and multiplied by this
  kDown,
  kDownNorm,
  // Slots of expert layers, which take the place of kUp, kGate and kDown: the module that scores each expert, and the
  // modules of the experts, numbered inside the layer ("experts.{}.up"); or, without {}, one tensor of all, in which each expert's gates
  // lie behind what is activated, and with "^" inputs lie in front of outputs.
  kRouter,
  kExpertUp,
  kExpertGate,
  kExpertDown,
  kChoiceBias,  // a vector, whose name is whole: what experts are chosen by, beside their scores
  kSharedUp,    // of the experts that all tokens go through
  kSharedGate,
  kSharedDown,
  kSharedScale,  // without a bias and of one output, whose sigmoid multiplies what shared experts make
  // Slots of attention to a source (cross-attention), in the layers of an encoder-decoder's decoder.
  kCrossQuery,
  kCrossKey,
  kCrossValue,
  kCrossOut,
  kCrossNorm,
  // Slots of entities, in layers that have them: their attention, the module that adds them to the feed-forward layer
  // (kEntityUp), and the module behind that layer that makes their next rows (kEntityDown).
  kEntityQuery,
  kEntityKey,
  kEntityValue,
  kEntityOut,
  kEntityAttentionNorm,
  kEntityUp,
  kEntityDown,
  kEntityNorm,
  kFinalNorm,  // behind the last layer
  // Names in the graph for what a file has no tensor for: the matrices of queries, keys and values above each other,
  // and operators without weights.
  kQkv,
  kHeads,
  kAttention,
  kKeysValues,  // of attention by sums: keys above values, and their sums
  kKeySums,
  kGates,  // of SSRU cells, both above each other, and the cells
  kCells,
  kCrossKeysValues,
  kCrossAttention,
  kEntityQkv,
  kEntityHeads,
  kEntityAttention,
  kExperts,
  kGlobalKeysValues,
  kGlobalHeads,
  kGlobalAttention
};

constexpr bool is_table(Slot slot) { return slot <= Slot::kPlaces; }
constexpr bool is_vector(Slot slot) {
  return slot == Slot::kQueryBias || slot == Slot::kValueBias || slot == Slot::kPlaceBias ||
         slot == Slot::kSegmentBias || slot == Slot::kSegmentKeys || slot == Slot::kAttentionFactors ||
         slot == Slot::kDownFactors || slot == Slot::kSinks || slot == Slot::kChoiceBias;
}
constexpr bool is_of_layer(Slot slot) { return slot >= Slot::kQuery && slot != Slot::kFinalNorm; }
/// True for slots of attention to a source (cross-attention), whose keys and values are made from the encoder's output.
constexpr bool is_cross(Slot slot) { return slot >= Slot::kCrossQuery && slot <= Slot::kCrossNorm; }
/// True for slots of entities in layers. The second function is true only for the slots that a layer has where entities
/// attend to each other.
constexpr bool is_of_entities(Slot slot) { return slot >= Slot::kEntityQuery && slot <= Slot::kEntityNorm; }
constexpr bool is_of_entity_attention(Slot slot) {
  return slot >= Slot::kEntityQuery && slot <= Slot::kEntityAttentionNorm;
}
/// True for slots of the experts that all tokens go through.
constexpr bool is_shared(Slot slot) { return slot >= Slot::kSharedUp && slot <= Slot::kSharedScale; }
/// True for slots of which each expert has a tensor of its own.
constexpr bool is_of_expert(Slot slot) { return slot >= Slot::kExpertUp && slot <= Slot::kExpertDown; }
constexpr bool is_stored(Slot slot) { return slot < Slot::kQkv; }
/// True for norms whose factors a family may lack (Block::plain_norms).
constexpr bool is_plain_norm(Slot slot) {
  return slot == Slot::kEmbeddingNorm || slot == Slot::kAttentionNorm || slot == Slot::kDownNorm ||
         slot == Slot::kQueryNorm || slot == Slot::kKeyNorm || slot == Slot::kFinalNorm;
}

/// Rows and columns of a table or of a module's weight; a norm has rows only.
struct Axes {
  Axis rows, columns;
};

/// Names by slot, relative to the base model or to a layer; tables' are whole ("....weight"). "NAME[1/3]" is the second of three
/// equal parts of the rows of NAME; "NAME^" is stored from inputs to outputs (tensor_part).
using Roles = std::map<Slot, const char*>;

/// A count in config.json. Without a key it is always `otherwise`.
struct Count {
  const char* key = nullptr;
  uint32_t otherwise = 0;
};

/// A flag in config.json. Without a key it is always `otherwise`.
struct Flag {
  const char* key = nullptr;
  bool otherwise = false;
};

struct Settings {
  Count vocabulary{"vocab_size", 30522};
  Count positions{"max_position_embeddings", 512};
  /// Texts may be longer than that where --max-tokens says so.
  bool any_length = false;
  Count segments{"type_vocab_size", 2};
  /// A segment table of one row is added to every token, and no segments are read.
  bool lone_segment = false;
  Count hidden{"hidden_size", 768};
  Count layers{"num_hidden_layers", 12};
  Count heads{"num_attention_heads", 12};
  Count intermediate{"intermediate_size", 3072};
  /// Columns of embedding tables; no key, or 0: `hidden`.
  Count embedding;
  /// Rows of the task type table; no key: there is none. It is there only where the flag `task_types_if` is set.
  Count task_types;
  const char* task_types_if = nullptr;
  /// Layers that share one set of weights are in as many groups, and run as many inner layers each time (ALBERT).
  Count groups;
  Count inner_layers{nullptr, 1};
  const char* activation = "hidden_act";
  const char* activation_otherwise = "gelu";
  /// Keys by which published files have some of these, where they lack the others: {other, key}.
  std::vector<std::pair<const char*, const char*>> synonyms = {};
  /// Flags and settings that must have this value where they are there: other graphs of the same name.
  std::vector<std::pair<const char*, const char*>> required = {};
  /// Without a key it is fixed.
  const char* epsilon = "layer_norm_eps";
  double epsilon_otherwise = 1e-12;
  /// The first row of the position table that a token has is this one + 1; no key: row 0.
  Count padding;
  /// Without a key, `padding` is the same whatever config.json says; rows in front of the first token's are more than `positions` counts.
  bool padding_is_fixed = false, rows_behind_padding = false;
  /// Rows of the position table in front of the first token's, which `positions` does not count.
  uint32_t positions_in_front = 0;
  /// Heads of keys and values; 0: as many as of queries. The key of the width of a head (absent: `hidden` / `heads`).
  Count kv_heads;
  const char* head_width = nullptr;
  uint32_t head_width_otherwise = 0;  // without the setting; 0: `hidden` / `heads`
  /// One head of keys and values where this flag is true, as many as of queries where it is not; but as `kv_heads` says where the
  /// flag behind it is true (Falcon).
  Flag one_kv_head, own_kv_heads;
  /// Attention and feed-forward layers read the same rows, and both are added to them.
  Flag parallel;
  /// Keys of factors: of embeddings (no key, `scaled_embeddings`: the root of `hidden`), of scores (or `score_width`: of a width whose
  /// root divides them), of what attention and feed-forward layers add; and the cap of scores, null or, without
  /// another value for that, absent: none.
  const char* embedding_factor = nullptr;
  bool scaled_embeddings = false;
  const char* score_factor = nullptr;
  float score_factor_otherwise = 1;  // 0: the root of a head's width divides scores
  Count score_width;
  const char* added_factor = nullptr;
  const char* soft_cap = nullptr;
  float soft_cap_otherwise = 0;
  /// Reads the family's own mask of attention; null: decoders have the causal one, encoders none. Problems go to `config`.
  void (*read_mask)(const Fields& config, EncoderConfig& out) = nullptr;
  /// Keys of the token with which a decoder's text begins where "decoder_start_token_id" is absent; null: there is none. The first is of
  /// texts that are made, as transformers' generate() has it; the second of those that are the source's, one place further.
  const char* made_start = "bos_token_id";
  const char* shifted_start = nullptr;
  /// transformers shifts texts that are the source's around: their last token, an end of texts, stands in front of them.
  bool shifted_around = false;
  /// Reads and refuses what no other setting expresses, behind counts and positions; null: there is nothing.
  void (*settle)(const Fields& config, EncoderConfig& out) = nullptr;
  /// Tokens of a decoder see those behind them, too.
  Flag both_ways;
  /// Without a setting, or where it is null, `intermediate` is so many times `hidden`.
  uint32_t widening = 0;
  /// "gelu" is its form with tanh.
  bool tanh_gelu = false;
  /// Output layers over the vocabulary are not the word embeddings, unless "tie_word_embeddings" says so.
  bool untied = false;
  /// Buckets of distances (Slot::kDistances), the last of which holds those from `most_distance` on. 0: there are none.
  Count buckets;
  Count most_distance{nullptr, 128};
  /// Embeddings are multiplied by the root of their width where this flag is set.
  Flag scaled_if;
  /// Positions are sinusoids, which not every file holds. kHalves: sines, then cosines, of p / 10000^(2 i / width). kSteps: of
  /// p / 10000^(i / (width / 2 - 1)), from the place behind those of `positions_in_front` on.
  enum class Sinusoids { kNone, kHalves, kSteps };
  Sinusoids sinusoids = Sinusoids::kNone;
  /// The input of the output layer over the vocabulary is divided by the square root of its width where
  /// "scale_decoder_outputs" says so; with kTied also where no setting says so and the layer is the word embeddings.
  enum class Divides { kNever, kAsked, kTied };
  Divides divides = Divides::kNever;
  /// Scores fall with the distance, in each head by its own slope (ALiBi, arXiv 2108.12409).
  bool slopes = false;
  /// The base of the powers that are the angles of rotary positions; 0: there are none. `local_rotary` holds the base
  /// for layers with a window. config.json has it as "rope_theta" in "rope_parameters" (there also by the kind of
  /// layer), or under this key.
  struct Rotary {
    double otherwise = 0;
    const char* key = nullptr;
    /// The part of a head that is turned: as "partial_rotary_factor" says, or this key, or so many columns by a third one.
    double part = 1;
    const char* part_key = nullptr;
    /// "partial_rotary_factor" may say a part where `part` is 1; other models of such families turn whole heads, whatever it says.
    bool part_if_said = false;
    const char* width_key = nullptr;
    uint32_t width_otherwise = 0;
    /// The part may be an odd number of columns; one more is turned, too, as transformers does.
    bool odd_part = false;
    /// A table of sines and then cosines of angles, by places, that files may have; null: the settings say all.
    const char* table = nullptr;
    /// Angles are negative.
    bool backwards = false;
    /// "rope_parameters" where neither they nor "rope_scaling" are there, as JSON; null: unscaled.
    const char* parameters_otherwise = nullptr;
  };
  Rotary rotary, local_rotary;
  /// Tokens that local layers see, half of them on each side; no key: no layer is local. All are but each `full_every`th, or as
  /// "layer_types" says. Of decoders: tokens that a token sees, itself included, in the layers that `windows` says.
  Count window, full_every;
  /// The first of each `full_every` layers sees all tokens, not the last.
  bool full_first = false;
  /// Decoder layers that see all tokens have no rotary positions, if other layers may have a window.
  bool turned_in_windows = false;
  /// An encoder's window is of so many tokens on each side, not of so many in all.
  bool window_each_side = false;
  /// A flag (absent: set) without which a decoder's window does not count the token itself; null: it does.
  const char* window_counts_itself = nullptr;
  /// Distance beyond which all are the same (Block::shifted), where "clamp_len" is absent; below 1: none are.
  double clamp_otherwise = -1;
  /// kAll: in all layers, where the setting is there. kFrom: with "use_sliding_window", from layer "max_window_layers" on. kKinds: as
  /// "attention_types" says, [[["global", "local"], 12]], or without it `kinds`; null: in none. kEvery: in all but each
  /// `full_every`th, or as "layer_types" says.
  enum class Windows { kAll, kFrom, kKinds, kEvery };
  Windows windows = Windows::kAll;
  const char* kinds = nullptr;
  /// The key of tokens that each layer's window has, half of them on each side: a number, or one a layer; and of the steps in which
  /// windows go ("attention_dilation" of Longformer's authors), a number a layer.
  const char* spans = nullptr;
  const char* dilations = nullptr;
  /// Attention is by blocks of tokens, as "attention_type", "block_size" and "num_random_blocks" say (Big Bird, arXiv 2007.14062).
  bool blocks = false;
  /// The key of bases of rotary positions, one a layer; 0: it has none.
  const char* layer_bases = nullptr;
  /// Layers without rotary positions: zeros in the list under this key, or without it each of so many by the other one (SmolLM 3).
  const char* turned_layers = nullptr;
  Count unturned_every;
  /// Pixels of a side of a patch of an image, where config.json does not say it.
  uint32_t patch_otherwise = 16;
  /// For attention by sums over keys: the number of features of a query and of a key (Block::features), or of sums
  /// (Block::projected).
  Count features;
  /// Rows and columns of the table of entities (Slot::kEntities), and heads of their attention.
  Count entities, entity_width, entity_heads;
  /// Experts of a layer (Slot::kRouter), those of a token, and columns between the two layers of one (no key: `intermediate`).
  Count experts, experts_of_token, expert_columns;
  /// Shares of a token's experts are divided by their sum.
  Flag shares_of_one;
  /// Columns of the experts that all tokens go through; no key: so many times those of another one. 0: there are none.
  Count shared_columns, shared_experts{nullptr, 1};
  /// The kind of shares that scores of experts become; with `choice_by_scores` Slot::kChoiceBias is added to scores, not to shares.
  fb::ShareKind shares = fb::ShareKind::softmax;
  bool choice_by_scores = false;
  /// Keys of a factor of what experts make, not of those of all tokens, and of half the threshold of masked shares.
  const char* expert_factor = nullptr;
  double expert_factor_otherwise = 1;
  const char* half_threshold = nullptr;
  double half_threshold_otherwise = 0;
  /// Most tokens of an expert; no key: any number.
  Count expert_capacity;
  /// Layers of experts. kAll: all. kSteps: so many as `expert_layers` says, from the second of each step on; kListed: the last of each
  /// "decoder_sparse_step", those that "mlp_only_layers" names left out. kBehind: all behind so many as `expert_layers` says, or as
  /// "mlp_layer_types" lists them. kBetween: each so many, from one on to another (ERNIE 4.5).
  enum class ExpertLayers { kAll, kSteps, kListed, kBehind, kBetween };
  ExpertLayers layers_of_experts = ExpertLayers::kAll;
  Count expert_layers;
};

/// The rows that a head reads: every token; the first token; the pooler's row of the first token; the row that
/// "classifier_pooling" names: "cls" (the first token) or "mean"; the row that "summary_type" names: "last" (the
/// default), "first" or "mean"; the row of recurrent layers that "pooling" names: "last" (the last state of each
/// direction, the default), "mean" or "max"; the last token; two rows of an image (network/blocks/patches.h); or the
/// whole image by attention (network/blocks/attention_pooling.h). kLate: as kOfSetting, with "late" (the default): every
/// token, whose scores are averaged; and "bos" for the first token.
enum class Rows { kTokens, kFirst, kPooler, kOfSetting, kSummary, kState, kLast, kTwo, kProbe, kLate };

/// A linear layer of a head, with its activation and norm.
struct HeadLayer {
  enum class Out {
    kLabels,
    kHidden,
    kInner /* as the tensor is */,
    kEmbedding,
    kVocabulary,
    kOne,
    kTwo,
    kVector /* too */
  };
  enum class Activation { kNone, kRelu, kTanh, kGelu, kGeluTanh, kOfModel, kOfSetting };
  const char* name;
  Out out;
  Activation activation = Activation::kNone;
  const char* norm = nullptr;
  /// Vocabulary: where the bias stands in files that have no NAME.bias.
  const char* bias = nullptr;
  /// kOfSetting: the key in config.json and its default.
  const char* setting = nullptr;
  const char* setting_otherwise = nullptr;
  /// Vocabulary: where the columns stand that the embeddings do not have, [columns, vocabulary] in NAME.weight.
  const char* beside = nullptr;
  /// A flag without which (it is true where it is absent) nothing but the layer's activation is there.
  const char* only_if = nullptr;
  /// There is no bias.
  bool bare = false;
  /// Vocabulary: settings that scores are multiplied with, divided by, and capped at, c tanh(s / c); null, absent or null in the
  /// settings: they are not.
  const char* factor = nullptr;
  double factor_otherwise = 1;
  const char* divisor = nullptr;
  const char* cap = nullptr;
  double cap_otherwise = 0;  // where the setting is absent; 0: none
  /// Vocabulary: `bias` is a matrix of one row, and not in every file.
  bool row_bias = false;
  bool over_root = false;  // and divided by the root of the columns they are made of
  /// It reads two of the encoder's rows side by side, whatever stands in front of it.
  bool two_rows = false;
  /// Its tensors belong to the base model: their names begin as the layers' do.
  bool of_base = false;
  /// The head's input is added in front of the norm.
  bool adds_rows = false;
};

struct Head {
  fb::TaskKind task;
  /// The name of transformers' class for the model, behind the family's own name; null: no class has such a name.
  const char* architecture;
  Rows rows = Rows::kTokens;
  std::vector<HeadLayer> layers = {};
  /// Names of labels that are no setting of the model. Of two labels and one score, the second's, the first has the score 0.
  std::vector<const char*> labels = {};
  /// Name of the output where it stands beside another head's (pre-training).
  const char* output = nullptr;
  /// As Settings::required.
  std::vector<std::pair<const char*, const char*>> required = {};
  /// For an encoder-decoder: the head stands on the encoder, and the decoder is left out.
  bool of_source = false;
  /// Ids without segments have segment 1 behind the first separator, "sep_token_id", or behind their first token.
  bool separated = false;
  /// answer: ends are scored behind each of the likeliest beginnings. Layers: scores of beginnings; of ends; that there is no answer.
  bool searches = false;
};

/// The structure of a layer: which parts it has and where they stand.
struct Block {
  /// Norms stand in front of attention and feed-forward layers instead of behind them; the first layer has none in front of its
  /// attention, which reads what the embeddings' norm leaves. One more stands behind the last layer.
  bool norm_first = false;
  /// Linear layers and norms have a bias where the file has one.
  bool optional_biases = false;
  /// Norms of the encoder are gamma * x + beta.
  bool affine_norms = false;
  /// Layers work in fewer columns than they pass on, as settings say (MobileBERT, arXiv 2004.02984); the projection of embeddings
  /// widens words alone, or three neighbours of them.
  bool bottlenecks = false;
  /// Scores have terms of relative places, as settings say.
  bool places = false;
  /// The projection of embeddings stands in front of their norm, and has no bias.
  bool sums_projected = false;
  /// There is a projection of embeddings even where they are as wide as what it makes.
  bool always_projected = false;
  /// Attention is Transformer-XL's (arXiv 1901.02860): scores have terms of sinusoids of distances, and with Slot::kSegmentKeys of
  /// segments (XLNet, arXiv 1906.08237).
  bool shifted = false;
  /// Tensors of attention are those of heads ([hidden, heads, head width]); their names are whole.
  bool by_head = false;
  /// Words may be shared out in clusters, the rarer the fewer columns (network/blocks/adaptive.h).
  bool clustered = false;
  /// Tokens are patches of an image (network/blocks/patches.h).
  bool patches = false;
  /// With `norm_first`: the first layer's attention has a norm in front, too, and embeddings have none.
  bool norm_before_all = false;
  /// Tokens see themselves and those in front of them: the layers of a decoder.
  bool causal = false;
  /// Norms have neither factors nor biases: files have no tensors for them.
  bool plain_norms = false;
  /// Norms are divisions by the root of the mean square.
  bool rms_norms = false;
  /// Files have factors of norms less 1.
  bool gammas_less_one = false;
  /// Queries and keys have norms of each head by itself.
  bool head_norms = false;
  /// In parallel layers (Settings::parallel) feed-forward layers have a norm of their own.
  bool parallel_norms = false;
  /// Rotary positions turn neighbours, (2 i, 2 i + 1).
  bool neighbours = false;
  /// Slot::kQueriesKeysValues is all queries, all keys, all values. Otherwise each head of keys and values follows the queries that
  /// share it.
  bool together = false;
  /// Slot::kQueriesKeysValues is as many groups of columns, each with all its queries, then values, then keys. 0: it is not.
  uint32_t value_first_groups = 0;
  /// The norm of embeddings is that of words alone, in front of the sum with positions.
  bool words_normed = false;
  /// Scores are not divided by the root of a head's width.
  bool unscaled = false;
  /// Texts are filled up to their limit, and what fills them is seen (SigLIP).
  bool filled = false;
  /// Features of queries and keys stand in the softmax's place (Performer, arXiv 2009.14794).
  bool features = false;
  /// Keys and values are summed over tokens by their places (Linformer, arXiv 2006.04768).
  bool projected = false;
  /// Layers pass on two streams of rows: attention reads the second stream and adds its output to the first;
  /// feed-forward layers read the first and add to the second (reversible layers, arXiv 1707.04585). Both streams side
  /// by side are normed behind the last layer. Attention is by chunks, as settings say.
  bool reversible = false;
  /// Norms of queries and keys come behind their rotary positions.
  bool norms_behind = false;
  /// There are no layers: a text's vector is the average of its tokens' rows, special tokens left out.
  bool averaged = false;
};

/// How to tell published files of a family from those of another family whose model_type they bear: by a setting, where
/// a key is given, by a part of some tensor's name, and by the class where one is given.
struct Published {
  const char* model_type = nullptr;  // null: they are not
  const char* key = nullptr;         // null: the tensor says it all
  const char* value = nullptr;
  const char* tensor = nullptr;
  const char* architecture = nullptr;  // transformers' class, whole; null: any
};

/// Layers that a family builds itself, because they are not made of the stack's blocks.
struct OwnLayers {
  void (*add)(const LayerSite& site) = nullptr;  // null: the stack builds the layers
  /// Why students keep all of them, as the middle of a sentence.
  const char* why_they_stay = nullptr;
  /// Prefixes of their tensors' names, after the base model's. Students copy such tensors; without prefixes the family has no
  /// students.
  std::vector<const char*> tensors = {};
  /// A matrix [vocabulary, columns] outside of the base model that adds to the scores of words; null: there is none.
  const char* scores = nullptr;
};

struct Family {
  /// "model_type" of config.json; files that bear another's are taken for the first of them.
  std::vector<const char*> model_types;
  Published published = {};
  /// A table of words that some files have in the shared one's place (Slot::kWords).
  const char* own_words = nullptr;
  /// A tensor that every file has, whole, relative to the base model; null: Slot::kWords.
  const char* anchor = nullptr;
  /// The base model's name in checkpoints ("bert" of "bert.encoder..."), and in the graph.
  const char* base = nullptr;
  /// Names that stand in the place of `base` in files of some classes.
  std::vector<const char*> other_bases = {};
  /// Prefixes of the names of transformers' classes.
  std::vector<const char*> architectures;
  Settings settings;
  /// A layer's place; {} is its number. With two, those of its group and of the layer inside (ALBERT).
  const char* layer = "encoder.layer.{}";
  Roles roles;
  Block block;
  OwnLayers own;
  std::vector<Head> heads;
  /// The encoder of an encoder-decoder, of which this is the decoder; it has no heads.
  std::shared_ptr<const Family> source = nullptr;
  /// Tensors of files that nothing uses: what their names begin with, and why.
  std::vector<std::pair<const char*, const char*>> unused = {};

  /// Prefixes of the names of heads' tensors: in older files, and in newer ones.
  std::vector<std::pair<const char*, const char*>> renamed = {};

  /// Files have numbers of layers behind the first word of a name: "layers.3.ffn.up" is "ffn.3.up" (XLM).
  bool numbers_behind = false;

  /// Classes of transformers that do not convert, behind the family's own name, and what to do instead.
  std::vector<std::pair<const char*, const char*>> refused = {};

  bool has(Slot slot) const { return roles.count(slot) != 0; }
  /// Is the role's name in files the tensor's, without ".weight"?
  bool is_whole(Slot slot) const;
  const char* name(Slot slot) const { return roles.at(slot); }
  /// Do several layers run the same weights?
  bool shares_layers() const { return settings.groups.key != nullptr; }
  /// Why nothing narrower can be made of it at all, as why_layers_stay() says it; null: something can.
  const char* why_no_draft() const {
    return source != nullptr || (own.add != nullptr && own.tensors.empty()) ? why_layers_stay() : nullptr;
  }
  /// Why layers cannot go, lose feed-forward columns or heads each for itself, lose hidden columns, or share matrices with others, as
  /// the middle of a sentence; null: they can. docs/students.md has the table of all families.
  const char* why_layers_stay() const;
  const char* why_columns_stay() const;
  const char* why_heads_stay() const;
  const char* why_hidden_stays() const;
  const char* why_matrices_stay() const;
  /// The first head for `task`; null: there is none.
  const Head* head(fb::TaskKind task) const;
  /// Bit i: there is a head for the task of number i. Several labels and regression come with one of labels.
  uint32_t tasks() const;
};

Axes axes_of(const Family& family, Slot slot);

/// Every family, in the order of families.inc.
const std::vector<Family>& families();
/// The family of this model_type; null: unknown.
const Family* find_family(std::string_view model_type);
/// The family that published files with these settings and tensors are of, though their model_type is another's; null: there is
/// none. O(tensors * families).
const Family* find_published(const Json& config, const std::vector<std::string>& tensors);
/// The known model_type that is spelled most like it; "" where none is near.
std::string nearest_model_type(std::string_view model_type);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_NETWORK_FAMILY_H_
