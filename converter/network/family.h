// Family describes a kind of encoder as data: its settings in config.json, its tensors by their roles, and its heads.
// The stack, the heads, students and the tests are built from it. Each family is one file of network/families and one
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

/// The quantity that an axis of a tensor counts. kEmbedding: columns of embedding tables, which equal the hidden
/// columns unless a layer projects them. kScores: columns of queries and keys; kValues: columns of values and contexts;
/// kShared: columns of keys or of values, which several heads may share; kHead: columns of one head. kInner: columns
/// between bottlenecks; kValueInput: input columns of the value projection with bottlenecks; kWordInput: input columns
/// of the projection of words. kEntities: rows of the entity table; kEntity: its columns. kExperts: experts of a layer;
/// kExpertFfn: columns between the two feed-forward layers of one expert; kSharedFfn: the same for the experts that all
/// tokens go through. kHeads: heads of queries. kStreams: columns of both streams of reversible layers.
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
  kTaskTypes,  // row 0 is added to every token: the default of transformers
  // Biases of scores by buckets of distances, [buckets, heads]; one table for all layers, or one per layer if the name
  // contains {}.
  kDistances,
  kEntities,  // vectors of entities that accompany tokens (ERNIE, arXiv 1905.07129)
  // kFirstAxis and kSecondAxis: embeddings of positions by two axes, concatenated by columns: a row for each block of
  // neighboring positions, and a row for each position within its block.
  kFirstAxis,
  kSecondAxis,
  kPlaces,  // embeddings of relative positions, shared by all layers (DeBERTa, arXiv 2006.03654)
  // Slots of image models: the rows of patch positions, the row of the whole image, the row of the distillation token,
  // and the layer that turns patches into rows.
  kPatchPlaces,
  kWholeImage,
  kTeacherToken,
  kPatches,
  // Modules of the model.
  kEmbeddingNorm,
  // Projects the embedding tables' columns to the hidden width, after their norm (Block::sums_projected: before it).
  kEmbeddingProjection,
  // A convolution over tokens that reads the first layer's input; its output is added to the first layer's output and
  // normed.
  kConvolution,
  kConvolutionNorm,
  kPlacesNorm,
  // Matrices without biases that sum over tokens by position (Linformer, arXiv 2006.04768), shared by all layers.
  kTokenProjection,
  // bantam's own layouts: projects the factors of the word table to the hidden width, before the norm.
  kFactorProjection,
  kPooler,
  kLastProjection,  // without a bias: projects the last layer's rows to the columns of the embedding tables
  // Modules of each layer.
  kQuery,
  kKey,
  kValue,
  kQueryKey,  // queries that are also keys, in layers that hash (Reformer, arXiv 2001.04451)
  // kGlobalQuery, kGlobalKey, kGlobalValue: queries of global tokens, and keys and values that they read (Longformer,
  // arXiv 2004.05150).
  kGlobalQuery,
  kGlobalKey,
  kGlobalValue,
  // One matrix, group by group (Block::together); without a bias if kQueryBias holds the bias of queries.
  kQueriesKeysValues,
  kQueryBias,  // kQueryBias and kValueBias are vectors; names are complete
  kValueBias,
  kPlaceKey,  // kPlaceKey and kPlaceQuery project embeddings of relative positions to keys and queries
  kPlaceQuery,
  // Shifted attention (Block::shifted), complete names: kPlaceBias and kSegmentBias are added to queries before their
  // products with positions and with segments (kQueryBias: with keys); kSegmentKeys are the keys of the same segment
  // and of another one.
  kPlaceBias,
  kSegmentBias,
  kSegmentKeys,
  // Vectors of distances: products with queries of all heads, and with keys (Shaw et al., arXiv 1803.02155).
  kDistanceKeys,
  // Without a bias: a convolution over tokens of each head's values, added to the head's context, [heads, 1, tokens, 1]
  kValueConvolution,
  // Slots of convolutions beside attention (ConvBERT, arXiv 2008.02496; network/blocks/span_convolution.h): keys from
  // neighbors (a depthwise convolution, a matrix and its bias, a complete name), scores of neighbors, and values.
  kSpanDepthwise,
  kSpanPointwise,
  kSpanBias,
  kSpanScores,
  kSpanValues,
  // Without a bias: random vectors for the features of queries and keys (Performer, arXiv 2009.14794).
  kFeatureMatrix,
  // kKeyProjection and kValueProjection, without biases: kTokenProjection for one layer's keys and values.
  kKeyProjection,
  kValueProjection,
  // kQueryNorm and kKeyNorm: norms over all heads of a token together, or over each head (Block::head_norms).
  kQueryNorm,
  kKeyNorm,
  kAttentionOut,
  kAttentionNorm,
  kSumNorm,  // norms the sum of kAttentionNorm's output and the layer's input
  // kAttentionFactors and kDownFactors, vectors with complete names: factors of the outputs of attention and
  // feed-forward layers.
  kAttentionFactors,
  kDownFactors,
  // kAttentionOutNorm and kDownOutNorm norm the outputs of attention and feed-forward layers before the residual sum.
  kAttentionOutNorm,
  kDownOutNorm,
  kAttentionGate,  // its sigmoid multiplies the attention's context
  // A vector with a complete name: for each head a score that all queries have, and that has no value.
  kSinks,
  // kContextNorm and kWideNorm norm the attention's context, and activated columns, before their output matrices.
  kContextNorm,
  kWideNorm,
  // Short convolutions that replace attention in some layers (EncoderConfig::attends): rows of kShortInput, times
  // kShortGate if the family has it, go through one filter for each column, kShortTaps [hidden, 1, tokens]; the results
  // times kShortOutGate go through kShortOut (LFM2).
  kShortGate,
  kShortOutGate,
  kShortInput,
  kShortTaps,
  kShortOut,
  // A gated recurrence behind the filters, with an activated kShortOutGate (RecurrentGemma): kStateRates is a vector
  // with a complete name; to the names of the gates of inputs and of rates, _weight [heads, columns, columns] and _bias
  // are added.
  kStateRates,
  kInputGate,
  kRateGate,
  kForget,  // kForget and kCandidate: SSRU cells, which replace a decoder's self-attention
  kCandidate,
  // Slots of bottlenecks: dense layers and norms before the layer (for the residual; for queries and keys) and after
  // it, and the feed-forward layers before the last one, numbered within the layer ("ffn.{}.").
  kNarrow,
  kNarrowNorm,
  kNarrowScores,
  kNarrowScoresNorm,
  kStackUp,
  kStackDown,
  kStackDownNorm,
  kWiden,
  kWidenNorm,
  kUp,    // its output is activated
  kGate,  // its output multiplies the activated columns
  kDown,
  kDownNorm,
  // Vectors of one number with complete names: the numbers of xIELU (network/blocks/xielu.h), which activates kUp.
  kCurveAbove,
  kCurveBelow,
  kCurveSlope,
  // Slots of expert layers, which replace kUp, kGate and kDown: the module that scores the experts, and the experts'
  // modules, numbered within the layer ("experts.{}.up"). A name without {} is one tensor of all experts: each expert's
  // kExpertGate rows follow its kExpertUp rows (Block::gates_between: alternate with them), and with "^" inputs come
  // before outputs. Its biases are "NAME_bias".
  kRouter,
  kExpertUp,
  kExpertGate,
  kExpertDown,
  // A vector with a complete name, added to shares (or to scores: Settings::choice_by_scores) to choose experts.
  kChoiceBias,
  kSharedUp,  // kSharedUp, kSharedGate and kSharedDown: the experts that all tokens go through
  kSharedGate,
  kSharedDown,
  kSharedScale,  // one output, without a bias; its sigmoid multiplies the output of the shared experts
  // Slots of attention to a source (cross-attention), in the layers of an encoder-decoder's decoder.
  kCrossQuery,
  kCrossKey,
  kCrossValue,
  kCrossOut,
  kCrossNorm,
  // Slots of entities, in layers that have them: their attention, the module that adds them to the feed-forward layer
  // (kEntityUp), and the module after that layer that computes the rows for the next layer (kEntityDown).
  kEntityQuery,
  kEntityKey,
  kEntityValue,
  kEntityOut,
  kEntityAttentionNorm,
  kEntityUp,
  kEntityDown,
  kEntityNorm,
  kFinalNorm,  // after the last layer
  // Names in the graph of operators and tensors that a file does not store: the concatenated matrices of queries, keys
  // and values, and operators without weights.
  kQkv,
  kHeads,
  kAttention,
  kKeysValues,  // attention by sums over keys: concatenated keys and values, and their sums (kKeySums)
  kKeySums,
  kGates,  // SSRU cells: their concatenated matrices, and the cells themselves (kCells)
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
         slot == Slot::kDownFactors || slot == Slot::kSpanBias || slot == Slot::kSinks || slot == Slot::kChoiceBias ||
         (slot >= Slot::kCurveAbove && slot <= Slot::kCurveSlope) || slot == Slot::kStateRates;
}
constexpr bool is_of_layer(Slot slot) { return slot >= Slot::kQuery && slot != Slot::kFinalNorm; }
/// True for slots of attention among the tokens of a text; the layer's norm is none of them. The second function is
/// true for slots of short convolutions.
constexpr bool is_of_attention(Slot slot) {
  return (slot >= Slot::kQuery && slot <= Slot::kAttentionOut) ||
         (slot >= Slot::kAttentionGate && slot <= Slot::kContextNorm);
}
constexpr bool is_of_short(Slot slot) { return slot >= Slot::kShortGate && slot <= Slot::kRateGate; }
/// True for slots of attention to a source (cross-attention), whose keys and values come from the encoder's output.
constexpr bool is_cross(Slot slot) { return slot >= Slot::kCrossQuery && slot <= Slot::kCrossNorm; }
/// True for slots of entities in layers. The second function is true only for slots of layers in which entities attend
/// to each other.
constexpr bool is_of_entities(Slot slot) { return slot >= Slot::kEntityQuery && slot <= Slot::kEntityNorm; }
constexpr bool is_of_entity_attention(Slot slot) {
  return slot >= Slot::kEntityQuery && slot <= Slot::kEntityAttentionNorm;
}
/// True for slots of the experts that all tokens go through.
constexpr bool is_shared(Slot slot) { return slot >= Slot::kSharedUp && slot <= Slot::kSharedScale; }
/// True for slots that have a tensor for each expert.
constexpr bool is_of_expert(Slot slot) { return slot >= Slot::kExpertUp && slot <= Slot::kExpertDown; }
constexpr bool is_stored(Slot slot) { return slot < Slot::kQkv; }
/// True for norms that a family may store without factors (Block::plain_norms).
constexpr bool is_plain_norm(Slot slot) {
  return slot == Slot::kEmbeddingNorm || slot == Slot::kAttentionNorm || slot == Slot::kDownNorm ||
         slot == Slot::kQueryNorm || slot == Slot::kKeyNorm || slot == Slot::kFinalNorm;
}

