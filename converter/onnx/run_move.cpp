// Operators that reshape, slice, gather and repeat. Definitions: https://onnx.ai/onnx/operators
#include <set>
#include <utility>

#include "onnx/run.h"

namespace bantam::convert::onnx {
namespace {

HostTensor transpose(const Run& run) {
  const HostTensor& x = run.at(0);
  const size_t rank = x.dims.size();
  std::vector<int64_t> order = run.node.integers("perm");
  if (order.empty()) {
    for (size_t i = rank; i-- > 0;) order.push_back(static_cast<int64_t>(i));
  }
  if (order.size() != rank) throw std::invalid_argument("perm does not fit");
  std::vector<size_t> strides(rank, 1);
  for (size_t i = rank; i-- > 1;) strides[i - 1] = strides[i] * static_cast<size_t>(x.dims[i]);
  HostTensor out;
  out.whole = x.whole;
  std::vector<size_t> steps;
  std::set<size_t> seen;
  for (const int64_t axis : order) {
    const size_t from = axis_of_rank(axis, rank);
    if (!seen.insert(from).second) throw std::invalid_argument("perm names an axis twice");
    out.dims.push_back(x.dims[from]);
    steps.push_back(strides[from]);
  }
  std::vector<int64_t> index(rank, 0);
  size_t from = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    push(out, x, from);
    for (size_t axis = rank; axis-- > 0;) {
      from += steps[axis];
      if (++index[axis] < out.dims[axis]) break;
      from -= steps[axis] * static_cast<size_t>(out.dims[axis]);
      index[axis] = 0;
    }
  }
  return out;
}

HostTensor reshape(const Run& run) {
  const HostTensor& x = run.at(0);
  std::vector<int64_t> dims = run.list(1, "shape");
  int64_t known = 1, open = -1;
  for (size_t i = 0; i < dims.size(); ++i) {
    if (dims[i] == 0 && run.node.integer("allowzero", 0) == 0 && i < x.dims.size()) dims[i] = x.dims[i];
    if (dims[i] == -1) {
      open = static_cast<int64_t>(i);
    } else {
      known = wrap(static_cast<uint64_t>(known) * static_cast<uint64_t>(dims[i]));
    }
  }
  if (open >= 0) dims[static_cast<size_t>(open)] = known == 0 ? 0 : static_cast<int64_t>(x.size()) / known;
  return with_dims(x, dims);
}

HostTensor unsqueeze(const Run& run) {
  const HostTensor& x = run.at(0);
  const std::vector<int64_t> axes = run.list(1, "axes");
  const size_t rank = x.dims.size() + axes.size();
  std::set<size_t> added;
  for (const int64_t axis : axes) added.insert(axis_of_rank(axis, rank));
  if (added.size() != axes.size() || rank > 16) throw std::invalid_argument("axes name one twice");
  std::vector<int64_t> dims;
  size_t next = 0;
  for (size_t i = 0; i < rank; ++i) dims.push_back(added.count(i) != 0 ? 1 : x.dims[next++]);
  return with_dims(x, dims);
}

HostTensor squeeze(const Run& run) {
  const HostTensor& x = run.at(0);
  const std::vector<int64_t> axes = run.list(1, "axes");
  std::set<size_t> gone;
  for (const int64_t axis : axes) gone.insert(axis_of_rank(axis, x.dims.size()));
  std::vector<int64_t> dims;
  for (size_t i = 0; i < x.dims.size(); ++i) {
    if (axes.empty() ? x.dims[i] != 1 : gone.count(i) == 0) dims.push_back(x.dims[i]);
  }
  return with_dims(x, dims);
}

HostTensor concat(const Run& run) {
  const HostTensor& first = run.at(0);
  const size_t axis = axis_of_rank(run.node.integer("axis", 0), first.dims.size());
  HostTensor out;
  out.whole = true;
  out.dims = first.dims;
  out.dims[axis] = 0;
  size_t outer = 1;
  for (size_t i = 0; i < axis; ++i) outer *= static_cast<size_t>(first.dims[i]);
  for (size_t k = 0; k < run.in.size(); ++k) {
    if (run.at(k).dims.size() != first.dims.size()) throw std::invalid_argument("shapes do not go together");
    out.dims[axis] += run.at(k).dims[axis];
    out.whole = out.whole && run.at(k).whole;
  }
  count_of(out.dims);
  for (size_t o = 0; o < outer; ++o) {
    for (const HostTensor* x : run.in) {
      const size_t inner = outer == 0 ? 0 : x->size() / outer;
      for (size_t i = 0; i < inner; ++i) push(out, *x, o * inner + i);
    }
  }
  std::vector<int64_t> dims = out.dims;
  return with_dims(std::move(out), std::move(dims));
}

HostTensor gather(const Run& run) {
  const HostTensor &x = run.at(0), &indices = run.at(1);
  const size_t axis = axis_of_rank(run.node.integer("axis", 0), x.dims.size());
  size_t outer = 1, inner = 1;
  HostTensor out;
  out.whole = x.whole;
  for (size_t i = 0; i < x.dims.size(); ++i) {
    if (i < axis) outer *= static_cast<size_t>(x.dims[i]);
    if (i > axis) inner *= static_cast<size_t>(x.dims[i]);
    if (i == axis) {
      out.dims.insert(out.dims.end(), indices.dims.begin(), indices.dims.end());
    } else {
      out.dims.push_back(x.dims[i]);
    }
  }
  count_of(out.dims);
  if (x.dims.empty()) throw std::invalid_argument("a scalar has no rows");
  const int64_t count = x.dims[axis];
  for (size_t o = 0; o < outer; ++o) {
    for (size_t k = 0; k < indices.size(); ++k) {
      const int64_t row = indices.integer(k) < 0 ? indices.integer(k) + count : indices.integer(k);
      if (row < 0 || row >= count) throw std::out_of_range("an index lies outside");
      for (size_t i = 0; i < inner; ++i) {
        push(out, x, (o * static_cast<size_t>(count) + static_cast<size_t>(row)) * inner + i);
      }
    }
  }
  return out;
}

HostTensor gather_nd(const Run& run) {
  const HostTensor &x = run.at(0), &indices = run.at(1);
  if (run.node.integer("batch_dims", 0) != 0 || indices.dims.empty()) throw std::invalid_argument("batches");
  const auto depth = static_cast<size_t>(indices.dims.back());
  if (depth > x.dims.size()) throw std::invalid_argument("indices are too long");
  HostTensor out;
  out.whole = x.whole;
  out.dims.assign(indices.dims.begin(), indices.dims.end() - 1);
  out.dims.insert(out.dims.end(), x.dims.begin() + static_cast<std::ptrdiff_t>(depth), x.dims.end());
  const size_t total = count_of(out.dims), rows = depth == 0 ? 0 : indices.size() / depth;
  const size_t inner = rows == 0 ? 0 : total / rows;
  for (size_t r = 0; r < rows; ++r) {
    size_t at = 0;
    for (size_t d = 0; d < depth; ++d) {
      int64_t i = indices.integer(r * depth + d);
      if (i < 0) i += x.dims[d];
      if (i < 0 || i >= x.dims[d]) throw std::out_of_range("an index lies outside");
      at = at * static_cast<size_t>(x.dims[d]) + static_cast<size_t>(i);
    }
    for (size_t i = 0; i < inner; ++i) push(out, x, at * inner + i);
  }
  return out;
}

HostTensor gather_elements(const Run& run) {
  const HostTensor &x = run.at(0), &indices = run.at(1);
  const size_t axis = axis_of_rank(run.node.integer("axis", 0), x.dims.size());
  if (indices.dims.size() != x.dims.size()) throw std::invalid_argument("shapes do not go together");
  HostTensor out;
  out.whole = x.whole;
  out.dims = indices.dims;
  std::vector<int64_t> index(x.dims.size(), 0);
  for (size_t i = 0; i < indices.size(); ++i) {
    size_t at = 0;
    for (size_t d = 0; d < x.dims.size(); ++d) {
      int64_t place = d == axis ? indices.integer(i) : index[d];
      if (place < 0) place += x.dims[d];
      if (place < 0 || place >= x.dims[d]) throw std::out_of_range("an index lies outside");
      at = at * static_cast<size_t>(x.dims[d]) + static_cast<size_t>(place);
    }
    push(out, x, at);
    for (size_t d = index.size(); d-- > 0;) {
      if (++index[d] < out.dims[d]) break;
      index[d] = 0;
    }
  }
  return out;
}

HostTensor slice(const Run& run) {
  HostTensor x = run.at(0);
  const std::vector<int64_t> starts = run.list(1, "starts"), ends = run.list(2, "ends");
  std::vector<int64_t> axes = run.list(3, "axes"), steps = run.list(4, "steps");
  for (size_t i = 0; i < starts.size(); ++i) {
    const size_t axis = axis_of_rank(i < axes.size() ? axes[i] : static_cast<int64_t>(i), x.dims.size());
    const int64_t step = i < steps.size() ? steps[i] : 1, count = x.dims[axis];
    if (step == 0 || i >= ends.size()) throw std::invalid_argument("a step of 0");
    if (count == 0) continue;
    const auto place = [&](int64_t v, int64_t low, int64_t high) {
      if (v < 0) v = v < -count ? low : v + count;
      return std::clamp(v, low, high);
    };
    const int64_t from = step > 0 ? place(starts[i], 0, count) : place(starts[i], 0, count - 1);
    const int64_t to = step > 0 ? place(ends[i], 0, count) : place(ends[i], -1, count - 1);
    std::vector<int64_t> kept;
    for (int64_t k = from; step > 0 ? k < to : k > to;) {
      kept.push_back(k);
      if (step > count || step < -count) break;
      k += step;
    }
    Node pick;
    pick.attributes["axis"].i = static_cast<int64_t>(axis);
    const HostTensor rows = host_integers(kept);
    const Inputs inputs = {&x, &rows};
    x = gather({pick, inputs, run.opset});
  }
  return x;
}

HostTensor filled(const Run& run) {
  HostTensor value = host_floats({1}, {0});
  if (run.node.has("value") && run.node.attributes.at("value").t != nullptr) {
    const auto given = load(*run.node.attributes.at("value").t);
    if (given && given->size() == 1) value = *given;
  }
  value.dims.clear();
  return broadcast(value, run.list(0, ""));
}

HostTensor expand(const Run& run) { return broadcast(run.at(0), broadcast_dims(run.at(0).dims, run.list(1, ""))); }

HostTensor tile(const Run& run) {
  HostTensor x = run.at(0);
  const std::vector<int64_t> repeats = run.list(1, "");
  for (size_t axis = 0; axis < repeats.size() && axis < x.dims.size(); ++axis) {
    if (repeats[axis] < 0 || repeats[axis] > 1 << 20) throw std::length_error("a tensor is too large to be run");
    Node join;
    join.op = "Concat";
    join.attributes["axis"].i = static_cast<int64_t>(axis);
    std::vector<int64_t> dims = x.dims;
    dims[axis] *= repeats[axis];
    count_of(dims);
    const Inputs copies(static_cast<size_t>(repeats[axis]), &x);
    if (copies.empty()) throw std::invalid_argument("no repeats");
    HostTensor joined = concat({join, copies, run.opset});
    x = std::move(joined);
  }
  return x;
}

HostTensor shape(const Run& run) {
  std::vector<int64_t> dims = run.at(0).dims;
  const auto rank = static_cast<int64_t>(dims.size());
  const auto place = [&](int64_t v) { return std::clamp<int64_t>(v < 0 ? v + rank : v, 0, rank); };
  const int64_t from = place(run.node.integer("start", 0)), to = place(run.node.integer("end", rank));
  if (from >= to) return host_integers({});
  return host_integers({dims.begin() + static_cast<ptrdiff_t>(from), dims.begin() + static_cast<ptrdiff_t>(to)});
}

HostTensor flatten(const Run& run) {
  const HostTensor& x = run.at(0);
  int64_t axis = run.node.integer("axis", 1);
  if (axis < 0) axis += static_cast<int64_t>(x.dims.size());
  int64_t outer = 1, inner = 1;
  for (size_t i = 0; i < x.dims.size(); ++i) (static_cast<int64_t>(i) < axis ? outer : inner) *= x.dims[i];
  return with_dims(x, {outer, inner});
}

}  // namespace

