// Experts: feed-forward layers; each row passes through the experts that its scores choose. The rows of a block with
// the same expert are gathered, so that its weights are read once for them; scratch has room for all rows of a block at
// one expert. The terms of a row's sum, and their order, depend only on its scores, so blocks and tiles do not change
// results.
#include <string.h>

#include "ops/epilogue.h"
#include "ops/product.h"

namespace bantam::ops {
namespace {

// Positions in Op.inputs.
constexpr uint32_t kExpertScores = 1, kExpertUp = 2, kExpertDown = 3, kAllScores = 4;
/// The most experts per row.
constexpr uint32_t kMostChosen = 64;

/// Columns; those of matrices are padded to 16.
struct ExpertSizes {
  uint32_t experts, top, inputs, columns, inner, up,
      down;  // columns: inner ones, not padded; up, down: rows of an expert
  ExpertSizes(const fb::Model& model, const fb::Op& op) {
    const fb::Experts& layer = *op.attributes_as_Experts();
    experts = layer.experts();
    top = layer.top();
    inputs = kernels::pad16(input_width(model, op));
    columns = width(tensor(model, operand(op.inputs(), kExpertDown)));
    inner = kernels::pad16(columns);
    up = layer.gated() ? 2 * inner : inner;
    down = kernels::pad16(layer.outputs());
  }
};

Verdict check_linked(const fb::Experts& layer) {
  if (layer.activation() > fb::ActivationKind::MAX) return corrupt("unknown activation");
  if (layer.shares() > fb::ShareKind::MAX) return unsupported("experts with such shares are not known");
  const auto makes = layer.shares() == fb::ShareKind::sigmoid ? fb::ActivationKind::sigmoid : fb::ActivationKind::exp;
  const bool known =
      linked::activation(static_cast<uint32_t>(layer.activation())) && linked::activation(static_cast<uint32_t>(makes));
  if (!known) return not_linked("this build leaves out an activation that experts are computed or chosen with");
  return linked::kGate || !layer.gated() ? Verdict{} : not_linked("this build leaves gates out");
}

/// Checks the inputs of experts with a limited capacity: the scores of tokens before the tile are read, too.
Verdict check_capacity(const Site& site) {
  const fb::Experts& layer = *site.op.attributes_as_Experts();
  const int32_t all = operand(site.op.inputs(), kAllScores);
  if (layer.capacity() == 0) {
    return all < 0 ? Verdict{} : corrupt("experts without a capacity have no use for all scores", all);
  }
  if (layer.top() != 1) return corrupt("experts with a capacity are one a token");
  // Their scores must be rows of the step, so the step runs over tokens.
  if (all != operand(site.op.inputs(), kExpertScores) || !is_token_rows(tensor(site.model, all))) {
    return corrupt("experts with a capacity want their scores as shared f32 rows of tokens", all);
  }
  return {};
}

/// Checks the settings by which experts are chosen: the bias and the threshold.
Verdict check_choice(const Site& site) {
  const fb::Experts& layer = *site.op.attributes_as_Experts();
  const bool masked = layer.shares() == fb::ShareKind::masked;
  if (layer.choice_bias() >= 0 && masked) return corrupt("experts that are chosen by masked scores have a bias");
  if (layer.choice_bias() >= 0 && layer.capacity() != 0) return corrupt("experts with a capacity have a bias");
  if (masked && !(layer.threshold() >= 0.0f && layer.threshold() <= 1e6f)) {
    return corrupt("the threshold of masked scores is not a number of at least 0");
  }
  return check_vector(site, named_input(site.op, layer.choice_bias()), layer.experts(),
                      "what experts are chosen by is not an f32 vector of a number an expert");
}

/// Checks biases and bounds of an expert's columns, after its matrices.
Verdict check_bounds(const Site& site) {
  const fb::Experts& layer = *site.op.attributes_as_Experts();
  if (!(layer.limit() >= 0.0f && layer.limit() <= 1e6f)) {
    return corrupt("the bound of an expert's columns is not a number of at least 0");
  }
  const float added = layer.gate_added();
  if (!(added >= -1e6f && added <= 1e6f) || (added != 0.0f && !layer.gated())) {
    return corrupt("what is added to an expert's gates is no such number, or there are no gates");
  }
  const char* why = "the bias of experts is not an f32 vector of a number for each row of their matrix";
  const auto rows = [&site](uint32_t at) { return extent(tensor(site.model, operand(site.op.inputs(), at)), 0); };
  BANTAM_CHECK(check_vector(site, named_input(site.op, layer.up_bias()), rows(kExpertUp), why));
  return check_vector(site, named_input(site.op, layer.down_bias()), rows(kExpertDown), why);
}

Verdict verify_experts(const Site& site) {
  const fb::Experts& layer = *site.op.attributes_as_Experts();
  if (layer.experts() == 0 || layer.experts() > kMaxWidth) return corrupt("a layer has no experts or too many");
  if (layer.top() == 0 || layer.top() > layer.experts() || layer.top() > kMostChosen) {
    return corrupt("a row goes through no expert, or through more than there are or 64");
  }
  BANTAM_CHECK(check_linked(layer));
  BANTAM_CHECK(check_row_input(site, 0, 0, false));
  BANTAM_CHECK(check_row_input(site, kExpertScores, layer.experts(), false));
  BANTAM_CHECK(check_capacity(site));
  BANTAM_CHECK(check_choice(site));
  for (const uint32_t at : {kExpertUp, kExpertDown}) {
    const int32_t index = operand(site.op.inputs(), at);
    if (index >= 0 && tensor(site.model, index).shape()->size() == 2 && !lies_in_panels(tensor(site.model, index))) {
      return corrupt("the weights of experts are not dense tiles", index);
    }
  }
  const int32_t down = operand(site.op.inputs(), kExpertDown);
  if (tensor(site.model, down).shape()->size() != 2) return corrupt("experts lack a matrix", down);
  const uint32_t inner = width(tensor(site.model, down));
  if (layer.outputs() == 0 || layer.outputs() > kMaxWidth || inner > kMaxWidth) {
    return unsupported("experts are too wide, or have no outputs", down);
  }
  const ExpertSizes sizes(site.model, site.op);
  BANTAM_CHECK(check_product(site, operand(site.op.inputs(), kExpertUp), uint64_t{sizes.experts} * sizes.up,
                             input_width(site.model, site.op)));
  BANTAM_CHECK(check_product(site, down, uint64_t{sizes.experts} * sizes.down, inner));
  BANTAM_CHECK(check_bounds(site));
  return check_epilogue(site, layer.outputs());
}

/// Offsets in scratch, after the epilogue's part, for blocks of `rows` rows.
struct ExpertPlaces {
  uint64_t chosen, shares, scores, taken, list, x, wide, sums, product, size;
  ExpertPlaces(const fb::Model& model, const fb::Op& op, uint64_t rows) {
    const ExpertSizes s(model, op);
    const fb::Experts& layer = *op.attributes_as_Experts();
    uint64_t at = sink_scratch(op, layer.outputs(), static_cast<uint32_t>(rows));
    const auto take = [&at](uint64_t numbers) {
      const uint64_t begin = at;
      at += scratch_part(numbers * sizeof(float));
      return begin;
    };
    chosen = take(rows * s.top);
    shares = take(rows * s.top);
    scores = take(uint64_t{kernels::pad16(s.experts)} * (layer.choice_bias() >= 0 ? 2 : 1));
    taken = take(layer.capacity() == 0 ? 0 : s.experts);
    list = take(2 * rows);
    x = take(rows * s.inputs);
    wide = take(rows * s.up);
    sums = take(rows * s.down);
    product = at;
    uint64_t most = 0;
    for (const uint32_t matrix : {kExpertUp, kExpertDown}) {
      const uint64_t bytes = Product::scratch(tensor(model, operand(op.inputs(), matrix)), static_cast<uint32_t>(rows));
      most = bytes > most ? bytes : most;
    }
    size = at + most;
  }
};

uint64_t experts_scratch(const fb::Model& model, const fb::Op& op, const ScratchNeed& need) {
  return ExpertPlaces(model, op, linked::kHost ? need.linear_rows : need.block_rows).size;
}

/// Writes the `top` greatest of a row's scores, greatest first (ties: smaller index first). O(experts * top).
void choose_experts(const float* scores, uint32_t experts, uint32_t top, uint32_t* chosen) {
  uint32_t n = 0;
  for (uint32_t e = 0; e < experts; ++e) {
    uint32_t at = n;
    while (at > 0 && scores[e] > scores[chosen[at - 1]]) --at;
    if (at == top) continue;
    if (n < top) ++n;
    for (uint32_t i = n - 1; i > at; --i) chosen[i] = chosen[i - 1];
    chosen[at] = e;
  }
}

class ExpertRun {
 public:
  ExpertRun(const TileRun& run, const fb::Op& op, uint32_t block_rows)
      : run_(run),
        op_(op),
        layer_(*op.attributes_as_Experts()),
        sizes_(run.model, op),
        places_(run.model, op, block_rows),
        x_(tile_rows(run, operand(op.inputs(), 0))),
        scores_(tile_rows(run, operand(op.inputs(), kExpertScores))),
        up_(run, operand(op.inputs(), kExpertUp), named_input(op, layer_.up_bias()), block_rows,
            run.scratch + places_.product),
        down_(run, operand(op.inputs(), kExpertDown), -1, block_rows, run.scratch + places_.product),
        down_bias_(constant<float>(run, named_input(op, layer_.down_bias()))),
        sequence_(find_sequence(run, run.row_begin)) {
    if (layer_.capacity() != 0) count_before(all_rows(run, operand(op.inputs(), kAllScores)));
  }

