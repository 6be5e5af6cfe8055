#include "describe/arena.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/strings.h"
#include "format/view.h"
#include "session/layout.h"

namespace bantam::convert {
namespace {

OrderedJson part(const char* name, uint64_t bytes, const std::string& what) {
  return {{"part", name}, {"bytes", bytes}, {"what", what}};
}

/// Returns the shared tensors in the order of their offsets, such as "x.i8 at 32768: 16896".
std::vector<std::string> shared_tensors(const fb::Model& model, const uint32_t (&values)[kSymbols]) {
  std::vector<const fb::Tensor*> tensors;
  for (const fb::Tensor* t : *model.tensors()) {
    if (!bantam::is_constant(*t) && !is_state(*t) && t->region() == fb::Region::shared) tensors.push_back(t);
  }
  std::stable_sort(tensors.begin(), tensors.end(), [&](const fb::Tensor* a, const fb::Tensor* b) {
    return evaluate(a->offset(), values) < evaluate(b->offset(), values);
  });
  std::vector<std::string> lines;
  lines.reserve(tensors.size());
  for (const fb::Tensor* t : tensors) {
    lines.push_back(fmt::format("{} at {}: {}", to_string(as_text(t->name())), evaluate(t->offset(), values),
                                row_bytes(*t) * values[rows_symbol(*t)]));
  }
  return lines;
}

/// Sets the symbols to their values for the largest number of tokens of a pass.
void symbols_of(const fb::Model& model, const Limits& limits, fb::Phase phase, uint32_t (*values)[kSymbols]) {
  round_symbols(model, limits, most_tokens(limits, phase), most_sequences(limits, phase), limits.tile_rows, *values);
}

/// Returns the bytes of a worker's memory that each step's tile tensors and scratch need, by the name of the step's
/// first op.
std::string steps(const fb::Model& model, const Limits& limits) {
  std::string text;
  for (const fb::Step* step : *graph(model).steps()) {
    const bool source = step->phase() == fb::Phase::source;
    uint32_t values[kSymbols];
    symbols_of(model, limits, step->phase(), &values);
    text += fmt::format(
        "{}{}: {}", text.empty() ? "" : ", ", to_string(as_text(graph(model).ops()->Get(step->first_op())->name())),
        step_bytes(model, limits, *step, source ? limits.source : limits.longest, limits.source, values));
  }
  return text;
}

}  // namespace

OrderedJson arena_json(const Model& model, const SessionOptions& options) {
  Limits limits;
  Layout layout;
  Fault fault;
  if (resolve(model, options, &limits, &fault) != Status::kOk) throw Error(ExitCode::kUsage, fault.what);
  if (!lay_out(root(model), limits, &layout))
    throw Error(ExitCode::kUsage, "the arena is larger than this machine's memory");
  const fb::Model& m = root(model);
  uint32_t values[kSymbols];
  symbols_of(m, limits, fb::Phase::main, &values);
  std::string shared;
  for (const std::string& line : shared_tensors(m, values)) shared += (shared.empty() ? "" : ", ") + line;
  OrderedJson parts = OrderedJson::array();
  parts.push_back(part("session", layout.shared, "the session object and its workers"));
  parts.push_back(part("shared", layout.f32_heads - layout.shared, shared));
  if (layout.worker_memory != layout.f32_heads) {
    parts.push_back(part("f32 heads", layout.worker_memory - layout.f32_heads, "int8 heads in f32"));
  }
  parts.push_back(part("tiles", layout.ids - layout.worker_memory, steps(m, limits)));
  parts.push_back(part("ids", layout.offsets - layout.ids, "token ids and segments"));
  parts.push_back(part("sequences", layout.text_offsets - layout.offsets, "row offsets, what encoding said"));
  parts.push_back(part("text", layout.contexts - layout.text_offsets, "byte offsets of tokens"));
  if (limits.source != 0) {
    const std::string what = fmt::format("keys and values of {} of {} tokens", limits.sources, limits.source);
    parts.push_back(part("sources", layout.size - layout.sources, what));
  }
  return {{"tokens", limits.max_tokens},
          {"tile_rows", limits.tile_rows},
          {"block_rows", limits.block_rows},
          {"bytes", layout.size},
          {"parts", parts}};
}

}  // namespace bantam::convert
