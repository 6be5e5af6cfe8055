#include "session/layout.h"

#include "format/verdict.h"
#include "linked.h"
#include "model/heads.h"
#include "ops/heads.h"
#include "ops/score_bias.h"
#include "session/parts/shortlist.h"
#include "session/state.h"

namespace bantam {
namespace {

/// A tile reads distant memory (the weights of large models) once; the activations of more rows would not fit in the
/// second-level cache.
constexpr uint32_t kDefaultTile = 128;
/// With several workers, tile sizes are a multiple of this: the rows whose bytes are adjacent in a value page.
constexpr uint32_t kTileStep = 4;
constexpr uint32_t kPageRows = 16;
/// Smaller tiles would take as long, because reading the weights dominates.
constexpr uint32_t kLeastTile = 8;
/// Up to this number of rows, the workers share the weights of one tile instead (ops::Helpers).
constexpr uint32_t kRowsTogether = 12;
constexpr uint32_t kDefaultLength = 512;
constexpr uint32_t kMaxTokens = 1u << 24;
constexpr uint32_t kMaxTile = 4096;
constexpr uint32_t kMaxWorkers = 1024;

bool attends_in_i8(const fb::Model& model) {
  for (const fb::Tensor* t : *model.tensors()) {
    if (t->layout() == fb::Layout::value_pages && t->type() == fb::DType::i8) return true;
  }
  return false;
}

[[maybe_unused]] bool all_weights_are_float(const fb::Model& model) {
  for (const fb::Tensor* t : *model.tensors()) {
    if (integer_weights(*t)) return false;
  }
  return true;
}

/// This build has operators with wide sequence rows: sums over keys, term weights.
constexpr bool kWideSequences = linked::op(linked::kOpKeySums) || linked::kTerms;

/// Returns true if sequence rows are wide and all offsets that depend on their number are multiples of 64 bytes for any
/// number: the converter has rounded the rows up.
[[maybe_unused]] bool aligns_each_sequence(const fb::Model& model) {
  constexpr uint32_t kOfSequences = 1 + kSequences;
  bool sums = false;
  for (const fb::Op* op : *graph(model).ops()) {
    const fb::Linear* layer = op->attributes_as_Linear();
    sums |= op->attributes_type() == fb::OpAttributes::KeySums || (layer != nullptr && layer->saturations() != 0);
  }
  if (!sums || coefficient(plan_bytes(model, fb::Phase::main, fb::Region::shared), kOfSequences) % 64 != 0)
    return false;
  for (const fb::Tensor* t : *model.tensors()) {
    if (coefficient(t->offset(), kOfSequences) % 64 != 0) return false;
  }
  return true;
}

/// Returns the multiple to which the row count of this symbol is rounded up. The file's multiple keeps every tensor
/// 64-byte aligned; a quarter of it keeps them 16-byte aligned. Keys and values of tokens lie in pages of 16.
uint32_t row_multiple(const fb::Model& model, const Limits& limits, uint32_t symbol) {
  if (kWideSequences && symbol == kSequences && limits.each_sequence) return 1;
  const uint32_t multiple = model.symbols()->Get(symbol)->multiple();
  const bool paged = symbol == kTokens && !(linked::op(linked::kOpRecurrent) && limits.without_pages);
  return !paged && limits.row_alignment < multiple ? limits.row_alignment : multiple;
}

/// The most pages that a sequence of up to `longest` rows touches; only the first sequence, and every context, is sure
/// to begin at a page boundary.
uint32_t most_pages(const Limits& limits, uint32_t longest) {
  const bool aligned = limits.max_sequences == 1 || (linked::kContexts && limits.context != 0);
  return kernels::attention_pages(0, longest + (aligned ? 0 : kPageRows - 1));
}

/// The most keys of a sequence.
uint32_t most_keys(const Limits& limits) {
  return linked::kContexts && limits.context != 0 ? limits.context : limits.longest;
}
uint32_t most_keys(const Limits& limits, fb::Phase phase) {
  return linked::kSources && phase == fb::Phase::source ? limits.source : most_keys(limits);
}

/// Returns true if the plan has keys and values.
[[maybe_unused]] bool has_pages(const fb::Model& model) {
  for (const fb::Tensor* t : *model.tensors()) {
    if (t->layout() == fb::Layout::key_pages || t->layout() == fb::Layout::value_pages) return true;
  }
  return false;
}

/// Returns true if a dynamic operator of this kind supports contexts whatever its attributes are.
[[maybe_unused]] bool keeps_contexts(fb::OpAttributes kind) {
  enum Keeping { kKeeps, kAsks, kNever };
#define BANTAM_OP(name, own, numerics, inputs, required, outputs, whole, macs, matrices, kernels, contexts, ...) \
  if (contexts == kKeeps && linked::op(linked::kOp##name) && kind == fb::OpAttributes::own) return true;
#include "ops/ops.inc"
#undef BANTAM_OP
  return false;
}

/// Returns the reason why this model cannot have contexts: its tokens depend on later ones, or an operator does not
/// keep its state. Null: it can.
[[maybe_unused]] const char* why_no_contexts(const fb::Model& model) {
  uint32_t number = 0;
  bool beside = false, before = false;
  for (const fb::Step* step : *graph(model).steps()) {
    if (linked::kSources && step->phase() != fb::Phase::main) number += step->op_count();
  }
  for (; number < graph(model).ops()->size(); ++number) {
    const fb::Op* op = graph(model).ops()->Get(number);
    if (is_static(*op)) return "static quantization keeps no contexts";
    switch (op->attributes_type()) {
      case fb::OpAttributes::Attention: {
        const fb::Attention& a = *op->attributes_as_Attention();
        if (linked::kSources && a.cross()) break;
        const bool causal = a.mask() == fb::MaskKind::causal || a.mask() == fb::MaskKind::causal_window;
        if (!causal) return "tokens of this model see what is behind them, so that it keeps no contexts";
        if (linked::kPlaceScores && a.place_queries() >= 0) return "scores of keys' places keep no contexts";
        if (linked::kSegmentKeys && a.segment_keys() >= 0) return "keys of segments keep no contexts";
        break;
      }
      case fb::OpAttributes::Pool: {
        const fb::Pool& pool = *op->attributes_as_Pool();
        if (pool.kind() != fb::PoolKind::last || (linked::kPoolParts && count(pool.skip_last()) != 0) ||
            (linked::kPoolSkips && pool.skip_id() >= 0)) {
          return "a model that takes another row than a text's last one keeps no contexts";
        }
        break;
      }
      case fb::OpAttributes::Embed:
        for (const fb::EmbedTable* table : *op->attributes_as_Embed()->tables()) {
          if (table->source() >= fb::IndexSource::next && table->source() != fb::IndexSource::part) {
            return "embeddings of neighbours keep no contexts";
          }
        }
        break;
      case fb::OpAttributes::Recurrent:
        if constexpr (linked::op(linked::kOpRecurrent)) {
          if (!ops::goes_on(*op)) {
            return "a recurrent layer that begins behind a text or leaves tokens out keeps no contexts";
          }
        }
        break;
      case fb::OpAttributes::Unfold:
      case fb::OpAttributes::Depthwise:
        if (ops::reach_of(*op).after != 0) return "tokens beside those behind them keep no contexts";
        beside = true;
        break;
      case fb::OpAttributes::Previous:
        before = true;
        break;
      default:
        if (!keeps_contexts(op->attributes_type())) return "an operator of this model keeps no contexts";
    }
  }
  // Both may be stored under the number of the same tensor.
  if (beside && before) return "tokens beside those in front keep no contexts where others read the token before";
  return nullptr;
}

/// Rounds up at most 2^24 rows to a multiple of at most 4096.
uint32_t round_rows(uint32_t rows, uint32_t multiple) { return (rows + multiple - 1) / multiple * multiple; }

/// Rounds `bytes` up to 64, the alignment of the arena's parts. Not inlined, because 64-bit arithmetic takes a small
/// core several instructions.
[[gnu::noinline]] uint64_t aligned(uint64_t bytes) { return round_up(bytes, 64); }

void raise(uint64_t value, uint64_t* most) { *most = value > *most ? value : *most; }

/// Reserves the next `bytes` of the arena, rounded up to 64, and returns their offset.
uint64_t take(uint64_t bytes, uint64_t* at) {
  const uint64_t begin = *at;
  *at += aligned(bytes);
  return begin;
}

/// The most tokens of any pass.
uint32_t most_of_passes(const Limits& limits) {
  return linked::kSources && limits.source > limits.max_tokens ? limits.source : limits.max_tokens;
}

/// Sets the limits of sources. Encoder-decoders always have sources; other models refuse the options for them.
[[maybe_unused]] Status resolve_sources(const fb::Model& model, const SessionOptions& options, Limits* limits,
                                        Fault* fault) {
  const auto invalid = [fault](const char* what) {
    return refuse(Status::kInvalidArgument, what, "options", 7, fault);
  };
  if (!has_source(model)) {
    const bool asked = options.max_source != 0 || options.max_sources != 0;
    return asked ? invalid("the model has no sources: it is not an encoder-decoder") : Status::kOk;
  }
  limits->keep_chunk(chunk_tokens(model));
  limits->shifts = model.task() != nullptr && model.task()->shift_id() != -1;
  const uint32_t most = model.max_source();
  limits->source = options.max_source != 0 ? options.max_source : most != 0 ? most : kDefaultLength;
  limits->sources = options.max_sources != 0 ? options.max_sources : options.max_sequences;
  if (most != 0 && limits->source > most) return invalid("max_source is more than the model has positions");
  if (uint64_t{limits->source} * limits->sources > kMaxTokens) return invalid("more than 16,777,216 tokens of sources");
  return Status::kOk;
}

/// Returns the tensor of word scores if a run can compute its rows for only some tokens: no operator reads it, and the
/// last step writes it. -1: there is no such tensor.
int32_t scored_tensor(const fb::Model& model) {
  if (!linked::kScoredRows) return -1;
  const int32_t output = find_head(model, kFillHead);
  if (output < 0) return -1;
  const int32_t scores = model.outputs()->Get(static_cast<uint32_t>(output))->tensor();
  const fb::Tensor& t = tensor(model, scores);
  const fb::Step& last = *graph(model).steps()->Get(graph(model).steps()->size() - 1);
  if (!ops::is_token_rows(t) || last.rows() != int32_t{kTokens} || ops::goes_by_tokens(model, last)) return -1;
  for (uint32_t number = 0; number < graph(model).ops()->size(); ++number) {
    const ops::Operands operands(*graph(model).ops()->Get(number));
    for (uint32_t i = 0; i < operands.size(); ++i) {
      if (operands.tensor(i) == scores && (operands.access(i) != ops::Access::kWrite || number < last.first_op()))
        return -1;
    }
  }
  return scores;
}

}  // namespace

Status resolve(const Model& model, const SessionOptions& options, Limits* out, Fault* fault) {
  const auto invalid = [fault](const char* what) {
    return refuse(Status::kInvalidArgument, what, "options", 7, fault);
  };
  const fb::Model& m = root(model);
  const uint32_t length = m.max_sequence();
  Limits limits;
  if (options.max_sequences == 0) return invalid("max_sequences is 0");
  uint64_t tokens = options.max_tokens != 0 ? uint64_t{options.max_tokens}
                                            : uint64_t{length != 0 ? length : kDefaultLength} * options.max_sequences;
  if (options.max_context != 0) {
    if constexpr (!linked::kContexts) {
      return refuse(Status::kUnavailable, "this build keeps no contexts", "options", 7, fault);
    } else {
      if (const char* why = why_no_contexts(m)) return invalid(why);
      if (length != 0 && options.max_context > length)
        return invalid("max_context is more than the model has positions");
      if (uint64_t{options.max_context} * options.max_sequences > kMaxTokens) {
        return invalid("more than 16,777,216 tokens");
      }
      if (linked::kStates && slot_bytes(m) > kMostSlotBytes / options.max_sequences) {
        return invalid("contexts hold states of more than 2^40 bytes");
      }
      limits.context = options.max_context;
      if (options.max_tokens == 0 && tokens > kDefaultTile) tokens = kDefaultTile;
    }
  }
  if (tokens > kMaxTokens) return invalid("more than 16,777,216 tokens");
  if constexpr (linked::kSources) {
    const Status status = resolve_sources(m, options, &limits, fault);
    if (status != Status::kOk) return status;
  }
  limits.max_tokens = static_cast<uint32_t>(tokens);
  // Every sequence has at least one row.
  limits.max_sequences = options.max_sequences < limits.max_tokens ? options.max_sequences : limits.max_tokens;
  limits.longest = length != 0 && length < limits.max_tokens ? length : limits.max_tokens;
  if (linked::kContexts && limits.context != 0 && limits.context < limits.longest) limits.longest = limits.context;
  if (!linked::kHost && (options.parallel != nullptr || options.backend != nullptr || options.f32_attention)) {
    return refuse(Status::kUnavailable, "firmware runs without workers, back ends and f32 attention for comparison",
                  "options", 7, fault);
  }
  if (options.workers == 0 || options.workers > kMaxWorkers) return invalid("workers is not in [1, 1024]");
  limits.workers = 1;
  if constexpr (linked::kHost) {
    if (options.parallel != nullptr && options.parallel->run == nullptr) return invalid("parallel has no run function");
    if (options.backend != nullptr && options.backend->linear == nullptr) {
      return invalid("backend has no linear function");
    }
    limits.backend = options.backend != nullptr && all_weights_are_float(m);
    // A back end has its own threads.
    if (options.parallel != nullptr && !limits.backend) limits.workers = options.workers;
  }
  if (options.tile_rows % kTileStep != 0 || options.tile_rows > kMaxTile) {
    return invalid("tile_rows is not a multiple of 4 up to 4096");
  }
  if (options.block_rows > ops::kBlockRows) return invalid("block_rows is more than 16");
  if constexpr (kWideSequences) limits.each_sequence = !has_source(m) && aligns_each_sequence(m);
  if constexpr (linked::op(linked::kOpRecurrent)) limits.without_pages = !has_pages(m);
  limits.row_alignment = options.tile_rows % kPageRows != 0 ? kTileStep : kPageRows;
  const uint32_t tile = options.tile_rows != 0 ? options.tile_rows : kDefaultTile;
  limits.tile_rows = round_rows(tile, row_multiple(m, limits, kTile));
  limits.tile_rows = choose_tile(m, limits, most_of_passes(limits));
  limits.block_rows = options.block_rows != 0 ? options.block_rows : ops::kBlockRows;
  if (limits.block_rows > limits.tile_rows) limits.block_rows = limits.tile_rows;
  limits.linear_rows = options.block_rows != 0 ? limits.block_rows : ops::kLinearRows;
  if (limits.linear_rows > limits.tile_rows) limits.linear_rows = limits.tile_rows;
  const bool i8 = attends_in_i8(m);
  limits.f32_heads = linked::kHost && i8 && options.f32_attention && !is_static(*graph(m).ops()->Get(0));
  limits.offsets = linked::kOffsets && model.has_tokenizer() && options.text_offsets;
  if (options.scored_rows != 0) {
    const int32_t scored = scored_tensor(m);
    if (scored < 0) {
      return invalid("the model has no scores of words that are made for some tokens alone");
    }
    limits.keep_scored(options.scored_rows < limits.max_tokens ? options.scored_rows : limits.max_tokens, scored);
  }
  const bool long_keys =
      most_keys(limits) > ops::kMaxAttentionRows || (linked::kSources && limits.source > ops::kMaxAttentionRows);
  if (i8 && !limits.f32_heads && long_keys) {
    return invalid("int8 attention takes sequences of up to 66,311 tokens");
  }
  *out = limits;
  return Status::kOk;
}

uint32_t choose_tile(const fb::Model& model, const Limits& limits, uint32_t rows) {
  if (!linked::kHost || limits.workers == 1) {
    const uint32_t all = round_rows(rows, row_multiple(model, limits, kTile));
    return all < limits.tile_rows ? all : limits.tile_rows;
  }
  const uint32_t least = rows <= kRowsTogether && rows <= limits.tile_rows ? rows : kLeastTile;
  const uint32_t share = (rows + limits.workers - 1) / limits.workers;
  const uint32_t tiles = (share + limits.tile_rows - 1) / limits.tile_rows;  // per worker
  const uint32_t tile = round_rows((share + tiles - 1) / tiles, kTileStep);
  return tile > least ? tile : round_rows(least, kTileStep);
}

/// The most rows of a tile in steps of up to `rows` rows.
static uint32_t largest_tile(const fb::Model& model, const Limits& limits, uint32_t rows) {
  const uint32_t least = limits.workers == 1 ? 0 : kLeastTile;
  const uint32_t all = round_rows(rows > least ? rows : least, row_multiple(model, limits, kTile));
  return all < limits.tile_rows ? all : limits.tile_rows;
}

uint32_t most_tokens(const Limits& limits, fb::Phase phase) {
  return linked::kSources && phase == fb::Phase::source ? limits.source : limits.max_tokens;
}

uint32_t most_sequences(const Limits& limits, fb::Phase phase) {
  if (!linked::kSources || phase != fb::Phase::source) return limits.max_sequences;
  return limits.sources < limits.source ? limits.sources : limits.source;
}

void round_symbols(const fb::Model& model, const Limits& limits, uint32_t tokens, uint32_t sequences, uint32_t tile,
                   uint32_t (&values)[kSymbols]) {
  const uint32_t exact[kSymbols] = {tokens, sequences, tile};
  for (uint32_t s = 0; s < kSymbols; ++s) {
    values[s] = round_rows(exact[s], row_multiple(model, limits, s));
  }
}

/// The end of the shared region's tensors, without the one that is scored alone.
[[maybe_unused]] static uint64_t end_of_others(const fb::Model& model, int32_t scored,
                                               const uint32_t (&values)[kSymbols]) {
  uint64_t end = 0;
  for (uint32_t i = 0; i < model.tensors()->size(); ++i) {
    const fb::Tensor& t = *model.tensors()->Get(i);
    if (is_constant(t) || is_state(t) || t.region() != fb::Region::shared || static_cast<int32_t>(i) == scored)
      continue;
    raise(evaluate(t.offset(), values) + row_bytes(t) * values[rows_symbol(t)], &end);
  }
  return end;
}

uint64_t shared_bytes(const fb::Model& model, const Limits& limits, fb::Phase phase,
                      const uint32_t (&values)[kSymbols]) {
  uint64_t bytes = evaluate(plan_bytes(model, phase, fb::Region::shared), values);
  if (linked::kScoredRows && limits.scored_rows != 0 && phase == fb::Phase::main) {
    const uint64_t others = end_of_others(model, limits.scored, values);
    bytes = others < bytes ? others : bytes;
  }
  return aligned(bytes);
}

uint64_t heads_bytes(const fb::Model& model, const Limits& limits, fb::Region region,
                     const uint32_t (&values)[kSymbols]) {
  return linked::kHost && limits.f32_heads ? aligned(ops::f32_heads_bytes(model, region, values)) : 0;
}

uint64_t scratch_begin(const fb::Model& model, fb::Phase phase, const fb::Op& op, const uint32_t (&values)[kSymbols]) {
  const Affine* tile = plan_bytes(model, phase, fb::Region::tile);
  return aligned(evaluate(op.scratch() != nullptr ? op.scratch() : tile, values));
}

/// A template, because the field `lanes` does not exist if no recurrent layer is linked.
template <class Together>
static Together of_lanes([[maybe_unused]] const Limits& limits, [[maybe_unused]] fb::Phase phase) {
  Together out{};
  if constexpr (linked::op(linked::kOpRecurrent)) {
    const uint32_t sequences = most_sequences(limits, phase);
    out.lanes = sequences < limits.block_rows ? sequences : limits.block_rows;
  }
  return out;
}

/// The same for `keeps_states`.
template <class Keeping>
static Keeping of_states([[maybe_unused]] const Limits& limits, [[maybe_unused]] fb::Phase phase) {
  Keeping out{};
  if constexpr (linked::kStates) out.keeps_states = limits.context != 0 && phase == fb::Phase::main;
  return out;
}

uint64_t step_bytes(const fb::Model& model, const Limits& limits, const fb::Step& step, uint32_t longest,
                    uint32_t source, const uint32_t (&values)[kSymbols]) {
  uint64_t most = 0;
  for (uint32_t i = 0; i < step.op_count(); ++i) {
    const fb::Op& op = *graph(model).ops()->Get(step.first_op() + i);
    const ops::Rule& rule = *ops::find_rule(op);
    const ops::ScratchNeed need = {of_lanes<ops::Together<linked::op(linked::kOpRecurrent)>>(limits, step.phase()),
                                   of_states<ops::Keeping<linked::kStates>>(limits, step.phase()),
                                   most_pages(limits, longest),
                                   linked::kSources ? kernels::attention_pages(0, source) : 0,
                                   limits.block_rows,
                                   limits.linear_rows};
    uint64_t bytes = rule.scratch(model, op, need);
    if (linked::kHost && limits.backend && rule.facts->kind == fb::OpAttributes::Linear) {
      const uint32_t outputs = extent(tensor(model, operand(op.inputs(), 1)), 0);
      raise(uint64_t{values[kTile]} * kernels::pad16(outputs) * sizeof(float), &bytes);
    }
    // Scratch begins where the tile tensors end that are alive while the operator runs.
    bytes += scratch_begin(model, step.phase(), op, values);
    most = bytes > most ? bytes : most;
  }
  return aligned(most);
}

bool lay_out(const fb::Model& model, const Limits& limits, Layout* out) {
  // Coefficients are less than 2^32, symbols at most 2^24, workers at most 2^10: no sum exceeds 64 bits.
  uint64_t at = 0;
  take(kStateBytes, &at);
  out->workers = take(uint64_t{limits.workers} * sizeof(Worker), &at);
  uint64_t shared = 0, heads = 0, tile_heads = 0;
  for (uint32_t p = 0; p < (linked::kSources ? 2 : 1); ++p) {
    const auto phase = static_cast<fb::Phase>(p);
    if (p != 0 && limits.source == 0) break;
    uint32_t values[kSymbols];
    round_symbols(model, limits, most_tokens(limits, phase), most_sequences(limits, phase), limits.tile_rows, values);
    raise(shared_bytes(model, limits, phase, values), &shared);
    raise(heads_bytes(model, limits, fb::Region::shared, values), &heads);
    raise(heads_bytes(model, limits, fb::Region::tile, values), &tile_heads);
  }
  out->shared = take(shared, &at);
  out->f32_heads = linked::kHost ? take(heads, &at) : at;
  out->tile_heads = 0;
  for (const fb::Step* step : *graph(model).steps()) {
    const fb::Phase phase = step->phase();
    const uint32_t sequences = most_sequences(limits, phase);
    const bool of_tokens = step->rows() == static_cast<int32_t>(kTokens);
    uint32_t of_step[kSymbols];
    const uint32_t tokens = most_tokens(limits, phase);
    round_symbols(model, limits, tokens, sequences, largest_tile(model, limits, of_tokens ? tokens : sequences),
                  of_step);
    raise(step_bytes(model, limits, *step, most_keys(limits, phase), limits.source, of_step), &out->tile_heads);
  }
  out->worker_size = out->tile_heads + tile_heads;
  out->worker_memory = take(limits.workers * out->worker_size, &at);
  const bool more = linked::kSources && limits.sources > limits.max_sequences;
  const uint64_t tokens = most_of_passes(limits);
  const uint64_t sequences = more ? limits.sources : limits.max_sequences;
  out->ids = take(tokens * sizeof(int32_t), &at);
  out->segments = take(tokens * sizeof(int32_t), &at);
  if (linked::kMarks) out->marks = take(mark_types(model) > 1 ? tokens * sizeof(int32_t) : 0, &at);
  out->offsets = take((sequences + 1) * sizeof(uint32_t), &at);
  const uint64_t texts = linked::kTokenizer && count(model.tokenizers()) > 0 ? 1 : 0;
  out->results = take(texts * sequences * sizeof(EncodeResult), &at);
  if (linked::kOffsets) {
    const uint64_t spans = limits.offsets ? tokens : 0;
    out->text_offsets = take(spans * sizeof(Offset), &at);
    out->text_sequences = take(spans, &at);
  }
  out->contexts = at;
  if (linked::kContexts && limits.context != 0) {
    const uint64_t contexts = limits.max_sequences;
    const uint32_t tensors = model.tensors()->size();
    const uint64_t pages = context_pages(limits);
    for_each_kept(model, limits, [&](uint32_t, uint64_t row_bytes) { at += contexts * pages * 16 * row_bytes; });
    out->context_begins = take((uint64_t{tensors} + 1) * sizeof(uint64_t), &at);
    out->context_numbers = take(context_numbers(contexts, pages) * sizeof(uint32_t), &at);
    out->context_ids = take(context_id_rows(contexts) * limits.context * sizeof(int32_t), &at);
    if (const uint64_t slot = linked::kStates ? slot_bytes(model) : 0) {
      out->states = take(2 * contexts * slot, &at);
      out->state_begins = take((uint64_t{tensors} + 1) * sizeof(uint64_t), &at);
      out->state_numbers = take(state_numbers(contexts) * sizeof(uint32_t), &at);
    }
  }
  out->sources = at;
  if (linked::kSources && limits.source != 0) {
    for (const fb::Tensor* t : *model.tensors()) at += source_bytes(*t, limits);
    out->source_begins = take(uint64_t{model.tensors()->size()} * sizeof(uint64_t), &at);
    if (linked::kChunks) {
      const uint64_t rows = uint64_t{limits.sources} * source_rows(limits);
      out->source_segments = take(limits.chunk != 0 ? rows * sizeof(int32_t) : 0, &at);
    }
    out->shifted_ids = take(limits.shifts ? tokens * sizeof(int32_t) : 0, &at);
    out->source_numbers = take((sequences + limits.sources) * sizeof(uint32_t), &at);
    if (linked::kShortlist) {
      out->listed = take(uint64_t{limits.sources} * listed_units(model) * sizeof(uint32_t), &at);
    }
  }
  if (linked::kScoredRows && limits.scored_rows != 0) {
    const uint64_t row = row_bytes(tensor(model, limits.scored));
    out->scored = take(limits.scored_rows * row, &at);
    out->scored_numbers = take((uint64_t{limits.scored_rows} * 2 + 1) * sizeof(uint32_t), &at);
  }
  out->size = at;
  return at <= SIZE_MAX;
}

uint64_t source_bytes(const fb::Tensor& t, const Limits& limits) {
  if (!is_state(t)) return 0;
  return limits.sources * page_row_bytes(t, limits) * (rows_symbol(t) == kTokens ? source_rows(limits) : 1);
}

uint64_t page_row_bytes(const fb::Tensor& t, const Limits& limits) {
  return row_bytes({limits.f32_heads ? fb::DType::f32 : t.type(), t.layout(), width(t), t.heads(), is_fixed(t)});
}

}  // namespace bantam
