#include "source/weights.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <string_view>

#include "base/strings.h"
#include "graph/rows.h"

namespace bantam::convert {
namespace {

/// The prefix of layer numbers in names (ModelNames::numbers_behind).
constexpr const char* kLayers = "layers.";

/// Smaller matrices are kept in memory.
constexpr uint64_t kLaterElements = uint64_t{1} << 18;

fb::DType stored_type(const std::string& dtype) {
  if (dtype == kTernaryTensor) return fb::DType::ternary;
  return dtype == "F16" ? fb::DType::f16 : dtype == "BF16" ? fb::DType::bf16 : fb::DType::f32;
}

/// Why an unused tensor is harmless; empty if that is not known.
std::string harmless(std::string_view name, const ModelNames& names) {
  for (const std::string_view buffer : {"position_ids", "token_type_ids", "num_batches_tracked"}) {
    if (ends_with(name, buffer)) return "a buffer, not a weight";
  }
  for (const UnusedTensors& unused : names.unused) {
    if (name.find(unused.part) != std::string_view::npos) return unused.why;
  }
  for (const std::string_view training : {"optimizer", "exp_avg"}) {
    if (name.find(training) != std::string_view::npos) return "training state";
  }
  return {};
}

/// `problem` has the form "FILE: tensor "NAME": cause"; merges it with the same problem of other tensors.
void add_shared(ExitCode code, const std::string& problem, const std::string& name, Problems* problems) {
  const std::string subject = fmt::format("tensor \"{}\"", name);
  const size_t place = problem.find(subject);
  if (place == std::string::npos) return problems->add(code, problem);
  problems->add(code, {problem.substr(0, place), "tensor", name, "", problem.substr(place + subject.size())});
}

std::string_view advice(std::string_view name) {
  if (name.find("lora_") != std::string_view::npos || name.find("adapter") != std::string_view::npos) {
    return "merge the adapters into the model and save it again";
  }
  if (name.find("crossattention") != std::string_view::npos) return "decoders with cross attention are not supported";
  if (name.find("distance_embedding") != std::string_view::npos) return "relative positions are not supported";
  if (ends_with(name, "_zero_point") || ends_with(name, "_scale") || name.find(".absmax") != std::string_view::npos) {
    return "start from the model before it was quantized";
  }
  return "leave it out of the file, or name the task that uses it with --task";
}

}  // namespace

std::string base_prefix(const Checkpoint& checkpoint, const ModelNames& names) {
  const std::string_view anchor = names.anchor;
  const std::string own = names.base + ".";
  std::vector<std::string> found;
  for (const auto& [name, entry] : checkpoint.tensors()) {
    if (ends_with(name, anchor)) found.push_back(name.substr(0, name.size() - anchor.size()));
  }
  if (found.empty()) return "";
  return *std::min_element(found.begin(), found.end(), [&](const std::string& a, const std::string& b) {
    const bool own_a = ends_with(a, own), own_b = ends_with(b, own);
    return own_a != own_b ? own_a : a.size() < b.size();
  });
}

TensorPart tensor_part(const std::string& name) {
  TensorPart out{name};
  constexpr size_t kLength = 5;  // length of "[1/3]"
  const size_t open = name.rfind('[');
  if (open != std::string::npos && name.size() - open >= kLength) {
    const char part = name[open + 1], parts = name[open + 3];
    if (part >= '0' && part < parts && parts <= '9' && name[open + 2] == '/' && name[open + 4] == ']') {
      out = {name.substr(0, open) + name.substr(open + kLength), static_cast<uint32_t>(part - '0'),
             static_cast<uint32_t>(parts - '0')};
    }
  }
  const size_t mark = out.name.rfind('^');
  if (mark != std::string::npos && (mark + 1 == out.name.size() || out.name[mark + 1] == '.')) {
    out.name.erase(mark, 1);
    out.turned = true;
  }
  return out;
}

Values some_columns(const Values& from, uint32_t columns, uint32_t begin, uint32_t count) {
  Values out;
  out.source = from.source;
  out.source_type = from.source_type;
  out.source_bytes = columns == 0 ? 0 : from.source_bytes / columns * count;
  for (size_t row = 0; row + columns <= from.values.size(); row += columns) {
    const auto first = from.values.begin() + static_cast<std::ptrdiff_t>(row + begin);
    out.values.insert(out.values.end(), first, first + static_cast<std::ptrdiff_t>(count));
  }
  return out;
}

std::vector<float> turned(const std::vector<float>& values, size_t rows) {
  if (rows == 0) return values;
  const size_t columns = values.size() / rows;
  std::vector<float> out(values.size());
  for (size_t row = 0; row < rows; ++row) {
    for (size_t column = 0; column < columns; ++column) out[column * rows + row] = values[row * columns + column];
  }
  return out;
}

std::string outer_prefix(const std::string& base, const ModelNames& names) {
  std::vector<std::string> bases = {names.base + "."};
  for (const char* other : names.other_bases) bases.push_back(other + std::string("."));
  size_t longest = 0;
  for (const std::string& own : bases) {
    const bool whole =
        base.size() == own.size() || (base.size() > own.size() && base[base.size() - own.size() - 1] == '.');
    if (whole && ends_with(base, own)) longest = std::max(longest, own.size());
  }
  return base.substr(0, base.size() - longest);
}

Weights::Weights(const Checkpoint& checkpoint, const ModelNames& names, Problems& problems)
    : checkpoint_(checkpoint),
      names_(names),
      problems_(problems),
      base_(base_prefix(checkpoint, names)),
      outer_(outer_prefix(base_, names)) {}

std::optional<std::string> Weights::find(const std::string& full) const {
  const auto& tensors = checkpoint_.tensors();
  if (tensors.count(full) != 0) return full;
  static constexpr std::pair<std::string_view, std::string_view> kLegacy[] = {
      {"LayerNorm.weight", "LayerNorm.gamma"},
      {"LayerNorm.bias", "LayerNorm.beta"},
      {"attention.dense.bias", "attention.dense_bias"}};
  for (const auto& [modern, legacy] : kLegacy) {
    if (!ends_with(full, modern)) continue;
    const std::string renamed = full.substr(0, full.size() - modern.size()) + std::string(legacy);
    if (tensors.count(renamed) != 0) return renamed;
  }
  const std::string layers = base_ + kLayers;
  if (names_.numbers_behind && starts_with(full, layers)) {
    const size_t dot = full.find('.', layers.size());
    const size_t end = dot == std::string::npos ? dot : full.find('.', dot + 1);
    if (end != std::string::npos) {
      const std::string number = full.substr(layers.size(), dot - layers.size());
      const std::string behind = base_ + full.substr(dot + 1, end - dot) + number + full.substr(end);
      if (tensors.count(behind) != 0) return behind;
    }
  }
  for (const auto& [legacy, modern] : names_.renamed) {
    if (!starts_with(full, outer_ + modern)) continue;
    const std::string renamed = outer_ + legacy + full.substr(outer_.size() + std::string_view(modern).size());
    if (tensors.count(renamed) != 0) return renamed;
  }
  return std::nullopt;
}

std::optional<uint64_t> Weights::rows(const std::string& full) const {
  const auto name = find(full);
  if (!name) return std::nullopt;
  const StoredTensor& stored = *checkpoint_.tensors().at(*name).stored;
  if (stored.shape.empty()) return std::nullopt;
  return stored.shape.front();
}

size_t Weights::encoder_extents(const std::string& name) const {
  const auto found = find(base_ + name);
  return found ? checkpoint_.tensors().at(*found).stored->shape.size() : 0;
}

uint32_t Weights::layers(const std::string& stack) const {
  const std::string prefix = base_ + stack;
  uint32_t count = 0;
  if (names_.numbers_behind && stack == kLayers) {
    for (const auto& [name, entry] : checkpoint_.tensors()) {
      if (!starts_with(name, base_)) continue;
      const size_t dot = name.find('.', base_.size());
      uint32_t layer = 0;
      if (dot == std::string::npos) continue;
      const char *begin = name.data() + dot + 1, *end = name.data() + name.size();
      const auto parsed = std::from_chars(begin, end, layer);
      if (parsed.ec == std::errc() && parsed.ptr != end && *parsed.ptr == '.' && layer < UINT32_MAX)
        count = std::max(count, layer + 1);
    }
    if (count != 0) return count;
  }
  for (auto place = checkpoint_.tensors().lower_bound(prefix);
       place != checkpoint_.tensors().end() && starts_with(place->first, prefix); ++place) {
    const char* begin = place->first.data() + prefix.size();
    const char* end = place->first.data() + place->first.size();
    uint32_t layer = 0;
    const auto parsed = std::from_chars(begin, end, layer);
    if (parsed.ec == std::errc() && parsed.ptr != end && *parsed.ptr == '.' && layer < UINT32_MAX) {
      count = std::max(count, layer + 1);
    }
  }
  return count;
}

Values Weights::take(const std::string& full, const std::vector<uint32_t>& part_shape, uint32_t keep, bool later) {
  const TensorPart part = tensor_part(full);
  std::vector<uint32_t> shape = part_shape;
  if (!shape.empty()) shape.front() *= part.parts;
  const bool turns = part.turned && shape.size() == 2;
  if (turns) std::swap(shape[0], shape[1]);
  const auto name = find(part.name);
  if (!name) {
    problems_.add(ExitCode::kInvalid,
                  {"", "tensor", part.name, fmt::format(" is missing (expected shape [{}])", fmt::join(shape, ", ")),
                   "; is the file complete, and is this the right --task?"});
    return {};
  }
  used_.insert(*name);
  const StoredTensor& stored = *checkpoint_.tensors().at(*name).stored;
  if (!std::equal(shape.begin(), shape.end(), stored.shape.begin(), stored.shape.end())) {
    problems_.add(ExitCode::kInvalid, {"", "tensor", *name,
                                       fmt::format(" has shape [{}], but config.json asks for [{}]",
                                                   fmt::join(stored.shape, ", "), fmt::join(shape, ", ")),
                                       "; the two do not belong together"});
    return {};
  }
  Values out;
  const bool whole = part.parts == 1 && !turns && keep == 0 && shape.size() == 2;
  try {
    if (later && whole && stored.elements >= kLaterElements) out.later = checkpoint_.rows(*name, shape[1]);
    if (out.later == nullptr) out.values = checkpoint_.read(*name);
  } catch (const Error& error) {
    for (const std::string& problem : error.problems()) add_shared(error.code(), problem, *name, &problems_);
    return {};
  }
  if (turns) out.values = turned(out.values, shape.front());
  if (part.parts != 1) {
    const auto rows = static_cast<std::ptrdiff_t>(out.values.size() / part.parts);
    const auto begin = out.values.begin() + rows * static_cast<std::ptrdiff_t>(part.part);
    out.values = std::vector<float>(begin, begin + rows);
  }
  if (keep != 0 && keep < shape.front()) out.values.resize(out.values.size() / shape.front() * keep);
  out.source = {*name};
  out.source_type = stored_type(stored.dtype);
  out.source_bytes = stored.size / part.parts;
  return out;
}

Values Weights::encoder(const std::string& name, const std::vector<uint32_t>& shape, uint32_t keep) {
  return take(base_ + name, shape, keep);
}

Values Weights::head(const std::string& name, const std::vector<uint32_t>& shape) {
  return take(outer_ + name, shape, 0);
}

Values Weights::encoder_matrix(const std::string& name, uint32_t rows, uint32_t columns) {
  return take(base_ + name, {rows, columns}, 0, true);
}

Values Weights::head_matrix(const std::string& name, uint32_t rows, uint32_t columns) {
  return take(outer_ + name, {rows, columns}, 0, true);
}

void Weights::use_head(const std::string& name) {
  if (const auto found = find(outer_ + name)) used_.insert(*found);
}

bool Weights::same(const std::string& head_name, const std::string& encoder_name) const {
  const auto a = find(outer_ + head_name), b = find(base_ + encoder_name);
  if (!a || !b) return false;
  const auto& tensors = checkpoint_.tensors();
  if (tensors.at(*a).stored->shape != tensors.at(*b).stored->shape) return false;
  try {
    return checkpoint_.read(*a) == checkpoint_.read(*b);
  } catch (const Error&) {
    return false;  // reported when the tensor is taken
  }
}

void Weights::finish(std::vector<std::string>& notes) {
  std::map<std::string, std::vector<std::string>> dropped;
  for (const auto& [name, entry] : checkpoint_.tensors()) {
    if (used_.count(name) != 0) continue;
    if (const std::string why = harmless(name, names_); !why.empty()) {
      dropped[why].push_back(name);
    } else {
      problems_.add(ExitCode::kUnsupported,
                    {"", "tensor", name, "", fmt::format(" has no place in this model; {}", advice(name))});
    }
  }
  constexpr size_t kMostNamed = 6;
  for (const auto& [why, names] : dropped) {
    if (names.size() <= kMostNamed) {
      notes.push_back(fmt::format("dropped {}: {}", fmt::join(names, ", "), why));
    } else {
      notes.push_back(fmt::format("dropped {} tensors, {} to {}: {}", names.size(), names.front(), names.back(), why));
    }
  }
}

void hold_values(Values& values) {
  if (values.later == nullptr) return;
  Constant held;
  held.later = std::move(values.later);
  hold_values(held);
  values.values = std::move(held.values);
}

Values concatenate(std::vector<Values> parts) {
  Values out;
  if (parts.empty()) return out;
  out.source_type = parts.front().source_type;
  const bool later = std::any_of(parts.begin(), parts.end(), [](const Values& part) { return part.later != nullptr; });
  std::vector<Constant> rows;
  for (Values& part : parts) {
    if (part.values.empty() && part.later == nullptr) return {};
    if (later) {
      rows.emplace_back();
      rows.back().values = std::move(part.values);
      rows.back().later = std::move(part.later);
    } else {
      out.values.insert(out.values.end(), part.values.begin(), part.values.end());
    }
    // Consecutive parts of the same tensor name it once.
    for (std::string& name : part.source) {
      if (out.source.empty() || out.source.back() != name) out.source.push_back(std::move(name));
    }
    out.source_bytes += part.source_bytes;
  }
  if (later) out.later = stack_rows(std::move(rows));
  return out;
}

}  // namespace bantam::convert
