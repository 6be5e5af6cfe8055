#include "describe/tables.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/strings.h"
#include "format/view.h"
#include "ops/ops.h"

namespace bantam::convert {
namespace {

std::string symbol_name(const fb::Model& model, int32_t symbol) {
  return to_string(as_text(model.symbols()->Get(static_cast<uint32_t>(symbol))->name()));
}

/// Formats a dimension: "tokens", "384", "(2*tokens+1)/2".
std::string dimension(const fb::Model& model, const fb::Dim& dim) {
  if (dim.symbol() < 0) return fmt::format("{}", dim.b());
  std::string inner = dim.a() == 1 ? "" : fmt::format("{}*", dim.a());
  inner += symbol_name(model, dim.symbol());
  if (dim.b() != 0) inner += fmt::format("{:+}", dim.b());
  return dim.c() == 1 ? inner : fmt::format("({})/{}", inner, dim.c());
}

std::string shape(const fb::Model& model, const fb::Tensor& t) {
  std::string result;
  for (uint32_t d = 0; d < t.shape()->size(); ++d) {
    result += (d > 0 ? " x " : "") + dimension(model, *t.shape()->Get(d));
  }
  return result;
}

/// Formats an affine expression: "1024 + 96*tokens".
std::string affine(const fb::Model& model, const flatbuffers::Vector<uint32_t>* entry) {
  std::string result;
  if (coefficient(entry, 0) != 0) result = fmt::format("{}", coefficient(entry, 0));
  for (uint32_t s = 0; s < kSymbols; ++s) {
    const uint64_t factor = coefficient(entry, 1 + s);
    if (factor == 0) continue;
    result += fmt::format("{}{}*{}", result.empty() ? "" : " + ", factor, symbol_name(model, static_cast<int32_t>(s)));
  }
  return result.empty() ? "0" : result;
}

std::string tensor_name(const fb::Model& model, int32_t index) {
  return index < 0 ? "-" : to_string(as_text(bantam::tensor(model, index).name()));
}

/// Returns the names of the tensors indices[first, last), or up to the end of the list.
OrderedJson names(const fb::Model& model, const flatbuffers::Vector<int32_t>* indices, uint32_t first = 0,
                  uint32_t last = UINT32_MAX) {
  OrderedJson list = OrderedJson::array();
  for (uint32_t i = first; i < std::min(count(indices), last); ++i) {
    if (indices->Get(i) >= 0) list.push_back(tensor_name(model, indices->Get(i)));
  }
  return list;
}

/// Returns the steps of the epilogue in order: "gelu", "residual, norm", ...
std::string epilogue_text(const fb::Op& op) {
  const fb::Epilogue* epilogue = op.epilogue();
  std::string result;
  const auto add = [&](const std::string& part) { result += (result.empty() ? "" : ", ") + part; };
  if (is_static(op)) add("integers");
  if (op.integer() != nullptr && op.integer()->table() >= 0) add("table");
  if (epilogue == nullptr) return result;
  if (epilogue->activation() != fb::ActivationKind::none) add(fb::EnumNameActivationKind(epilogue->activation()));
  if (epilogue->gate() >= 0) add("gate");
  if (epilogue->residual() >= 0) add("residual");
  if (epilogue->store_sum()) add("stored");
  if (epilogue->norm() != fb::NormKind::none) add(fmt::format("{} norm", fb::EnumNameNormKind(epilogue->norm())));
  return result;
}

uint64_t blob_size(const fb::Blob* blob) { return blob == nullptr ? 0 : blob->size(); }

/// Returns the first and the last step that use an arena tensor, as "0..3"; empty if none does.
std::string life(const fb::Model& model, int32_t index) {
  const fb::Subgraph& ops = graph(model);
  int32_t first = -1;
  int32_t last = -1;
  for (uint32_t s = 0; s < ops.steps()->size(); ++s) {
    const fb::Step& step = *ops.steps()->Get(s);
    for (uint32_t i = step.first_op(); i < step.first_op() + step.op_count(); ++i) {
      const fb::Op& op = *ops.ops()->Get(i);
      const ops::Operands operands(op);
      bool named = false;
      for (uint32_t k = 0; k < operands.size(); ++k) named = named || operands.tensor(k) == index;
      if (!named) continue;
      if (first < 0) first = static_cast<int32_t>(s);
      last = static_cast<int32_t>(s);
    }
  }
  return first < 0 ? "" : fmt::format("{}..{}", first, last);
}

}  // namespace

uint64_t parameter_count(const Model& model) {
  uint64_t count = 0;
  for (const fb::Tensor* t : *root(model).tensors()) {
    if (!bantam::is_constant(*t) || t->alias() >= 0) continue;
    uint64_t elements = 1;
    for (uint32_t d = 0; d < t->shape()->size(); ++d) elements *= extent(*t, d);
    count += elements;
  }
  return count;
}

OrderedJson ops_json(const Model& model) {
  const fb::Model& stored = root(model);
  const fb::Subgraph& ops = graph(stored);
  OrderedJson list = OrderedJson::array();
  for (uint32_t s = 0; s < ops.steps()->size(); ++s) {
    const fb::Step& step = *ops.steps()->Get(s);
    for (uint32_t i = step.first_op(); i < step.first_op() + step.op_count(); ++i) {
      const fb::Op& op = *ops.ops()->Get(i);
      const uint32_t row = ops::find_row(op);
      const uint32_t own = row == linked::kOps ? UINT32_MAX : ops::kFacts[row].inputs;
      const fb::Tag tag = op.tag() == nullptr ? fb::Tag(-1, fb::Part::none, 0, 0) : *op.tag();
      list.push_back({{"op", i},
                      {"step", s},
                      {"rows", symbol_name(stored, step.rows())},
                      {"name", to_string(as_text(op.name()))},
                      {"kind", fb::EnumNameOpAttributes(op.attributes_type())},
                      {"part", fb::EnumNamePart(tag.part())},
                      {"layer", tag.layer() < 0 ? OrderedJson() : OrderedJson(tag.layer())},
                      {"inputs", names(stored, op.inputs(), 0, own)},
                      {"named_inputs", names(stored, op.inputs(), own)},
                      {"outputs", names(stored, op.outputs())},
                      {"epilogue", epilogue_text(op)}});
    }
  }
  return list;
}

OrderedJson tensors_json(const Model& model) {
  const fb::Model& stored = root(model);
  OrderedJson list = OrderedJson::array();
  for (const fb::Tensor* t : *stored.tensors()) {
    if (!bantam::is_constant(*t)) continue;
    OrderedJson sources = OrderedJson::array();
    for (uint32_t i = 0; i < count(t->source()); ++i) sources.push_back(to_string(as_text(t->source()->Get(i))));
    list.push_back({{"name", to_string(as_text(t->name()))},
                    {"type", fb::EnumNameDType(t->type())},
                    {"layout", fb::EnumNameLayout(t->layout())},
                    {"shape", shape(stored, *t)},
                    {"bytes", blob_size(t->data()) + blob_size(t->scales()) + blob_size(t->sums())},
                    {"source_bytes", t->source_bytes()},
                    {"error", t->error()},
                    {"alias", tensor_name(stored, t->alias())},
                    {"source", sources}});
  }
  return list;
}

OrderedJson plan_json(const Model& model) {
  const fb::Model& stored = root(model);
  OrderedJson list = OrderedJson::array();
  for (uint32_t i = 0; i < stored.tensors()->size(); ++i) {
    const fb::Tensor& t = *stored.tensors()->Get(i);
    if (bantam::is_constant(t)) continue;
    list.push_back({{"name", to_string(as_text(t.name()))},
                    {"region", fb::EnumNameRegion(t.region())},
                    {"role", fb::EnumNameRole(t.role())},
                    {"type", fb::EnumNameDType(t.type())},
                    {"layout", fb::EnumNameLayout(t.layout())},
                    {"shape", shape(stored, t)},
                    {"offset", affine(stored, t.offset())},
                    {"row_bytes", row_bytes(t)},
                    {"steps", life(stored, static_cast<int32_t>(i))}});
  }
  return list;
}

}  // namespace bantam::convert
