// Tree: logarithms of products along the paths of a binary tree whose leaves are columns.
#include "ops/more/logarithm.h"
#include "ops/operands.h"

namespace bantam::ops {
namespace {

/// 2^-126: smaller numbers are subnormal and have less precision.
constexpr float kLeastProduct = 1.17549435e-38f;

uint32_t inner_nodes(const fb::Model& model, const fb::Op& op) {
  return width(tensor(model, operand(op.inputs(), 0))) / 2;
}

Verdict verify_tree(const Site& site) {
  if (site.op.epilogue() != nullptr) return corrupt("nothing follows a tree of columns within its op");
  BANTAM_CHECK(check_row_input(site, 0, 0, false));
  const int32_t x = operand(site.op.inputs(), 0), y = operand(site.op.outputs(), 0);
  const uint32_t columns = width(tensor(site.model, x));
  if (columns % 2 != 0) return corrupt("factors of a tree are not two for each inner node", x);
  BANTAM_CHECK(check_numbers(site, operand(site.op.inputs(), 1), fb::DType::i32, columns));
  if (y < 0 || operand(site.op.outputs(), 1) >= 0) return corrupt("a tree of columns has one output");
  BANTAM_CHECK(check_step_rows(site, y));
  const fb::Tensor& t = tensor(site.model, y);
  const bool fits = t.type() == fb::DType::f32 && t.layout() == fb::Layout::rows && width(t) == columns / 2 + 1;
  return fits ? Verdict{} : corrupt("a tree writes f32 rows of a column more than it has inner nodes", y);
}

/// Scratch for the products of inner nodes.
uint64_t tree_scratch(const fb::Model& model, const fb::Op& op, const ScratchNeed&) {
  return uint64_t{sizeof(float)} * kernels::pad16(inner_nodes(model, op));
}

/// `nodes` come from a file: numbers that are neither a column nor a lower node are ignored.
void descend(const float* x, const int32_t* nodes, uint32_t inner, float* products, float* y) {
  for (uint32_t n = 0; n < inner; ++n) products[n] = 0.0f;
  for (uint32_t column = 0; column <= inner; ++column) y[column] = 0.0f;
  products[inner - 1] = 1.0f;
  for (uint32_t n = inner; n-- > 0;) {
    for (uint32_t side = 0; side < 2; ++side) {
      const float product = products[n] * x[side == 0 ? inner + n : n];
      const auto below = static_cast<uint32_t>(nodes[2 * n + side]);
      if (below <= inner) {
        y[below] = product;
      } else if (below - (inner + 1) < n) {
        products[below - (inner + 1)] = product;
      }
    }
  }
  for (uint32_t column = 0; column <= inner; ++column) {
    y[column] = natural_log(y[column] >= kLeastProduct ? y[column] : kLeastProduct);
  }
}

Status run_tree(const TileRun& run, const fb::Op& op) {
  const uint32_t inner = inner_nodes(run.model, op);
  const Rows x = tile_rows(run, operand(op.inputs(), 0)), y = tile_rows(run, operand(op.outputs(), 0));
  const int32_t* nodes = constant<int32_t>(run, operand(op.inputs(), 1));
  for (uint32_t i = 0; i < run.rows; ++i) {
    descend(x.from(i).f32(), nodes, inner, reinterpret_cast<float*>(run.scratch), y.from(i).f32());
  }
  return Status::kOk;
}

}  // namespace

BANTAM_RULE(Tree, verify_tree, tree_scratch, run_tree);

}  // namespace bantam::ops