  /// Computes rows [first, first + rows) of the tile into y, `stride` apart.
  bool block(uint32_t first, uint32_t rows, float* y, size_t stride) {
    bool finite = true;
    for (uint32_t r = 0; r < rows; ++r) finite &= choose(first, r);
    for (uint32_t r = 0; r < rows; ++r) memset(y + r * stride, 0, sizes_.down * sizeof(float));
    for (uint32_t e = 0; e < sizes_.experts; ++e) {
      if (const uint32_t n = gather(e, first, rows)) finite &= add(e, n, y, stride);
    }
    return finite;
  }

 private:
  template <typename T>
  T* at(uint64_t place) const {
    return reinterpret_cast<T*>(run_.scratch + place);
  }

  /// Counts, for each expert, the tokens of the tile's first sequence before the tile.
  void count_before(const Rows& all) {
    uint32_t* taken = at<uint32_t>(places_.taken);
    memset(taken, 0, sizes_.experts * sizeof(uint32_t));
    for (uint32_t row = run_.offsets[sequence_]; row < run_.row_begin; ++row) {
      uint32_t chosen = 0;
      choose_experts(all.from(row).f32(), sizes_.experts, 1, &chosen);
      ++taken[chosen];
    }
  }

  /// Returns true if the expert of row `row` of the run has no capacity left. Must be called for rows in order.
  bool overflows(uint32_t row, uint32_t expert) {
    uint32_t* taken = at<uint32_t>(places_.taken);
    if (row >= run_.offsets[sequence_ + 1]) {
      while (row >= run_.offsets[sequence_ + 1]) ++sequence_;
      memset(taken, 0, sizes_.experts * sizeof(uint32_t));
    }
    return taken[expert]++ >= layer_.capacity();
  }

