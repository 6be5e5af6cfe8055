#include "graph/rows.h"

#include <algorithm>
#include <map>
#include <utility>

#include "base/size.h"

namespace bantam::convert {
namespace {

constexpr size_t kBlockValues = size_t{1} << 18;

/// Rows of several constants, one after the other.
class StackedRows : public RowSource {
 public:
  explicit StackedRows(std::vector<Constant> parts) : parts_(std::move(parts)) {
    for (const Constant& part : parts_) {
      if (part.later != nullptr) columns_ = part.later->columns();
    }
    for (const Constant& part : parts_) rows_ += count_values(part) / columns_;
  }
  size_t rows() const override { return rows_; }
  size_t columns() const override { return columns_; }

  void read(size_t first, size_t count, float* out) const override {
    size_t before = 0;
    for (const Constant& part : parts_) {
      const size_t of = count_values(part) / columns_;
      const size_t begin = std::max(first, before), end = std::min(first + count, before + of);
      before += of;
      if (begin >= end) continue;
      float* to = out + (begin - first) * columns_;
      const size_t from = begin - (before - of);
      if (part.later != nullptr) {
        part.later->read(from, end - begin, to);
      } else {
        std::copy_n(part.values.data() + from * columns_, (end - begin) * columns_, to);
      }
    }
  }

 private:
  std::vector<Constant> parts_;
  size_t columns_ = 0, rows_ = 0;
};

}  // namespace

size_t count_values(const Constant& constant) {
  return constant.later == nullptr ? constant.values.size() : constant.later->rows() * constant.later->columns();
}

ConstantRows::ConstantRows(const Constant& constant, size_t columns)
    : constant_(constant), columns_(columns), rows_(columns == 0 ? 0 : count_values(constant) / columns) {}

const float* ConstantRows::row(size_t r) {
  if (constant_.later == nullptr) return constant_.values.data() + r * columns_;
  if (r < first_ || r >= first_ + held_) {
    first_ = r;
    held_ = std::min(rows_ - r, std::max<size_t>(1, kBlockValues / columns_));
    block_.resize(held_ * columns_);
    constant_.later->read(first_, held_, block_.data());
  }
  return block_.data() + (r - first_) * columns_;
}

bool same_values(const Constant& a, const Constant& b) {
  if (a.later == nullptr && b.later == nullptr) return a.values == b.values;
  const size_t columns = (a.later == nullptr ? b : a).later->columns();
  if (count_values(a) != count_values(b)) return false;
  ConstantRows left(a, columns), right(b, columns);
  for (size_t r = 0; r < left.size(); ++r) {
    const float* row = left.row(r);
    if (!std::equal(row, row + columns, right.row(r))) return false;
  }
  return true;
}

std::shared_ptr<const RowSource> stack_rows(std::vector<Constant> parts) {
  return std::make_shared<const StackedRows>(std::move(parts));
}

void copy_values(const Constant& constant, float* out) {
  if (constant.later == nullptr) {
    std::copy(constant.values.begin(), constant.values.end(), out);
  } else {
    constant.later->read(0, constant.later->rows(), out);
  }
}

void hold_values(Constant& constant) {
  if (constant.later == nullptr) return;
  constant.values.resize(in_memory(count_values(constant), sizeof(float)));
  copy_values(constant, constant.values.data());
  constant.later = nullptr;
}

void hold_values(Graph& graph) {
  std::map<const Constant*, std::shared_ptr<Constant>> held;  // a constant that several tensors share stays shared
  for (auto& slot : graph.constants) {
    if (slot == nullptr || slot->later == nullptr) continue;
    std::shared_ptr<Constant>& made = held[slot.get()];
    if (made == nullptr) {
      made = std::make_shared<Constant>(*slot);
      hold_values(*made);
    }
    slot = made;
  }
}

}  // namespace bantam::convert