std::vector<HostTensor> split(const Run& run) {
  const HostTensor& x = run.at(0);
  const size_t axis = axis_of_rank(run.node.integer("axis", 0), x.dims.size());
  std::vector<int64_t> parts = run.list(1, "split");
  if (parts.empty()) {
    const auto count = static_cast<int64_t>(run.node.outputs.size());
    if (count == 0) throw std::invalid_argument("no parts");
    parts.assign(run.node.outputs.size(), (x.dims[axis] + count - 1) / count);
    parts.back() = x.dims[axis] - (count - 1) * parts.front();
  }
  Node pick;
  pick.attributes["axis"].i = static_cast<int64_t>(axis);
  std::vector<HostTensor> out;
  int64_t begin = 0;
  for (const int64_t part : parts) {
    if (part < 0 || part > x.dims[axis] - begin) throw std::out_of_range("parts do not fit");
    std::vector<int64_t> kept;
    for (int64_t i = begin; i < begin + part; ++i) kept.push_back(i);
    const HostTensor rows = host_integers(std::move(kept));
    const Inputs inputs = {&x, &rows};
    out.push_back(gather({pick, inputs, run.opset}));
    begin += part;
  }
  return out;
}

const std::map<std::string, Operator>& moves() {
  static const std::map<std::string, Operator> kMoves = {
      {"Transpose", transpose}, {"Reshape", reshape},
      {"Unsqueeze", unsqueeze}, {"Squeeze", squeeze},
      {"Concat", concat},       {"Gather", gather},
      {"GatherND", gather_nd},  {"GatherElements", gather_elements},
      {"Slice", slice},         {"ConstantOfShape", filled},
      {"Expand", expand},       {"Tile", tile},
      {"Shape", shape},         {"Flatten", flatten},
  };
  return kMoves;
}

}  // namespace bantam::convert::onnx