/// Rows and columns of a table or of a module's weight; a norm has rows only.
struct Axes {
  Axis rows, columns;
};

/// Names by slot, relative to the base model or to a layer. Names of tables are complete ("....weight"). "NAME[1/3]" is
/// the second of three equal parts of the rows of NAME; "NAME^" is stored as [inputs, outputs] (tensor_part).
using Roles = std::map<Slot, const char*>;

/// A count in config.json. Without a key its value is always `otherwise`.
struct Count {
  const char* key = nullptr;
  uint32_t otherwise = 0;
};

/// A flag in config.json. Without a key its value is always `otherwise`.
struct Flag {
  const char* key = nullptr;
  bool otherwise = false;
};

struct Settings {
  Count vocabulary{"vocab_size", 30522};
  Count positions{"max_position_embeddings", 512};
  /// --max-tokens may allow texts longer than `positions`.
  bool any_length = false;
  Count segments{"type_vocab_size", 2};
  /// The only row of a one-row segment table is added to every token, and segments are not an input.
  bool lone_segment = false;
  Count hidden{"hidden_size", 768};
  Count layers{"num_hidden_layers", 12};
  Count heads{"num_attention_heads", 12};
  Count intermediate{"intermediate_size", 3072};
  /// Columns of embedding tables; no key, or 0: `hidden`.
  Count embedding;
  /// Rows of the task type table; no key: the family has none. The table exists only if the flag `task_types_if` is
  /// set.
  Count task_types;
  const char* task_types_if = nullptr;
  /// Number of groups of layers; each group shares one set of weights and runs `inner_layers` layers per pass (ALBERT).
  Count groups;
  Count inner_layers{nullptr, 1};
  const char* activation = "hidden_act";
  const char* activation_otherwise = "gelu";
  /// Other keys that published files use for some of these settings: {other, key}.
  std::vector<std::pair<const char*, const char*>> synonyms = {};
  /// Flags and settings that must have this value if present; other values mean another graph.
  std::vector<std::pair<const char*, const char*>> required = {};
  /// Without a key it is always `epsilon_otherwise`.
  const char* epsilon = "layer_norm_eps";
  double epsilon_otherwise = 1e-12;
  /// Tokens start at the row `padding` + 1 of the position table; without a key at row 0.
  Count padding;
  /// padding_is_fixed: `padding` is its default whatever config.json says. rows_behind_padding: `positions` does not
  /// count the rows before the first token's.
  bool padding_is_fixed = false, rows_behind_padding = false;
  /// Rows of the position table before the first token's, which `positions` does not count.
  uint32_t positions_in_front = 0;
  /// Heads of keys and values; 0: as many as heads of queries. head_width: the key of a head's width (absent: `hidden`
  /// / `heads`).
  Count kv_heads;
  const char* head_width = nullptr;
  uint32_t width_parts = 1;           // divides the width that heads have otherwise
  uint32_t head_width_otherwise = 0;  // if the setting is absent; 0: `hidden` / `heads`
  /// Where `one_kv_head` is true there is one head of keys and values, otherwise as many as heads of queries; but if
  /// `own_kv_heads` is true, `kv_heads` applies (Falcon).
  Flag one_kv_head, own_kv_heads;
  /// If it is false, the model has no norms of queries and keys, although the family does.
  Flag head_norms{nullptr, true};
  /// Attention and feed-forward layers read the same input, and both outputs are added to it.
  Flag parallel;
  /// Keys of factors: of embeddings (no key and `scaled_embeddings`: the square root of `hidden`); of scores (or
  /// `score_width`: a width whose square root divides scores); of what attention and feed-forward layers add. soft_cap:
  /// the key of the cap of scores; null means no cap, absent means `soft_cap_otherwise`.
  const char* embedding_factor = nullptr;
  bool scaled_embeddings = false;
  const char* score_factor = nullptr;
  float score_factor_otherwise = 1;  // 0: the square root of a head's width divides scores
  Count score_width;
  const char* added_factor = nullptr;
  const char* soft_cap = nullptr;
  float soft_cap_otherwise = 0;
  /// Reads the family's own attention mask; null: decoders are causal, encoders have no mask. Problems go to `config`.
  void (*read_mask)(const Fields& config, EncoderConfig& out) = nullptr;
  /// Keys of a decoder's start token if "decoder_start_token_id" is absent; null: there is none. `made_start` is for
  /// generated texts, as in transformers' generate(); `shifted_start` for decoder inputs that transformers shifts right
  /// by one token.
  const char* made_start = "bos_token_id";
  const char* shifted_start = nullptr;
  /// Decoder inputs begin with the source's last token, which transformers moves to the front.
  bool shifted_around = false;
  /// Reads and refuses what no other setting expresses; runs after counts and positions are read. May be null.
  void (*settle)(const Fields& config, EncoderConfig& out) = nullptr;
  /// Tokens of a decoder see later tokens, too.
  Flag both_ways;
  /// If the setting is absent or null, `intermediate` is `widening` times `hidden`. 0: no such rule.
  uint32_t widening = 0;
  /// "gelu" means the tanh approximation.
  bool tanh_gelu = false;
  /// The output layer over the vocabulary is not tied to the word embeddings unless "tie_word_embeddings" says so.
  bool untied = false;
  /// Buckets of distances (Slot::kDistances); the last bucket holds distances from `most_distance` on. 0: there are
  /// none.
  Count buckets;
  Count most_distance{nullptr, 128};
  /// Embeddings are multiplied by the square root of their width if this flag is set.
  Flag scaled_if;
  /// Positions are sinusoids, which a file may lack. kHalves: sines, then cosines, of p / 10000^(2 i / width). kSteps:
  /// of p / 10000^(i / (width / 2 - 1)), where the first token has p = `positions_in_front`.
  enum class Sinusoids { kNone, kHalves, kSteps };
  Sinusoids sinusoids = Sinusoids::kNone;
  /// The input of the output layer over the vocabulary is divided by the square root of its width if
  /// "scale_decoder_outputs" is true; with kTied also if it is absent and the layer is tied to the word embeddings.
  enum class Divides { kNever, kAsked, kTied };
  Divides divides = Divides::kNever;
  /// Scores fall linearly with the distance, with one slope per head (ALiBi, arXiv 2108.12409).
  bool slopes = false;
  /// The base of the angles of rotary positions; 0: there are none. `local_rotary` is for layers with a window.
  /// config.json stores the base as "rope_theta" in "rope_parameters" (there possibly by kind of layer), or under
  /// `key`.
  struct Rotary {
    double otherwise = 0;
    const char* key = nullptr;
    /// The part of a head that is rotated: from "partial_rotary_factor" or `part_key`, or as a number of columns from
    /// `width_key`.
    double part = 1;
    const char* part_key = nullptr;
    /// "partial_rotary_factor" may state a part although `part` is 1. Other models with `part` 1 rotate whole heads,
    /// whatever it says.
    bool part_if_said = false;
    const char* width_key = nullptr;
    uint32_t width_otherwise = 0;
    /// The part may be an odd number of columns; then one more column is rotated, too, as in transformers.
    bool odd_part = false;
    /// A table of sines, then cosines, of angles by position, which files may have; null: the settings define the
    /// angles.
    const char* table = nullptr;
    /// Angles are negative.
    bool backwards = false;
    /// JSON of "rope_parameters" if the file has neither "rope_parameters" nor "rope_scaling"; null: unscaled.
    const char* parameters_otherwise = nullptr;
  };
  Rotary rotary, local_rotary;
  /// Encoders: the number of tokens that local layers see, half on each side; no key: no layer is local. All layers are
  /// local except every `full_every`th, or as "layer_types" lists. Decoders: the number of tokens that a token sees,
  /// itself included, in the layers that `windows` selects.
  Count window, full_every;
  /// The first of every `full_every` layers sees all tokens, not the last.
  bool full_first = false;
  /// Decoder layers that see all tokens have no rotary positions if other layers may have a window.
  bool turned_in_windows = false;
  /// An encoder's window counts tokens on each side, not in total.
  bool window_each_side = false;
  /// The key of a flag (default true); if false, a decoder's window does not count the token itself. null: it always
  /// counts.
  const char* window_counts_itself = nullptr;
  /// The largest distance that attention distinguishes (Block::shifted) if "clamp_len" is absent; below 1: no limit.
  double clamp_otherwise = -1;
  /// Decoder layers with a window. kAll: all, if the setting is present. kFrom: with "use_sliding_window", from layer
  /// "max_window_layers" on. kKinds: as "attention_types" lists, [[["global", "local"], 12]], or else `kinds`; null:
  /// none. kEvery: all except every `full_every`th, or as "layer_types" lists. kUnturned: with "use_sliding_window",
  /// layers without rotary positions, or as "layer_types" lists.
  enum class Windows { kAll, kFrom, kKinds, kEvery, kUnturned };
  Windows windows = Windows::kAll;
  const char* kinds = nullptr;
  /// spans: the key of the number of tokens in a window, half on each side: one number, or one per layer. dilations:
  /// the key of the step between these tokens ("attention_dilation" of Longformer's authors), one number per layer.
  const char* spans = nullptr;
  const char* dilations = nullptr;
  /// Attention works on blocks of tokens, set by "attention_type", "block_size" and "num_random_blocks" (Big Bird,
  /// arXiv 2007.14062).
  bool blocks = false;
  /// The key of a list of rotary bases, one per layer; 0: the layer has no rotary positions.
  const char* layer_bases = nullptr;
  /// Layers without rotary positions: those with 0 in the list under `turned_layers`; without that list, every
  /// `unturned_every`th layer (SmolLM 3).
  const char* turned_layers = nullptr;
  Count unturned_every;
  /// Side of a patch of an image in pixels if config.json does not state it.
  uint32_t patch_otherwise = 16;
  /// For attention by sums over keys: the number of features of a query and of a key (Block::features), or of sums over
  /// tokens (Block::projected).
  Count features;
  /// Rows and columns of the table of entities (Slot::kEntities), and heads of the entities' attention.
  Count entities, entity_width, entity_heads;
  /// Experts per layer (Slot::kRouter), experts per token, and columns between the two layers of an expert (no key:
  /// `intermediate`).
  Count experts, experts_of_token, expert_columns;
  /// The shares of a token's chosen experts are divided by their sum.
  Flag shares_of_one;
  /// Columns of the experts that all tokens go through; no key: `shared_experts` times the columns of another expert.
  /// 0: there are none.
  Count shared_columns, shared_experts{nullptr, 1};
  /// How scores become shares of experts. With `choice_by_scores`, Slot::kChoiceBias is added to scores instead of
  /// shares.
  fb::ShareKind shares = fb::ShareKind::softmax;
  bool choice_by_scores = false;
  /// Keys of a factor of the chosen experts' output (not of shared experts), and of half the threshold that masks
  /// shares.
  const char* expert_factor = nullptr;
  double expert_factor_otherwise = 1;
  /// The key of the share of the experts' output that training drops; 1 minus it is a factor, too (NLLB).
  const char* experts_dropped = nullptr;
  double experts_dropped_otherwise = 0;
  const char* half_threshold = nullptr;
  double half_threshold_otherwise = 0;
  /// The key of the bound of experts' columns before their activation, and of gates (no key and 0: there is none); and
  /// what is added to gates.
  const char* expert_limit = nullptr;
  double expert_limit_otherwise = 0;
  float gate_added = 0;
  /// Shares multiply the experts' inputs.
  bool scales_inputs = false;
  /// The largest number of tokens per expert; no key: no limit.
  Count expert_capacity;
  /// Which layers have experts. kAll: all. kSteps: about `expert_layers` evenly spaced layers, the second of each step.
  /// kListed: the last of every "decoder_sparse_step" layers, except those in "mlp_only_layers", or as
  /// "mlp_layer_types" lists. kNumbered: as "moe_layers" lists, or the last of every "interleave_moe_layer_step"
  /// layers. kBehind: all after the first `expert_layers`, or as "mlp_layer_types" lists. kBetween: every
  /// "moe_layer_interval"th layer from "moe_layer_start_index" to "moe_layer_end_index" (ERNIE 4.5). kLast: the last of
  /// every `expert_layers` layers; with 0 none (NLLB).
  enum class ExpertLayers { kAll, kSteps, kListed, kNumbered, kBehind, kBetween, kLast };
  ExpertLayers layers_of_experts = ExpertLayers::kAll;
  Count expert_layers;
};

