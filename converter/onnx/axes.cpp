#include "onnx/axes.h"

#include <algorithm>

namespace bantam::convert::onnx {

int64_t extent(const Atom& atom, const Extents& at) {
  switch (atom.kind) {
    case Atom::Kind::kBatch:
      return at.batch;
    case Atom::Kind::kTokens:
      return at.tokens - atom.less;
    case Atom::Kind::kColumns:
      break;
  }
  return atom.extent;
}

int64_t extent(const Axis& axis, const Extents& at) {
  int64_t product = 1;
  for (const Atom& atom : axis) product *= extent(atom, at);
  return product;
}

std::vector<int64_t> dims(const Axes& axes, const Extents& at) {
  std::vector<int64_t> out;
  for (const Axis& axis : axes) out.push_back(extent(axis, at));
  return out;
}

namespace {

void append(Axis& axis, const Atom& atom) {
  const bool columns = atom.kind == Atom::Kind::kColumns;
  if (columns && atom.extent == 1) return;
  if (columns && !axis.empty() && axis.back().kind == Atom::Kind::kColumns &&
      axis.back().step == atom.step * atom.extent) {
    axis.back() = columns_atom(axis.back().extent * atom.extent, atom.step);
    return;
  }
  axis.push_back(atom);
}

}  // namespace

bool is_of_heads(const Axes& axes) {
  if (axes.size() != 4 || !(axes[0] == Axis{kBatchAtom}) || axes[3].size() != 1) return false;
  const Atom& columns = axes[3][0];
  if (columns.kind != Atom::Kind::kColumns || columns.step != 1) return false;
  const size_t tokens = axes[1] == Axis{kTokensAtom} ? 1 : 2;
  const Axis& heads = axes[3 - tokens];
  const bool one = heads.empty() || (heads.size() == 1 && heads[0].kind == Atom::Kind::kColumns);
  return axes[tokens] == Axis{kTokensAtom} && one;
}

Axis flat(const Axes& axes) {
  Axis out;
  for (const Axis& axis : axes) {
    for (const Atom& atom : axis) append(out, atom);
  }
  return out;
}

std::optional<Axes> reshape(const Axes& axes, const std::vector<Extents>& at,
                            std::vector<std::vector<int64_t>> shapes) {
  if (shapes.empty() || shapes.size() != at.size()) return std::nullopt;
  const size_t rank = shapes.front().size();
  for (size_t p = 0; p < shapes.size(); ++p) {
    std::vector<int64_t>& shape = shapes[p];
    if (shape.size() != rank) return std::nullopt;
    int64_t known = 1, all = 1;
    for (const Axis& axis : axes) all *= extent(axis, at[p]);
    size_t open = rank;
    for (size_t i = 0; i < rank; ++i) {
      if (shape[i] == 0) {
        if (i >= axes.size()) return std::nullopt;
        shape[i] = extent(axes[i], at[p]);
      }
      if (shape[i] == -1) {
        open = i;
      } else if (shape[i] < 1 || shape[i] > (int64_t{1} << 40) || known > (int64_t{1} << 40) / shape[i]) {
        return std::nullopt;
      } else {
        known *= shape[i];
      }
    }
    if (open != rank) {
      if (all % known != 0) return std::nullopt;
      shape[open] = all / known;
    } else if (all != known) {
      return std::nullopt;
    }
  }
  Axis left = flat(axes);
  std::reverse(left.begin(), left.end());  // the last part first
  Axes out(rank);
  const bool one = std::all_of(at.begin(), at.end(), [](const Extents& e) { return e.batch == 1; });
  const auto texts = std::find(left.begin(), left.end(), kBatchAtom);
  size_t place = rank;
  if (one && texts != left.end()) {
    // Extents alone do not tell which of the axes of extent 1 is the batch: take the first.
    for (size_t i = rank; i-- > 0;) {
      const auto is_one = [i](const std::vector<int64_t>& shape) { return shape[i] == 1; };
      if (std::all_of(shapes.begin(), shapes.end(), is_one)) place = i;
    }
    if (place != rank) left.erase(texts);
  }
  for (size_t i = 0; i < rank; ++i) {
    std::vector<int64_t> wanted;
    wanted.reserve(shapes.size());
    for (const auto& shape : shapes) wanted.push_back(shape[i]);
    const auto done = [&] { return std::all_of(wanted.begin(), wanted.end(), [](int64_t w) { return w == 1; }); };
    while (!done()) {
      if (left.empty()) return std::nullopt;
      const Atom atom = left.back();
      left.pop_back();
      bool whole = true;
      for (size_t p = 0; p < wanted.size(); ++p) whole = whole && wanted[p] % extent(atom, at[p]) == 0;
      if (whole) {
        for (size_t p = 0; p < wanted.size(); ++p) wanted[p] /= extent(atom, at[p]);
        append(out[i], atom);
        continue;
      }
      const int64_t part = wanted.front();
      const bool same = std::all_of(wanted.begin(), wanted.end(), [&](int64_t w) { return w == part; });
      if (atom.kind != Atom::Kind::kColumns || !same || atom.extent % part != 0) return std::nullopt;
      const int64_t rest = atom.extent / part;
      append(out[i], columns_atom(part, atom.step * rest));
      left.push_back(columns_atom(rest, atom.step));
      std::fill(wanted.begin(), wanted.end(), 1);
    }
  }
  // Batch or token parts of extent 1 may be left.
  if (!left.empty()) return std::nullopt;
  if (place != rank) out[place] = {kBatchAtom};
  // A batch of 1 may belong to any axis; keep it out of the axis of columns.
  if (one && rank > 1 && out.back().size() > 1 && out.back().front() == kBatchAtom) {
    out.back().erase(out.back().begin());
    out[rank - 2].push_back(kBatchAtom);
  }
  return out;
}

}  // namespace bantam::convert::onnx
