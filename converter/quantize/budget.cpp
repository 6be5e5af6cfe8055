#include "quantize/budget.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <optional>

#include "base/error.h"
#include "base/readable.h"

namespace bantam::convert {
namespace {

/// A state of the search: the type of every matrix, as an index into its costs (0: f32).
class Search {
 public:
  Search(const Sensitivity& measured, const Budget& budget) : measured_(measured), budget_(budget) {
    for (const MatrixCosts& matrix : measured.matrices) {
      std::vector<TypeCost> options = {TypeCost{}};
      options.insert(options.end(), matrix.types.begin(), matrix.types.end());
      options_.push_back(std::move(options));
      if (matrix.multiplies) products_ += static_cast<double>(matrix.elements);
    }
    state_.assign(options_.size(), 0);
    if (budget.kind == BudgetKind::kLatency) shrink_tables();
  }

  Choice run() {
    while (!done()) {
      const Change best = best_change();
      if (best.gain <= 0) break;
      state_[best.matrix] = best.option;
    }
    Choice choice = describe();
    if (budget_.kind == BudgetKind::kSize && static_cast<double>(choice.file_bytes) > budget_.limit) {
      throw Error(
          ExitCode::kInvalid,
          fmt::format("--budget size={:.0f}: the measured types make no file smaller than {} bytes ({}); ask for more, "
                      "or make the model smaller first (bantam student)",
                      budget_.limit, choice.file_bytes, readable_bytes(choice.file_bytes)));
    }
    if (budget_.kind == BudgetKind::kLatency && choice.latency > budget_.limit) {
      throw Error(ExitCode::kInvalid,
                  fmt::format("--budget latency={}: the measured types are no faster than {:.3f}; ask for "
                              "more, or make the model smaller first (bantam student)",
                              budget_.limit, choice.latency));
    }
    return choice;
  }

 private:
  struct Change {
    size_t matrix = 0, option = 0;
    double gain = 0;  // in the unit of the budget
    double price = 0;
  };

  /// Tables take no time in any type: use int8, as without a budget, if it was measured.
  void shrink_tables() {
    for (size_t m = 0; m < options_.size(); ++m) {
      for (size_t o = 0; o < options_[m].size() && !measured_.matrices[m].multiplies; ++o) {
        if (options_[m][o].type == fb::DType::i8) state_[m] = o;
      }
    }
  }

  double time_of(size_t matrix, size_t option) const {
    const MatrixCosts& costs = measured_.matrices[matrix];
    if (!costs.multiplies || products_ <= 0) return 0;
    return relative_time(options_[matrix][option].type) * static_cast<double>(costs.elements) / products_;
  }

  bool done() const {
    const Choice now = describe();
    if (budget_.kind == BudgetKind::kSize) return static_cast<double>(now.file_bytes) <= budget_.limit;
    return budget_.kind == BudgetKind::kLatency && now.latency <= budget_.limit;
  }

  Change best_change() const {
    const double spent = describe().divergence;
    Change best;
    for (size_t m = 0; m < options_.size(); ++m) {
      for (size_t o = 0; o < options_[m].size(); ++o) {
        const TypeCost &now = options_[m][state_[m]], &next = options_[m][o];
        Change change{m, o, static_cast<double>(next.saved) - static_cast<double>(now.saved), 0};
        if (budget_.kind == BudgetKind::kLatency) change.gain = time_of(m, state_[m]) - time_of(m, o);
        if (change.gain <= 0) continue;
        const double more = std::max(0.0, next.divergence - now.divergence);
        if (budget_.kind == BudgetKind::kLoss && spent + next.divergence - now.divergence > budget_.limit) continue;
        change.price = more / change.gain;
        const bool better =
            best.gain <= 0 || change.price < best.price || (change.price <= best.price && change.gain > best.gain);
        if (better) best = change;
      }
    }
    return best;
  }

  Choice describe() const {
    Choice choice;
    choice.file_bytes = measured_.file_bytes;
    choice.latency = products_ > 0 ? 0 : 1;
    for (size_t m = 0; m < options_.size(); ++m) {
      const TypeCost& cost = options_[m][state_[m]];
      choice.types.push_back(cost.type);
      choice.file_bytes -= std::min(choice.file_bytes, cost.saved);
      choice.divergence += cost.divergence;
      choice.latency += time_of(m, state_[m]);
    }
    return choice;
  }

  const Sensitivity& measured_;
  const Budget& budget_;
  std::vector<std::vector<TypeCost>> options_;
  std::vector<size_t> state_;
  double products_ = 0;
};

}  // namespace

Budget parse_budget(const std::string& text) {
  const size_t equals = text.find('=');
  const std::string kind = text.substr(0, equals);
  const std::string value = equals == std::string::npos ? "" : text.substr(equals + 1);
  Budget budget;
  bool known = false;
  if (kind == "size") {
    const std::optional<uint64_t> bytes = parse_bytes(value);
    known = bytes.has_value();
    budget.limit = static_cast<double>(bytes.value_or(0));
  } else if (kind == "loss" || kind == "latency") {
    budget.kind = kind == "loss" ? BudgetKind::kLoss : BudgetKind::kLatency;
    char* end = nullptr;
    budget.limit = std::strtod(value.c_str(), &end);
    known = !value.empty() && *end == '\0' && budget.limit > 0 && budget.limit < 1e18;
  }
  if (known) return budget;
  throw Error(ExitCode::kUsage,
              fmt::format("--budget {}: expected size=8MB (or kB, GB, and KiB, MiB, GiB for powers of two), loss=0.01 "
                          "(divergence from f32 in nats) or latency=0.4 (share of the time of f32 linear layers)",
                          text));
}

double relative_time(fb::DType type) {
  switch (type) {
    case fb::DType::i8:
      return 0.27;
    case fb::DType::i4:
      return 0.34;
    default:
      return 1;
  }
}

Choice choose_within(const Sensitivity& measured, const Budget& budget) { return Search(measured, budget).run(); }

}  // namespace bantam::convert