/// The rows that a head reads: every token; the first token; the pooler's row of the first token; the row that
/// "classifier_pooling" names: "cls" (the first token) or "mean"; the row that "summary_type" names: "last" (the
/// default), "first" or "mean"; the row of recurrent layers that "pooling" names: "last" (the last state of each
/// direction, the default), "mean" or "max"; the last token; two rows of an image (network/blocks/patches.h); or
/// attention pooling over the whole image (network/blocks/attention_pooling.h). kLate: as kOfSetting, and also "late"
/// (the default: scores of every token are averaged) and "bos" (the first token).
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
  /// Vocabulary: the name of the bias in files without NAME.bias.
  const char* bias = nullptr;
  /// kOfSetting: the key in config.json and its default.
  const char* setting = nullptr;
  const char* setting_otherwise = nullptr;
  /// Vocabulary: the module whose weight [columns, vocabulary] holds the columns that the embeddings lack.
  const char* beside = nullptr;
  /// A flag (default true); if it is false, only the layer's activation remains.
  const char* only_if = nullptr;
  /// The layer has no bias.
  bool bare = false;
  /// Vocabulary: settings that multiply scores, divide them, and cap them (c tanh(s / c)). No key, or null in the
  /// settings: no such step.
  const char* factor = nullptr;
  double factor_otherwise = 1;
  const char* divisor = nullptr;
  const char* cap = nullptr;
  double cap_otherwise = 0;  // if the setting is absent; 0: none
  /// Vocabulary: `bias` is a matrix of one row, and may be missing.
  bool row_bias = false;
  bool over_root = false;  // scores are divided by the square root of the number of input columns
  /// The layer reads two of the encoder's rows side by side, whatever comes before it.
  bool two_rows = false;
  /// Its tensors belong to the base model: their names begin as those of the layers do.
  bool of_base = false;
  /// The head's input is added before the norm.
  bool adds_rows = false;
};