  /// Turns scores into shares. Returns false if a score is not finite.
  bool make_shares(float* p) {
    const uint32_t stride = kernels::pad16(sizes_.experts);
    if (layer_.shares() == fb::ShareKind::softmax) return run_.kernels.softmax_rows({p, stride, 1, sizes_.experts});
    kernels::EpilogueRows each = {};
    each.x = each.y = p;
    each.x_stride = each.y_stride = stride;
    each.rows = 1;
    each.width = sizes_.experts;
    each.activation = kernels::Activation::kSigmoid;
    return run_.kernels.epilogue_rows(each);
  }

  /// choose() for ShareKind::masked: an expert's share is a softmax over the scores near its own.
  bool choose_masked(const float* scores, uint32_t* chosen, float* shares) {
    choose_experts(scores, sizes_.experts, sizes_.top, chosen);
    float* p = at<float>(places_.scores);
    bool finite = true;
    for (uint32_t i = 0; i < sizes_.top; ++i) {
      const float most = scores[chosen[i]];
      for (uint32_t e = 0; e < sizes_.experts; ++e) {
        const float size = scores[e] < 0 ? -scores[e] : scores[e];
        const bool near = most - scores[e] <= layer_.threshold() * (size > most ? size : most);
        p[e] = near ? scores[e] : -__builtin_inff();
      }
      for (uint32_t before = 0; before < i; ++before) p[chosen[before]] = -__builtin_inff();
      p[chosen[i]] = most;
      finite &= run_.kernels.softmax_rows({p, kernels::pad16(sizes_.experts), 1, sizes_.experts});
      shares[i] = p[chosen[i]];
    }
    if (!layer_.normalized()) return finite;
    float sum = 0;
    for (uint32_t i = 0; i < sizes_.top; ++i) sum += shares[i];
    for (uint32_t i = 0; i < sizes_.top; ++i) shares[i] /= sum;
    return finite;
  }

