#include "firmware/conditions.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <iterator>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/strings.h"
#include "linked.h"
#include "model/task_traits.h"

namespace bantam::firmware {
namespace {

using convert::starts_with;

namespace links = linked::links;

constexpr struct {
  std::string_view name;
  uint32_t part;
} kPartNames[] = {
    {"Labels", kLabelsPart},   {"Words", kWordsPart},         {"Span", kSpanPart},
    {"Masks", kMasksPart},     {"Vector", kVectorPart},       {"Choice", kChoicePart},
    {"Follows", kFollowsPart}, {"NextWords", kNextWordsPart}, {"TokenVectors", kTokenVectorsPart},
    {"Found", kFoundPart},     {"Terms", kTermsPart},
};

[[noreturn]] void fail_unknown(std::string_view name) {
  throw convert::Error(convert::ExitCode::kInternal, fmt::format("BANTAM_IF_LINKED({}): nothing is called that", name));
}

/// Returns true if the operator computes with integers (static quantization).
bool is_static_row(uint32_t row) {
  constexpr linked::Numerics kNumerics[] = {
#define BANTAM_OP(name, kind, numerics, ...) linked::Numerics::numerics,
#include "ops/ops.inc"
#undef BANTAM_OP
  };
  return kNumerics[row] == linked::static_int;
}

/// Returns the bit of a kernel's name in kernels.inc; 0 if there is none.
uint64_t kernel_of(std::string_view name) {
#define BANTAM_KERNEL(own, Args) \
  if (name == #own) return linked::Kernels::own;
#include "kernels/kernels.inc"
#undef BANTAM_KERNEL
  return 0;
}

/// Splits a condition into words and signs.
std::vector<std::string_view> words_of(std::string_view condition) {
  std::vector<std::string_view> words;
  const auto in_name = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; };
  for (size_t at = 0; at < condition.size();) {
    size_t size = 1;
    if (condition.substr(at, 2) == "//") break;
    if (in_name(condition[at])) {
      while (at + size < condition.size() && in_name(condition[at + size])) ++size;
    } else if (condition.substr(at, 2) == "&&" || condition.substr(at, 2) == "||") {
      size = 2;
    }
    constexpr std::string_view kBetween = " \t\r\n\\";  // a condition may span several lines
    if (kBetween.find(condition[at]) == std::string_view::npos) words.push_back(condition.substr(at, size));
    at += size;
  }
  return words;
}

/// Three values: true, false, and nothing if the condition depends on something else.
using Truth = std::optional<bool>;

Truth both(Truth a, Truth b) {
  if (a == false || b == false) return false;
  return a == true && b == true ? Truth(true) : std::nullopt;
}
Truth either(Truth a, Truth b) {
  if (a == true || b == true) return true;
  return a == false && b == false ? Truth(false) : std::nullopt;
}

/// Evaluates a condition. If any part of it is not understood, the result is nothing.
class ConditionReader {
 public:
  ConditionReader(const Conditions& conditions, std::string_view condition)
      : conditions_(conditions), words_(words_of(condition)) {}

  Truth read() {
    const Truth value = read_or();
    return understood_ && at_ == words_.size() ? value : std::nullopt;
  }

 private:
  std::string_view next() { return at_ < words_.size() ? words_[at_++] : std::string_view{}; }
  bool take(std::string_view word) {
    if (at_ == words_.size() || words_[at_] != word) return false;
    ++at_;
    return true;
  }
  void expect(std::string_view word) { understood_ = take(word) && understood_; }

  Truth read_or() {
    Truth value = read_and();
    while (take("||")) value = either(value, read_and());
    return value;
  }
  Truth read_and() {
    Truth value = read_one();
    while (take("&&")) value = both(value, read_one());
    return value;
  }
  Truth read_one() {
    if (take("!")) {
      const Truth value = read_one();
      return value.has_value() ? Truth(!*value) : std::nullopt;
    }
    if (take("(")) {
      const Truth value = read_or();
      expect(")");
      return value;
    }
    const std::string_view word = next();
    if (word == "BANTAM_IF_LINKED") return read_links();
    if (word == "defined") return read_defined();
    if (word == "BANTAM_LINK_HOST") return false;
    understood_ = false;
    return std::nullopt;
  }
  Truth read_links() {
    expect("(");
    const std::string_view name = next();
    expect(")");
    return understood_ ? Truth(conditions_.links(name)) : std::nullopt;
  }
  Truth read_defined() {
    expect("(");
    const std::string_view name = next();
    expect(")");
    return conditions_.defines(name);
  }