struct Head {
  fb::TaskKind task;
  /// The suffix of the name of transformers' class, after the family's own name; null: there is no such class.
  const char* architecture;
  Rows rows = Rows::kTokens;
  std::vector<HeadLayer> layers = {};
  /// Names of labels if no setting of the model names them. With two labels and one score, the score is the second
  /// label's, and the first label has the score 0.
  std::vector<const char*> labels = {};
  /// The name of the output if the model has another head, too (pre-training).
  const char* output = nullptr;
  /// As Settings::required.
  std::vector<std::pair<const char*, const char*>> required = {};
  /// For an encoder-decoder: the head reads the encoder, and the decoder is left out.
  bool of_source = false;
  /// If no segments are given, ids after the first separator ("sep_token_id"), or after their first token, have segment
  /// 1.
  bool separated = false;
  /// answer: end scores are computed for each of the likeliest begins. Its layers score begins, ends, and "no answer".
  bool searches = false;
  /// answer: a token's score is the product of its row with that of the first token "question_token_id", or of the first
  /// token of the text. Three layers for begins, then three for ends: two over that row, and one over each token's.
  bool by_question = false;
};

/// The structure of a layer: its parts and their order.
struct Block {
  /// Norms come before attention and feed-forward layers instead of after them. The first layer's attention has no norm
  /// before it, because it reads the output of the embeddings' norm. One more norm follows the last layer.
  bool norm_first = false;
  /// Linear layers and norms have a bias if the file has one.
  bool optional_biases = false;
  /// Norms of the encoder compute gamma * x + beta without statistics.
  bool affine_norms = false;
  /// Layers work in fewer columns than they pass on, as settings say (MobileBERT, arXiv 2004.02984). The projection of
  /// embeddings widens the word, or the concatenation of the word and its two neighbors.
  bool bottlenecks = false;
  /// Scores have terms of relative positions, as settings say.
  bool places = false;
  /// The projection of embeddings comes before their norm, and has no bias.
  bool sums_projected = false;
  /// The projection of embeddings covers words alone, before positions are added.
  bool words_projected = false;
  /// There is a projection of embeddings even if their width equals the hidden width.
  bool always_projected = false;
  /// Attention is Transformer-XL's (arXiv 1901.02860): scores have terms of sinusoids of distances, and with
  /// Slot::kSegmentKeys terms of segments (XLNet, arXiv 1906.08237).
  bool shifted = false;
  /// Tensors of attention are stored by head ([hidden, heads, head width]); their names are complete.
  bool by_head = false;
  /// Words may be divided into clusters; rarer words have fewer columns (network/blocks/adaptive.h).
  bool clustered = false;
  /// Tokens are patches of an image (network/blocks/patches.h).
  bool patches = false;
  /// With `norm_first`: the first layer's attention has a norm before it, too, and embeddings have none.
  bool norm_before_all = false;
  /// Tokens see only themselves and earlier tokens: the layers of a decoder.
  bool causal = false;
  /// Norms have neither factors nor biases, so files have no tensors for them.
  bool plain_norms = false;
  /// Norms of queries and keys have no factors, and layers without rotary positions have no such norms.
  bool plain_head_norms = false;
  /// Norms divide by the root mean square.
  bool rms_norms = false;
  /// Files store factors of norms minus 1.
  bool gammas_less_one = false;
  /// Norms of queries and keys cover each head separately.
  bool head_norms = false;
  /// In parallel layers (Settings::parallel) feed-forward layers have their own norm.
  bool parallel_norms = false;
  /// Rotary positions rotate neighboring columns, (2 i, 2 i + 1).
  bool neighbours = false;
  /// The rows of Slot::kQueriesKeysValues are all queries, then all keys, then all values. If false, each head of keys
  /// and values follows the queries that share it.
  bool together = false;
  /// Slot::kQueriesKeysValues consists of this many groups, each with queries, then values, then keys. 0: it does not.
  uint32_t value_first_groups = 0;
  /// The norm of embeddings covers words alone, before positions are added.
  bool words_normed = false;
  /// Scores are not divided by the square root of a head's width.
  bool unscaled = false;
  /// Texts are padded to their limit, and tokens see the padding (SigLIP).
  bool filled = false;
  /// Features of queries and keys replace the softmax (Performer, arXiv 2009.14794).
  bool features = false;
  /// Keys and values are summed over tokens by position (Linformer, arXiv 2006.04768).
  bool projected = false;
  /// Layers pass on two streams of rows: attention reads the second stream and adds its output to the first;
  /// feed-forward layers read the first and add to the second (reversible layers, arXiv 1707.04585). The last norm
  /// covers both streams, concatenated by columns. Attention works on chunks, as settings say.
  bool reversible = false;
  /// In a tensor of all experts, rows of gates lie between the rows of the activated part.
  bool gates_between = false;
  /// Norms of queries and keys follow their rotary positions.
  bool norms_behind = false;
  /// There are no layers: a text's vector is the average of its tokens' rows without special tokens.
  bool averaged = false;
};