  /// Chooses the experts of row r of the block that begins at row `first` of the tile, and computes their weights.
  /// Returns false if a score is not finite.
  bool choose(uint32_t first, uint32_t r) {
    const float* scores = scores_.from(first + r).f32();
    uint32_t* chosen = at<uint32_t>(places_.chosen) + size_t{r} * sizes_.top;
    float* shares = at<float>(places_.shares) + size_t{r} * sizes_.top;
    if (layer_.shares() == fb::ShareKind::masked) return choose_masked(scores, chosen, shares);
    float* p = at<float>(places_.scores);
    memcpy(p, scores, sizes_.experts * sizeof(float));
    const bool finite = make_shares(p);
    const float* by = scores;
    if (layer_.choice_bias() >= 0) {
      const auto* bias = constant<float>(run_, named_input(op_, layer_.choice_bias()));
      float* sums = p + kernels::pad16(sizes_.experts);
      const float* from = layer_.choice_by_scores() ? scores : p;
      for (uint32_t e = 0; e < sizes_.experts; ++e) sums[e] = from[e] + bias[e];
      by = sums;
    }
    choose_experts(by, sizes_.experts, sizes_.top, chosen);
    float sum = 0;
    for (uint32_t i = 0; i < sizes_.top; ++i) sum += p[chosen[i]];
    for (uint32_t i = 0; i < sizes_.top; ++i) shares[i] = layer_.normalized() ? p[chosen[i]] / sum : p[chosen[i]];
    if (layer_.capacity() != 0 && overflows(run_.row_begin + first + r, chosen[0])) chosen[0] = sizes_.experts;
    return finite;
  }

  /// Copies the block's rows of expert e into contiguous memory and returns their number.
  uint32_t gather(uint32_t e, uint32_t first, uint32_t rows) {
    const uint32_t* chosen = at<uint32_t>(places_.chosen);
    uint32_t* list = at<uint32_t>(places_.list);
    uint32_t n = 0;
    for (uint32_t r = 0; r < rows; ++r) {
      for (uint32_t i = 0; i < sizes_.top; ++i) {
        const uint32_t choice = r * sizes_.top + i;
        if (chosen[choice] != e) continue;
        float* x = at<float>(places_.x) + size_t{n} * sizes_.inputs;
        memcpy(x, x_.from(first + r).f32(), sizes_.inputs * sizeof(float));
        const float share = layer_.scales_inputs() ? at<float>(places_.shares)[choice] : 1.0f;
        for (uint32_t c = 0; layer_.scales_inputs() && c < sizes_.inputs; ++c) x[c] *= share;
        list[2 * n] = r;
        list[2 * n + 1] = choice;
        ++n;
      }
    }
    return n;
  }

  /// Bounds the columns of n rows before the activation, and their gates.
  void bound(float* wide, uint32_t n) const {
    const float most = layer_.limit() == 0.0f ? __builtin_inff() : layer_.limit(), least = -most;
    for (uint32_t i = 0; i < n; ++i) {
      float* row = wide + size_t{i} * sizes_.up;
      for (uint32_t c = 0; c < sizes_.columns; ++c) row[c] = row[c] > most ? most : row[c];
      if (!linked::kGate || !layer_.gated()) continue;
      float* gates = row + sizes_.inner;
      for (uint32_t c = 0; c < sizes_.columns; ++c) {
        const float gate = gates[c] > most ? most : gates[c] < least ? least : gates[c];
        gates[c] = gate + layer_.gate_added();
      }
    }
  }

