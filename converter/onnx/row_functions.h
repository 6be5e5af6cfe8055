// RowFunctions: functions of a row that a file computes with many small operators (a GELU of five nodes, a norm of
// nine). They are kept as expressions until another operator reads them, and then recognized by their results for some
// rows.
#ifndef BANTAM_CONVERTER_ONNX_ROW_FUNCTIONS_H_
#define BANTAM_CONVERTER_ONNX_ROW_FUNCTIONS_H_

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "bantam_generated.h"

namespace bantam::convert::onnx {

/// One step that maps a row to a row.
struct Stage {
  enum class Kind : uint8_t { kActivation, kNorm, kAffine, kUnit } kind = Kind::kAffine;
  fb::ActivationKind activation = fb::ActivationKind::none;
  fb::NormKind norm = fb::NormKind::none;
  double epsilon = 0;
  std::vector<float> gamma, beta;     // empty: 1 and 0
  std::string gamma_name, beta_name;  // names of the tensors, if they have any
  /// A norm over each group of this many columns, which all use the same `group` factors; 0: over all columns.
  uint32_t group = 0;
};

class RowFunctions {
 public:
  /// The rows of a block with `columns` columns.
  int32_t rows(int32_t block, size_t columns);
  int32_t scalar(double value);
  /// One number per column; with `group`, one per column of a group, the same for all groups (0: no groups).
  int32_t vector(std::vector<double> values, std::string name, size_t group = 0);
  /// Applies an ONNX operator to one or two terms. Reductions run over all columns, or over each group of `group`
  /// columns.
  int32_t apply(const std::string& op, int32_t a, int32_t b = -1, size_t group = 0);

  /// The block that the term is computed from; -1: the term is constant.
  int32_t base(int32_t term) const { return terms_[at(term)].base; }
  bool is_rows(int32_t term) const { return is(term, "rows"); }
  bool is(int32_t term, const char* op) const { return terms_[at(term)].op == op; }
  bool is_constant(int32_t term) const { return terms_[at(term)].base == -1; }
  bool reduced(int32_t term) const { return terms_[at(term)].reduced; }
  /// Returns the term before the constant factors that are applied last, and their product in `factor`.
  int32_t without_factor(int32_t term, double* factor) const;

  /// Returns the steps that compute the term from its base's rows; nullopt if it is not a known function.
  std::optional<std::vector<Stage>> recognise(int32_t term) const;

 private:
  struct Term {
    std::string op;
    int32_t a = -1, b = -1, base = -1;
    size_t columns = 0;
    double value = 0;
    std::vector<double> values;
    std::string name;
    bool reduced = false;
    size_t group = 0;  // of a vector or a reduction
  };
  using Row = std::vector<double>;

  static size_t at(int32_t term) { return static_cast<size_t>(term); }
  std::vector<int32_t> between(int32_t from, int32_t to) const;
  std::optional<size_t> columns_between(int32_t from, int32_t to, const std::vector<int32_t>& terms) const;
  Row run(int32_t from, int32_t to, const Row& x) const;
  std::optional<std::vector<Stage>> stages(int32_t from, int32_t to, std::set<int32_t>* dead) const;
  std::optional<Stage> direct(int32_t from, int32_t to) const;
  std::optional<Stage> affine(int32_t from, int32_t to, const std::vector<int32_t>& terms, size_t columns) const;
  std::optional<Stage> activation(int32_t from, int32_t to) const;
  std::optional<Stage> norm(int32_t from, int32_t to, const std::vector<int32_t>& terms, size_t columns) const;
  bool passes(int32_t from, int32_t to, int32_t by) const;

  std::vector<Term> terms_;
};

}  // namespace bantam::convert::onnx

#endif  // BANTAM_CONVERTER_ONNX_ROW_FUNCTIONS_H_