/// How to tell published files of a family from those of another family whose model_type they have: by a setting, if a
/// key is given, by a part of a tensor's name, and by the class, if one is given.
struct Published {
  const char* model_type = nullptr;  // null: the family has no such files
  const char* key = nullptr;         // null: the tensor decides alone
  const char* value = nullptr;
  const char* tensor = nullptr;
  const char* architecture = nullptr;  // transformers' class, complete; null: any
};

/// Layers that a family builds itself, because they do not consist of the stack's blocks.
struct OwnLayers {
  void (*add)(const LayerSite& site) = nullptr;  // null: the stack builds the layers
  /// Why students keep all of them, as the middle of a sentence in a message.
  const char* why_they_stay = nullptr;
  /// Prefixes of their tensors' names, after the base model's. Students copy such tensors; without prefixes the family
  /// has no students.
  std::vector<const char*> tensors = {};
  /// A matrix [vocabulary, columns] outside the base model that adds to the vocabulary's scores; null: there is none.
  const char* scores = nullptr;
};

struct Family {
  /// "model_type" of config.json. Files found by `published` are treated as files of the first one.
  std::vector<const char*> model_types;
  Published published = {};
  /// A table of words that some files have in place of the shared one (Slot::kWords).
  const char* own_words = nullptr;
  /// The complete name of a tensor that every file has, relative to the base model; null: Slot::kWords.
  const char* anchor = nullptr;
  /// The base model's name in checkpoints ("bert" in "bert.encoder..."), and in the graph.
  const char* base = nullptr;
  /// Names that replace `base` in files of some classes.
  std::vector<const char*> other_bases = {};
  /// Prefixes of the names of transformers' classes.
  std::vector<const char*> architectures;
  Settings settings;
  /// The prefix of a layer's tensors; {} is its number. With two {}: the numbers of its group and of the layer within
  /// it (ALBERT).
  const char* layer = "encoder.layer.{}";
  Roles roles;
  Block block;
  OwnLayers own;
  std::vector<Head> heads;
  /// The encoder of an encoder-decoder, if this family is the decoder; that encoder has no heads.
  std::shared_ptr<const Family> source = nullptr;
  /// Tensors of files that nothing uses: prefixes of their names, and why.
  std::vector<std::pair<const char*, const char*>> unused = {};

