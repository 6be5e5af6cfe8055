#include "model/verify.h"

#include "model/limits.h"
#include "model/shortlist.h"
#include "model/structure.h"
#include "ops/ops.h"
#include "text/verify.h"

namespace bantam {
namespace {

constexpr uint32_t kMaxTokenizers = 4;

constexpr uint32_t kNoOp = UINT32_MAX;

/// Reports the verdict: names the tensor that it is about, or operator number `op` if there is one.
Status report(const fb::Model& model, const Verdict& verdict, uint32_t op, Fault* fault) {
  if (!verdict.ok() && fault != nullptr) {
    const bool of_tensor = verdict.tensor() >= 0;
    const bool of_op = op != kNoOp && op < graph(model).ops()->size();
    const Text where = of_tensor ? as_text(tensor(model, verdict.tensor()).name())
                       : of_op   ? as_text(graph(model).ops()->Get(op)->name())
                                 : Text{};
    *fault = Fault{verdict.what(), where.data == nullptr ? "" : where.data, static_cast<uint32_t>(where.size),
                   of_tensor ? static_cast<uint32_t>(verdict.tensor())
                   : of_op   ? op
                             : 0};
  }
  return verdict.status();
}

Verdict check_symbols(const fb::Model& model) {
  const uint32_t symbols = model.symbols()->size();
  for (uint32_t s = 0; s < symbols; ++s) {
    const fb::Symbol& symbol = *model.symbols()->Get(s);
    if (s >= kSymbols || symbol.role() > fb::SymbolRole::MAX) {
      return unsupported("symbols other than tokens, sequences and tile");
    }
    if (static_cast<uint32_t>(symbol.role()) != s) return corrupt("the symbols are not in the order of their roles");
    const uint32_t multiple = symbol.multiple();
    if (multiple == 0 || multiple % 16 != 0 || multiple > 4096) {
      return corrupt("a symbol's multiple is not a multiple of 16 up to 4096");
    }
  }
  return symbols == kSymbols ? Verdict{} : corrupt("a symbol is missing");
}

constexpr uint32_t input_bit(fb::InputKind kind) { return 1u << static_cast<uint32_t>(kind); }
constexpr uint32_t kInputsLeftOut = (linked::kSources ? 0 : input_bit(fb::InputKind::source_ids)) |
                                    (linked::kMarks ? 0 : input_bit(fb::InputKind::marks)) |
                                    (linked::kFeatures ? 0 : input_bit(fb::InputKind::features));

Verdict check_inputs(const fb::Model& model) {
  uint32_t seen = 0;
  for (uint32_t i = 0; i < count(model.inputs()); ++i) {
    const fb::Input& input = *model.inputs()->Get(i);
    if (input.kind() > fb::InputKind::MAX) return unsupported("inputs of this kind are not executed");
    const uint32_t bit = input_bit(input.kind());
    if ((seen & bit) != 0) return unsupported("a model has several inputs of one kind");
    seen |= bit;
    if (input.limit() == 0 || input.limit() > INT32_MAX) return corrupt("an input's limit is zero or too large");
    if (linked::kFeatures && input.kind() == fb::InputKind::features && input.limit() > ops::kMaxWidth) {
      return unsupported("rows of features are too wide");
    }
    if constexpr (linked::kMarks) {
      const uint32_t names = count(input.names());
      if (names != 0 && (input.kind() != fb::InputKind::marks || names != input.limit() - 1)) {
        return corrupt("an input's names are not one for each mark");
      }
    }
  }
  if ((seen & kInputsLeftOut) != 0)
    return not_linked("this build leaves out encoder-decoders, marks of tokens or features");
  // The caller provides the features of a run: neither texts nor sources have any. The exception are the texts
  // retrieved for chunks.
  const bool others = (seen & input_bit(fb::InputKind::source_ids)) != 0 || count(model.tokenizers()) != 0;
  if (linked::kFeatures && chunk_tokens(model) == 0 && (seen & input_bit(fb::InputKind::features)) != 0 && others) {
    return corrupt("a model that takes features has a tokenizer or a source");
  }
  return (seen & input_bit(fb::InputKind::ids)) != 0 ? Verdict{} : unsupported("a model has no input of ids");
}

/// Checks that the steps of the source pass, if there is one, precede all others.
[[maybe_unused]] Verdict check_phases(const fb::Model& model) {
  const auto& steps = *graph(model).steps();
  const bool source = has_source(model);
  fb::Phase last = source ? fb::Phase::source : fb::Phase::main;
  for (uint32_t i = 0; i < steps.size(); ++i) {
    const fb::Phase phase = steps.Get(i)->phase();
    if (phase > fb::Phase::MAX) return unsupported("passes of this kind are not executed");
    if (i == 0 ? phase != last : phase > last)
      return corrupt("the steps' passes are not those of the inputs, or in no order");
    last = phase;
  }
  if (last != fb::Phase::main) return corrupt("the model has no main pass");
  const uint32_t tokenizers = count(model.tokenizers());
  const bool known = model.source_tokenizer() == 0 || (source && model.source_tokenizer() < tokenizers);
  return known ? Verdict{} : corrupt("the source's tokenizer does not exist");
}

constexpr uint32_t kMostChunk = 1u << 16;

/// Checks that a source consists of a chunk's rows and retrieved texts, and that only its keys and values remain after
/// the pass.
[[maybe_unused]] Verdict check_chunks(const fb::Model& model) {
  if (model.chunk() == 0) return {};
  if (!has_source(model) || feature_width(model) == 0 || segment_types(model) < 2) {
    return corrupt("what is retrieved for chunks lacks its ids, its segments or the chunk's rows");
  }
  const uint32_t longest = model.max_source();
  if (model.chunk() > kMostChunk || (longest != 0 && longest <= model.chunk())) {
    return corrupt("a chunk is too long, or leaves no room for what is retrieved for it");
  }
  for (const fb::Tensor* t : *model.tensors()) {
    if (is_state(*t) && t->layout() == fb::Layout::rows) return corrupt("what is retrieved for chunks leaves rows");
  }
  const fb::Task* task = model.task();
  if (task != nullptr && (task->shift_id() != -1 || task->shortlist() != nullptr)) {
    return corrupt("what is retrieved for chunks is not a source to shift, and has no shortlist");
  }
  return {};
}

constexpr uint32_t kMostPixels = 1u << 14;  // of each side
constexpr uint32_t kMostChannels = 128, kMostInFront = 1u << 10;

/// Checks that an image yields rows for the features input, and that a sequence has room for them.
[[maybe_unused]] Verdict check_image(const fb::Model& model) {
  const fb::Image* image = model.image();
  if (image == nullptr) return {};
  const uint32_t channels = image->channels(), patch = image->patch();
  if (image->width() - 1 >= kMostPixels || image->height() - 1 >= kMostPixels || channels - 1 >= kMostChannels ||
      image->in_front() > kMostInFront || image->behind() > kMostInFront || image->filter() > fb::Filter::MAX) {
    return corrupt("an image's size, channels or filter are out of range");
  }
  if (patch == 0 || image->width() % patch != 0 || image->height() % patch != 0) {
    return corrupt("patches do not share an image out");
  }
  if (feature_width(model) != uint64_t{channels} * patch * patch || count(image->factor()) != channels ||
      count(image->shift()) != channels) {
    return corrupt("patches of an image are not rows of features");
  }
  if (image->shortest() > kMostPixels || image->resize_width() > kMostPixels || image->resize_height() > kMostPixels) {
    return corrupt("images would be resized to more pixels than there may be");
  }
  return model.max_sequence() == 0 || image_tokens(*image) <= model.max_sequence()
             ? Verdict{}
             : corrupt("an image has more patches than a sequence tokens");
}

bool is_tensor_or_none(int32_t index, uint32_t tensors) { return static_cast<uint32_t>(index) + 1 <= tensors; }

bool all_in_range(const flatbuffers::Vector<int32_t>* indices, uint32_t tensors) {
  for (uint32_t i = 0; i < count(indices); ++i) {
    if (!is_tensor_or_none(indices->Get(i), tensors)) return false;
  }
  return true;
}

/// Checks that exactly one field refers to each input after the operator's own, and that no field refers to anything
/// else. For an unknown operator the own inputs are unknown: its fields must refer to different inputs.
Verdict check_positions(const fb::Op& op, const ops::OpFacts& facts) {
  static_assert(kMostInputs < 32);
  const bool known = !linked::op(linked::kOpCopy) || facts.kind != fb::OpAttributes::NONE;
  const uint32_t own = known ? facts.inputs : 0;
  const uint32_t inputs = count(op.inputs());
  uint32_t named = 0;
  bool fits = true;
  ops::for_each_position(op, [&](int32_t position) {
    if (position == -1) return;
    const auto at = static_cast<uint32_t>(position);
    const bool free = position >= 0 && at >= own && at < inputs && (named >> at & 1u) == 0;
    fits = fits && free && op.inputs()->Get(at) >= 0;
    if (free) named |= 1u << at;
  });
  if (!fits) return corrupt("a field of the op names no input of its own, or one that it takes already");
  const uint32_t behind = inputs > own ? (1u << inputs) - (1u << own) : 0;
  if (named == behind || !known) return {};
  // A build that leaves out fields that refer to inputs cannot see these references.
  constexpr bool all = linked::kBias && linked::kPlaceScores && linked::kSegmentKeys && linked::kRotary;
  return all ? corrupt("the op has the wrong number of inputs")
             : not_linked("the op has inputs for what this build leaves out, or too many");
}

/// Checks that the operator has the operands that its row of ops/ops.inc and its fields require.
Verdict check_operands(const fb::Op& op, const ops::OpFacts& facts) {
  BANTAM_CHECK(check_positions(op, facts));
  if (linked::kStatic && (op.integer() != nullptr) != is_static(op))
    return corrupt("an op has integers where it computes without them");
  for (uint32_t i = 0; i < facts.required; ++i) {
    if (operand(op.inputs(), i) < 0) return corrupt("an input that the op needs is absent");
  }
  const uint32_t outputs = count(op.outputs());
  return outputs == 0 || outputs > facts.outputs ? corrupt("the op has the wrong number of outputs") : Verdict{};
}

/// `op`: the operator that the verdict is about.
Verdict check_ops(const fb::Model& model, uint32_t* op) {
  *op = 0;
  for (const fb::Step* step : *graph(model).steps()) {
    for (uint32_t i = 0; i < step->op_count(); ++i, ++*op) {
      const fb::Op& o = *graph(model).ops()->Get(*op);
      const ops::Rule* rule = ops::find_rule(o);
      if (rule == nullptr) return unsupported("this operator, its version or a feature it needs is not executed");
      if (rule->verify == nullptr) return not_linked("this build leaves the operator out");
      BANTAM_CHECK(check_operands(o, *rule->facts));
      BANTAM_CHECK(rule->verify({model, o, static_cast<uint32_t>(step->rows()), step->phase()}));
    }
  }
  return {};
}

/// Checks everything but tokenizers.
Verdict check_meaning(const fb::Model& model, const uint8_t* data, size_t data_size, uint32_t* op) {
  *op = kNoOp;
  BANTAM_CHECK(check_model(model));
  const uint32_t tensors = model.tensors()->size();
  for (uint32_t i = 0; i < tensors; ++i) {
    const Verdict verdict = check_tensor(model, static_cast<int32_t>(i), data_size);
    if (!verdict.ok()) return verdict.of(static_cast<int32_t>(i));
  }
  if constexpr (linked::kTernary || linked::kSparse || linked::kBitmask) {
    BANTAM_CHECK(check_contents(model, data, data_size));
  }
  BANTAM_CHECK(check_steps(graph(model), tensors, op));
  if constexpr (linked::kSources) BANTAM_CHECK(check_phases(model));
  if constexpr (linked::kChunks) {
    BANTAM_CHECK(check_chunks(model));
  } else if (linked::kSources && model.chunk() != 0) {  // without chunks, the input of their ids is refused
    return not_linked("this build leaves out what is retrieved for chunks");
  }
  BANTAM_CHECK(check_ops(model, op));
  BANTAM_CHECK(check_plan(model));
  BANTAM_CHECK(check_task(model));
  if constexpr (linked::kSources) BANTAM_CHECK(check_shortlist(model, data, data_size));  // otherwise nothing reads it
  return {};
}

Status check_tokenizers(const fb::Model& model, const uint8_t* data, size_t data_size, Fault* fault) {
  if constexpr (linked::kTokenizer) {  // otherwise nothing reads them
    for (uint32_t i = 0; i < count(model.tokenizers()); ++i) {
      const Status status = text::verify_tokenizer(*model.tokenizers()->Get(i), data, data_size, fault);
      if (status != Status::kOk) return status;
    }
  }
  return Status::kOk;
}

}  // namespace

Verdict check_model(const fb::Model& model) {
  if (model.subgraphs()->size() != 1) return unsupported("files of several subgraphs are not executed");
  if (model.tensors()->size() > kMaxTensors || graph(model).ops()->size() > kMaxOps) {
    return unsupported("more than 65,536 tensors or ops");
  }
  if (graph(model).ops()->size() == 0) return corrupt("the graph has no ops");
  if (count(model.inputs()) > kMaxInputs || count(model.outputs()) > kMaxOutputs ||
      count(model.tokenizers()) > kMaxTokenizers) {
    return unsupported("too many inputs, outputs or tokenizers");
  }
  if (count(model.outputs()) == 0) return corrupt("the model has no outputs");
  BANTAM_CHECK(check_symbols(model));
  if constexpr (linked::kFeatures) BANTAM_CHECK(check_image(model));
  return check_inputs(model);
}

Verdict check_steps(const fb::Subgraph& graph, uint32_t tensors, uint32_t* bad_op) {
  const uint32_t ops = graph.ops()->size();
  uint32_t next = 0;
  for (const fb::Step* step : *graph.steps()) {
    if (step->first_op() != next || step->op_count() - 1 >= ops - next)
      return corrupt("the steps do not cover the ops in order");
    if (!linked::kSources && step->phase() != fb::Phase::main)
      return not_linked("this build leaves out passes over sources");
    next += step->op_count();
    if (step->rows() != static_cast<int32_t>(kTokens) && step->rows() != static_cast<int32_t>(kSequences)) {
      return corrupt("a step runs over neither tokens nor sequences");
    }
  }
  if (next != ops) return corrupt("the steps do not cover the ops in order");
  for (*bad_op = 0; *bad_op < ops; ++*bad_op) {
    const fb::Op& op = *graph.ops()->Get(*bad_op);
    // Checked before the lists are walked: operators may share a long list.
    if (count(op.inputs()) > kMostInputs || count(op.outputs()) > kMostOutputs) {
      return unsupported("an op has too many operands");
    }
    if (!all_in_range(op.inputs(), tensors) || !all_in_range(op.outputs(), tensors)) {
      return corrupt("an operand is not a tensor of the model");
    }
  }
  return {};
}

Status verify_graph(const uint8_t* bytes, size_t size, const uint8_t* data, size_t data_size, Fault* fault) {
  if (!structure::is_well_formed(bytes, size)) {
    if (fault != nullptr) *fault = Fault{fault_text("the graph section is not a well-formed FlatBuffer"), "", 0, 0};
    return Status::kCorrupt;
  }
  const fb::Model& model = *fb::GetModel(bytes);
  uint32_t op = kNoOp;
  const Verdict verdict = check_meaning(model, data, data_size, &op);
  if (!verdict.ok()) return report(model, verdict, op, fault);
  return check_tokenizers(model, data, data_size, fault);
}

}  // namespace bantam