  /// Runs expert e on the n gathered rows and adds its weighted outputs to those of the rows.
  bool add(uint32_t e, uint32_t n, float* y, size_t stride) {
    float* wide = at<float>(places_.wide);
    float* sums = at<float>(places_.sums);
    kernels::EpilogueRows unit = {};
    unit.x = wide;
    unit.rows = n;
    unit.width = sizes_.columns;
    unit.x_stride = unit.y_stride = unit.gate_stride = sizes_.up;
    unit.activation = static_cast<kernels::Activation>(layer_.activation());
    if (linked::kGate && layer_.gated()) unit.gate = wide + sizes_.inner;
    const bool copied = down_.takes_copies();
    if (copied) {
      unit.q = down_.copies();
      unit.q_stride = sizes_.inner;
      unit.q_scale = down_.scales();
    } else {
      unit.y = wide;
    }
    bool finite = up_.outputs(at<float>(places_.x), sizes_.inputs, n, e * sizes_.up, sizes_.up, wide);
    if (layer_.limit() != 0.0f || layer_.gate_added() != 0.0f) bound(wide, n);
    finite &= run_.kernels.epilogue_rows(unit);
    const uint32_t* list = at<uint32_t>(places_.list);
    const auto share_of = [&](uint32_t i) {
      return layer_.scales_inputs() ? 1.0f : at<float>(places_.shares)[list[2 * i + 1]];
    };
    for (uint32_t i = 0; i < n; ++i) {
      const float share = share_of(i);
      if (copied) down_.scales()[i] *= share;
      for (uint32_t c = 0; !copied && c < sizes_.columns; ++c) wide[size_t{i} * sizes_.up + c] *= share;
    }
    const uint32_t first = e * sizes_.down;
    finite &= copied ? down_.of_copies(n, first, sizes_.down, sums)
                     : down_.outputs(wide, sizes_.up, n, first, sizes_.down, sums);
    kernels::EpilogueRows sum = {};
    sum.rows = 1;
    sum.width = sizes_.down;
    sum.x_stride = sizes_.down;
    sum.y_stride = sum.residual_stride = stride;
    for (uint32_t i = 0; i < n; ++i) {
      float* row = sums + size_t{i} * sizes_.down;
      const float share = share_of(i);
      for (uint32_t c = 0; down_bias_ != nullptr && c < sizes_.down; ++c) row[c] += share * down_bias_[first + c];
      sum.x = row;
      sum.residual = sum.y = y + list[2 * i] * stride;
      finite &= run_.kernels.epilogue_rows(sum);
    }
    return finite;
  }

  const TileRun& run_;
  const fb::Op& op_;
  const fb::Experts& layer_;
  ExpertSizes sizes_;
  ExpertPlaces places_;
  Rows x_, scores_;  // of the tile
  Product up_, down_;
  const float* down_bias_;  // null: there is none
  uint32_t sequence_;
};

Status run_experts(const TileRun& run, const fb::Op& op) {
  const uint32_t block_rows = linear_rows(run, run.kernels.linear_rows);
  const RowSink sink(run, op, op.attributes_as_Experts()->outputs(), false, linked::kHost ? block_rows : 0);
  ExpertRun layer(run, op, block_rows);
  bool finite = true;
  for (uint32_t first = 0, rows = 0; first < run.rows; first += rows) {
    rows = sink.block(first);
    rows = rows < block_rows ? rows : block_rows;  // if they are computed directly in the output
    finite &= layer.block(first, rows, sink.rows(first), sink.stride());
    finite &= sink.finish(first, rows);
  }
  return finite ? Status::kOk : Status::kNonFinite;
}

}  // namespace

BANTAM_RULE(Experts, verify_experts, experts_scratch, run_experts);

}  // namespace bantam::ops
