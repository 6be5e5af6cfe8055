#include "ops/epilogue.h"

namespace bantam::ops {
namespace {

#define BANTAM_ACTIVATION(kind, name, formula, names) \
  static_assert(static_cast<int>(kernels::Activation::k##name) == static_cast<int>(fb::ActivationKind::kind));
#include "kernels/activations.inc"
#undef BANTAM_ACTIVATION
static_assert(static_cast<int>(kernels::Norm::kLayer) == static_cast<int>(fb::NormKind::layer));
static_assert(static_cast<int>(kernels::Norm::kAffine) == static_cast<int>(fb::NormKind::affine));

int32_t residual_of(const fb::Op& op) {
  return op.epilogue() == nullptr ? -1 : named_input(op, op.epilogue()->residual());
}

/// Returns true if rows can be computed in outputs[0]: it exists and is not the residual that is still to be added.
bool computes_in_output(const fb::Op& op) {
  const int32_t output = operand(op.outputs(), 0);
  return output >= 0 && output != residual_of(op);
}

Verdict check_output(const Site& site, uint32_t position, fb::DType type, uint32_t columns) {
  const int32_t index = operand(site.op.outputs(), position);
  if (index < 0) return {};
  BANTAM_CHECK(check_step_rows(site, index));
  const fb::Tensor& t = tensor(site.model, index);
  if (t.layout() != fb::Layout::rows) return corrupt("the output's layout is not rows", index);
  if (t.type() != type) return corrupt("the output has the wrong type", index);
  if (width(t) != columns) return corrupt("the output has the wrong width", index);
  return {};
}

}  // namespace

Verdict check_epilogue(const Site& site, uint32_t columns) {
  BANTAM_CHECK(check_output(site, 0, fb::DType::f32, columns));
  BANTAM_CHECK(check_output(site, 1, fb::DType::i8, columns));
  const int32_t f32 = operand(site.op.outputs(), 0);
  const int32_t i8 = operand(site.op.outputs(), 1);
  if (f32 < 0 && i8 < 0) return corrupt("the op has no output");
  const fb::Epilogue* epilogue = site.op.epilogue();
  if (epilogue == nullptr) return {};
  if (epilogue->activation() > fb::ActivationKind::MAX) return corrupt("unknown activation");
  if (epilogue->norm() > fb::NormKind::MAX) return corrupt("unknown norm");
  if (!linked::activation(static_cast<uint32_t>(epilogue->activation()))) {
    return not_linked("this build leaves the activation out");
  }
  if (!linked::norm(static_cast<uint32_t>(epilogue->norm()))) return not_linked("this build leaves the norm out");
  if (!(epilogue->epsilon() >= 0.0f && epilogue->epsilon() <= 1.0f))
    return corrupt("the norm's epsilon is not in [0, 1]");
  const auto vector = [&](int8_t position, const char* what) {
    return check_vector(site, named_input(site.op, position), columns, what);
  };
  BANTAM_CHECK(vector(epilogue->gamma(), "gamma is not an f32 vector of the output's width"));
  BANTAM_CHECK(vector(epilogue->beta(), "beta is not an f32 vector of the output's width"));
  BANTAM_CHECK(vector(epilogue->smooth(), "smooth is not an f32 vector of the output's width"));
  if (epilogue->gate() >= 0) {
    if (!linked::kGate) return not_linked("this build leaves gates out");
    BANTAM_CHECK(check_row_input(site, static_cast<uint32_t>(epilogue->gate()), columns, false));
  }
  if (epilogue->store_sum()) {
    if (!linked::kStoreSum) return not_linked("this build leaves out what stores rows before a norm");
    if (epilogue->norm() == fb::NormKind::none || f32 < 0 || i8 < 0) {
      return corrupt("an op that stores its rows before the norm wants a norm and both outputs");
    }
  }
  return epilogue->residual() < 0 ? Verdict{}
                                  : check_row_input(site, static_cast<uint32_t>(epilogue->residual()), columns, true);
}

bool has_no_epilogue(const fb::Op& op) {
  const fb::Epilogue* epilogue = op.epilogue();
  return epilogue == nullptr ||
         (epilogue->activation() == fb::ActivationKind::none && epilogue->gate() < 0 && epilogue->residual() < 0 &&
          epilogue->norm() == fb::NormKind::none && epilogue->smooth() < 0);
}

Verdict check_no_epilogue(const Site& site) {
  return has_no_epilogue(site.op) ? Verdict{} : corrupt("this op takes no epilogue");
}

uint64_t sink_scratch(const fb::Op& op, uint32_t columns, uint32_t block_rows) {
  return computes_in_output(op) ? 0 : uint64_t{block_rows} * kernels::pad16(columns) * 4;
}

bool stores_q8_only(const fb::Op& op, uint32_t columns) {
  const fb::Epilogue* epilogue = op.epilogue();
  const bool plain = epilogue == nullptr || (epilogue->gate() < 0 && epilogue->residual() < 0 &&
                                             epilogue->norm() == fb::NormKind::none && epilogue->smooth() < 0);
  return plain && operand(op.outputs(), 0) < 0 && columns % 16 == 0;
}

RowSink::RowSink(const TileRun& run, const fb::Op& op, uint32_t columns, bool activated, uint32_t block_rows)
    : run_(run), rows_(linked::kHost && block_rows != 0 ? block_rows : run.block_rows) {
  const int32_t f32 = operand(op.outputs(), 0);
  const int32_t i8 = operand(op.outputs(), 1);
  const int32_t residual = residual_of(op);
  args_.width = columns;
  // All rows have the same width.
  args_.y_stride = args_.q_stride = args_.residual_stride = args_.gate_stride = kernels::pad16(columns);
  if (f32 >= 0) args_.y = tile_rows(run, f32).f32();
  if (i8 >= 0) {
    const Rows rows = tile_rows(run, i8);
    args_.q = rows.i8();
    args_.q_scale = rows.scales;
  }
  in_output_ = computes_in_output(op);
  straight_ = in_output_ && i8 < 0 && residual < 0;
  const fb::Epilogue* epilogue = op.epilogue();
  if (epilogue == nullptr) return;
  if (!activated) args_.activation = static_cast<kernels::Activation>(epilogue->activation());
  if (linked::kGate && epilogue->gate() >= 0) args_.gate = tile_rows(run, named_input(op, epilogue->gate())).f32();
  if (residual >= 0) {
    const Rows rows = tile_rows(run, residual);
    args_.residual = rows.q8 ? nullptr : rows.f32();
    args_.residual_q = rows.q8 ? rows.i8() : nullptr;
    args_.residual_scale = rows.scales;
  }
  args_.norm = static_cast<kernels::Norm>(epilogue->norm());
  args_.gamma = constant<float>(run, named_input(op, epilogue->gamma()));
  args_.beta = constant<float>(run, named_input(op, epilogue->beta()));
  args_.epsilon = epilogue->epsilon();
  args_.y_before_norm = linked::kStoreSum && epilogue->store_sum();
  args_.smooth = constant<float>(run, named_input(op, epilogue->smooth()));
  straight_ = straight_ && args_.activation == kernels::Activation::kNone && args_.norm == kernels::Norm::kNone &&
              !(linked::kGate && args_.gate != nullptr);
}

bool RowSink::apply(uint32_t first, uint32_t n, const float* x, size_t x_stride, const int32_t* row_maximum) const {
  kernels::EpilogueRows args = args_;
  args.x = x;
  args.x_stride = x_stride;
  args.rows = n;
  args.row_maximum = row_maximum;
  const size_t skipped = size_t{first} * stride();
  if (args.y != nullptr) args.y += skipped;
  if (args.q != nullptr) {
    args.q += skipped;
    args.q_scale += first;
  }
  if (args.residual != nullptr) args.residual += skipped;
  if (args.residual_q != nullptr) {
    args.residual_q += skipped;
    args.residual_scale += first;
  }
  if (linked::kGate && args.gate != nullptr) args.gate += skipped;
  return run_.kernels.epilogue_rows(args);
}

}  // namespace bantam::ops