  /// Prefixes of the names of heads' tensors: in older files, and in newer ones.
  std::vector<std::pair<const char*, const char*>> renamed = {};

  /// Files place a layer's number after the first word of a name: "layers.3.ffn.up" is stored as "ffn.3.up" (XLM).
  bool numbers_behind = false;

  /// Classes of transformers that do not convert, as suffixes of the family's own name, and what to do instead.
  std::vector<std::pair<const char*, const char*>> refused = {};

  bool has(Slot slot) const { return roles.count(slot) != 0; }
  /// True if files store the role's tensor under this very name, without a suffix ".weight".
  bool is_whole(Slot slot) const;
  /// True for norms that files do not store, because they have no factors.
  bool is_plain(Slot slot) const {
    const bool of_heads = slot == Slot::kQueryNorm || slot == Slot::kKeyNorm;
    return (block.plain_norms && is_plain_norm(slot)) || (block.plain_head_norms && of_heads);
  }
  const char* name(Slot slot) const { return roles.at(slot); }
  /// True if several layers share weights.
  bool shares_layers() const { return settings.groups.key != nullptr; }
  /// Why no smaller draft can be made of this family, with the text of why_layers_stay(); null: one can be made.
  const char* why_no_draft() const {
    const bool unknown = has(Slot::kStateRates) || (own.add != nullptr && own.tensors.empty());
    return source != nullptr || unknown ? why_layers_stay() : nullptr;
  }
  /// Why students cannot lose layers, lose feed-forward columns or heads of single layers, lose hidden columns, or
  /// share matrices between layers; as the middle of a sentence in a message. null: they can. docs/students.md has the
  /// table of all families.
  const char* why_layers_stay() const;
  const char* why_columns_stay() const;
  const char* why_heads_stay() const;
  const char* why_hidden_stays() const;
  const char* why_matrices_stay() const;
  /// The first head for `task`; null: there is none.
  const Head* head(fb::TaskKind task) const;
  /// Bit i is set if there is a head for task number i. A head for labels also serves several labels and regression.
  uint32_t tasks() const;
};

Axes axes_of(const Family& family, Slot slot);

/// Every family, in the order of families.inc.
const std::vector<Family>& families();
/// The family of this model_type; null: unknown.
const Family* find_family(std::string_view model_type);
/// The family of published files with these settings and tensors if their model_type names another family; null: none
/// matches. O(tensors * families).
const Family* find_published(const Json& config, const std::vector<std::string>& tensors);
/// The known model_type with the most similar spelling; "" if none is close.
std::string nearest_model_type(std::string_view model_type);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_NETWORK_FAMILY_H_
