// Scan: recurrences whose columns are independent, with a state of fixed size.
#include "ops/more/scan.h"

#include "ops/heads.h"
#include "ops/product.h"

namespace bantam::ops {
namespace {

// Positions in Op.inputs.
constexpr uint32_t kScanX = 0, kScanSteps = 1, kScanRates = 2, kScanIn = 3, kScanOut = 4, kScanSkip = 5;
constexpr uint32_t kMostScanStates = 256, kWeightedStates = 2;

int32_t scan_output(const fb::Op& op) { return operand(op.outputs(), 0); }

Verdict check_scanned_rows(const Site& site, int32_t index, uint32_t columns) {
  if (index < 0) return corrupt("a scan lacks rows");
  const fb::Tensor& t = tensor(site.model, index);
  return is_token_rows(t) && width(t) == columns
             ? Verdict{}
             : corrupt("rows of a scan are not shared f32 rows of tokens of their width", index);
}

Verdict verify_scan(const Site& site) {
  const fb::Scan& scan = *site.op.attributes_as_Scan();
  if (site.rows_symbol != kSequences) return corrupt("scans run over sequences");
  if (site.op.epilogue() != nullptr) return corrupt("nothing follows a scan within its op");
  if (scan.kind() > fb::ScanKind::MAX) return corrupt("unknown kind of a scan");
  const bool selective = scan.kind() == fb::ScanKind::selective;
  const uint32_t own = scan.kind() == fb::ScanKind::weighted ? kWeightedStates : 1;  // of kinds with one number of them
  if (scan.states() == 0 || (selective ? scan.states() > kMostScanStates : scan.states() != own)) {
    return corrupt("a scan has no states, or not as many as its kind has");
  }
  const int32_t y = scan_output(site.op);
  if (y < 0 || !is_token_rows(tensor(site.model, y))) {
    return corrupt("a scan's output is not shared f32 rows of tokens", y);
  }
  const uint32_t columns = width(tensor(site.model, y));
  if (uint64_t{kernels::pad16(columns)} * scan.states() > kMaxWidth)
    return unsupported("a scan's state is too large", y);
  const auto input = [&](uint32_t position) { return operand(site.op.inputs(), position); };
  BANTAM_CHECK(check_scanned_rows(site, input(kScanX), columns));
  BANTAM_CHECK(check_scanned_rows(site, input(kScanSteps), columns));
  const fb::Tensor* rates = input(kScanRates) < 0 ? nullptr : &tensor(site.model, input(kScanRates));
  const bool fits = rates != nullptr && is_constant(*rates) && rates->type() == fb::DType::f32 &&
                    rates->layout() == fb::Layout::rows && rates->shape()->size() == 2 &&
                    extent(*rates, 0) == scan.states() && extent(*rates, 1) == kernels::pad16(columns);
  if (!fits) return corrupt("the rates of a scan are not an f32 row for each state", input(kScanRates));
  if (!selective) {
    const bool bare = input(kScanIn) < 0 && input(kScanOut) < 0 && input(kScanSkip) < 0;
    return bare ? Verdict{} : corrupt("only selective scans have factors of states and skips");
  }
  BANTAM_CHECK(check_scanned_rows(site, input(kScanIn), scan.states()));
  BANTAM_CHECK(check_scanned_rows(site, input(kScanOut), scan.states()));
  return check_vector(site, input(kScanSkip), columns, "the skip of a scan is not an f32 vector of its width");
}

/// Only without contexts: the state of one sequence. In contexts it lies in their memory. A template, because the field
/// `keeps_states` does not exist if no scan is linked.
template <class Need>
uint64_t scan_scratch_of(const fb::Model& model, const fb::Op& op, const Need& need) {
  if constexpr (linked::kStates) {
    if (need.keeps_states) return 0;
  }
  return scratch_part(scan_state_bytes(model, op));
}
uint64_t scan_scratch(const fb::Model& model, const fb::Op& op, const ScratchNeed& need) {
  return scan_scratch_of(model, op, need);
}

/// The operands at their first columns; run() scans some columns of a sequence.
struct ScanRows {
  Rows x, steps, y, b, c;
  const float* rates;
  const float* skip;
  bool selective;
  uint32_t states, width;

  ScanRows(const TileRun& run, const fb::Op& op)
      : x(all_rows(run, operand(op.inputs(), kScanX))),
        steps(all_rows(run, operand(op.inputs(), kScanSteps))),
        y(all_rows(run, scan_output(op))),
        rates(constant<float>(run, operand(op.inputs(), kScanRates))),
        skip(constant<float>(run, operand(op.inputs(), kScanSkip))),
        selective(op.attributes_as_Scan()->kind() == fb::ScanKind::selective),
        states(op.attributes_as_Scan()->states()),
        width(bantam::width(tensor(run.model, scan_output(op)))) {
    if (selective) {
      b = all_rows(run, operand(op.inputs(), kScanIn));
      c = all_rows(run, operand(op.inputs(), kScanOut));
    }
  }

  bool scan(const kernels::Table& kernels, uint32_t begin, uint32_t end, const float* before, float* state) const {
    kernels::ScanRow row = {};
    row.rates = rates;
    row.skip = skip;
    row.after = state;
    row.width = width;
    row.states = states;
    bool finite = true;
    for (uint32_t at = begin; at < end; ++at) {
      row.x = x.from(at).f32();
      row.steps = steps.from(at).f32();
      row.y = y.from(at).f32();
      row.b = selective ? b.from(at).f32() : nullptr;
      row.c = selective ? c.from(at).f32() : nullptr;
      row.before = at == begin ? before : state;
      finite &= kernels.scan_row(row);
    }
    return finite;
  }
};

Status run_scan(const TileRun& run, const fb::Op& op) {
  const ScanRows columns(run, op);
  bool finite = true;
  for (uint32_t i = 0; i < run.rows; ++i) {
    const uint32_t sequence = run.row_begin + i;
    const float* before = nullptr;
    auto* state = reinterpret_cast<float*>(run.scratch);
    if constexpr (linked::kStates) {
      if (run.contexts != nullptr) {
        before = state_before(run, scan_output(op), sequence);
        state = state_behind(run, scan_output(op), sequence);
      }
    }
    finite &= columns.scan(run.kernels, run.offsets[sequence], run.offsets[sequence + 1], before, state);
  }
  return finite ? Status::kOk : Status::kNonFinite;
}

}  // namespace

uint64_t scan_state_bytes(const fb::Model& model, const fb::Op& op) {
  const uint32_t columns = width(tensor(model, scan_output(op)));
  return uint64_t{op.attributes_as_Scan()->states()} * kernels::pad16(columns) * sizeof(float);
}

BANTAM_RULE(Scan, verify_scan, scan_scratch, run_scan);

}  // namespace bantam::ops