  const Conditions& conditions_;
  std::vector<std::string_view> words_;
  size_t at_ = 0;
  bool understood_ = true;
};

/// Returns the end of the line at `at`; for a directive that backslashes continue, the end of its last line.
size_t end_of_line(std::string_view text, size_t at) {
  const size_t first = text.find_first_not_of(" \t", at);
  const bool directive = first != std::string_view::npos && text[first] == '#';
  size_t end = std::min(text.find('\n', at), text.size());
  while (directive && end < text.size() && end > at && text[end - 1] == '\\') {
    end = std::min(text.find('\n', end + 1), text.size());
  }
  return end;
}

/// Returns "if", "ifdef", "ifndef", "elif", "else" or "endif" and the rest of the line; empty for other lines.
std::pair<std::string_view, std::string_view> directive_of(std::string_view line) {
  const auto skip = [](std::string_view text) {
    const size_t at = text.find_first_not_of(" \t");
    return at == std::string_view::npos ? std::string_view{} : text.substr(at);
  };
  line = skip(line);
  if (line.empty() || line[0] != '#') return {};
  line = skip(line.substr(1));
  size_t size = 0;
  while (size < line.size() && line[size] >= 'a' && line[size] <= 'z') ++size;
  const std::string_view word = line.substr(0, size);
  for (const std::string_view known : {"if", "ifdef", "ifndef", "elif", "else", "endif"}) {
    if (word == known) return {word, line.substr(size)};
  }
  return {};
}

/// An #if that has not ended. kOther: it depends on something else, and its directives stay.
struct OpenGroup {
  enum class Form { kOther, kHolds, kDoesNot, kOutside } form;
  bool outside;  // the surrounding lines are kept
};

}  // namespace

bool Conditions::links(std::string_view name) const {
  const auto any_op = [this](const auto& is_asked) {
    for (uint32_t row = 0; row < linked::kOps; ++row) {
      if (linked_.needs_op(row) && is_asked(row)) return true;
    }
    return false;
  };
  if (name == "Static") return any_op(is_static_row);
  if (name == "normalizer_any") {
    for (uint32_t i = 1; i < links::size_of(links::normalizer_all); ++i) {
      if (linked_.needs(links::of(links::normalizer_all, i))) return true;
    }
    return false;
  }
  if (starts_with(name, "kernel_")) {
    const uint64_t kernel = kernel_of(name.substr(std::string_view("kernel_").size()));
    if (kernel == 0) fail_unknown(name);
    return any_op([kernel](uint32_t row) { return (linked::Kernels::of(row) & kernel) != 0; });
  }
  if (starts_with(name, "part_")) {
    const auto* part = std::find_if(std::begin(kPartNames), std::end(kPartNames), [&](const auto& p) {
      return p.name == name.substr(std::string_view("part_").size());
    });
    if (part == std::end(kPartNames)) fail_unknown(name);
    for (uint32_t task = 0; task < links::size_of(links::task_all); ++task) {
      const bool has_part = (traits(static_cast<TaskKind>(task)).parts & part->part) != 0;
      if (has_part && linked_.needs(links::of(links::task_all, task))) return true;
    }
    return false;
  }
#define BANTAM_LINK_MASK(mask, Code, Kernel) \
  if (name == #Code && linked_.needs(links::mask_##mask)) return true;
#include "links.inc"
  const std::optional<linked::Link> link = link_named(name);
  if (!link) fail_unknown(name);
  return linked_.needs(*link);
}

std::optional<bool> Conditions::defines(std::string_view macro) const {
  if (macro == "BANTAM_FIRMWARE" || (macro == "BANTAM_KERNEL_ONE_LANE" && one_lane_)) return true;
  // Only hosts have these kernels, whose tables share functions.
  if (macro == "BANTAM_KERNEL_BASE" || macro == "BANTAM_KERNEL_IS_BASE") return false;
  return std::nullopt;
}

std::optional<bool> Conditions::evaluate(std::string_view condition) const {
  return ConditionReader(*this, condition).read();
}

std::string Conditions::resolve(std::string_view text) const {
  std::string kept;
  std::vector<OpenGroup> groups;
  bool keeps = true;
  bool after_blank = false;
  const auto put = [&](std::string_view line) {
    const bool blank = line.find_first_not_of(" \t\r") == std::string_view::npos;
    if (!blank || !after_blank) kept.append(line).append("\n");
    after_blank = blank;
  };
  for (size_t at = 0; at < text.size();) {
    const std::string_view line = text.substr(at, end_of_line(text, at) - at);
    at += line.size() + 1;
    const auto [word, rest] = directive_of(line);
    if (word.empty()) {
      if (keeps) put(line);
      continue;
    }
    if (starts_with(word, "if")) {
      if (!keeps) {
        groups.push_back({OpenGroup::Form::kOutside, false});
        continue;
      }
      const Truth holds = word == "if" ? evaluate(rest) : std::nullopt;
      groups.push_back({!holds   ? OpenGroup::Form::kOther
                        : *holds ? OpenGroup::Form::kHolds
                                 : OpenGroup::Form::kDoesNot,
                        true});
      if (holds) {
        keeps = *holds;
      } else {
        put(line);
      }
      continue;
    }
    if (groups.empty()) throw convert::Error(convert::ExitCode::kInternal, fmt::format("{}: without its #if", line));
    OpenGroup& group = groups.back();
    if (word == "endif") {
      if (group.form == OpenGroup::Form::kOther) put(line);
      keeps = group.outside;
      groups.pop_back();
    } else if (group.form == OpenGroup::Form::kOther) {
      put(line);
    } else if (group.form == OpenGroup::Form::kHolds) {
      keeps = false;
    } else if (group.form == OpenGroup::Form::kDoesNot) {
      const Truth holds = word == "else" ? Truth(true) : evaluate(rest);
      group.form = !holds ? OpenGroup::Form::kOther : *holds ? OpenGroup::Form::kHolds : OpenGroup::Form::kDoesNot;
      keeps = group.form != OpenGroup::Form::kDoesNot;
      if (!holds) put(fmt::format("#if{}", rest));
    }
  }
  return kept;
}

}  // namespace bantam::firmware
