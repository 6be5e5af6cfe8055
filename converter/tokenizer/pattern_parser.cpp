// Parses the syntax of split patterns.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <stdexcept>
#include <string>
#include <utility>

#include "text/utf8.h"
#include "tokenizer/split_pattern.h"

namespace bantam::convert {
namespace {

using Syntax = PatternNode::Kind;
using Branch = std::unique_ptr<PatternNode>;

constexpr size_t kMaxPattern = 4096;
constexpr uint32_t kMaxDepth = 32;
constexpr uint32_t kMaxRepeat = 32;

Branch make(Syntax kind) {
  auto node = std::make_unique<PatternNode>();
  node->kind = kind;
  return node;
}

/// When a part matches the empty text: never, depending on the following text, or always.
enum class Empty { kNever, kSometimes, kSurely };

/// How the rest of a pattern can begin.
struct Beginning {
  CodeSet first;
  Empty empty = Empty::kNever;
};

bool overlap(const CodeSet& a, const CodeSet& b) {
  const auto meets = [&a](const CodeRange& range) {
    return std::any_of(a.ranges().begin(), a.ranges().end(),
                       [&range](const CodeRange& other) { return other.begin < range.end && range.begin < other.end; });
  };
  return std::any_of(b.ranges().begin(), b.ranges().end(), meets);
}

/// The beginning of `part` and, if that may be empty, of what follows it.
Beginning before(const Beginning& part, const Beginning& follow) {
  if (part.empty == Empty::kNever) return part;
  Beginning both = part;
  both.first.add(follow.first);
  both.empty = std::min(part.empty, follow.empty);
  if (part.empty == Empty::kSometimes && follow.empty != Empty::kNever) both.empty = Empty::kSometimes;
  return both;
}

/// Matches as many characters of `repeat`'s set as possible and never fewer: no further one may follow.
Branch as_possessive(Branch repeat) {
  Branch stop = make(Syntax::kNotNext);
  stop->set = repeat->parts[0]->set;
  const bool once = repeat->most != PatternNode::kEndless;
  Branch node = make(once ? Syntax::kAny : Syntax::kAll);
  node->parts.push_back(once ? std::move(repeat->parts[0]) : std::move(repeat));
  node->parts.push_back(std::move(stop));
  return node;
}

/// Replaces possessive repetitions: by greedy ones if giving characters back would never help the rest to match,
/// otherwise by repetitions that no character of the same set may follow. Returns how the node, with what follows it,
/// can begin.
Beginning resolve_possessive(Branch& node, const Beginning& follow) {
  switch (node->kind) {
    case Syntax::kSet:
      return {node->set, Empty::kNever};
    case Syntax::kNext:
    case Syntax::kNotNext:
      return before({{}, Empty::kSometimes}, follow);
    case Syntax::kAll: {
      Beginning rest = follow;
      for (size_t i = node->parts.size(); i-- > 0;) rest = resolve_possessive(node->parts[i], rest);
      return rest;
    }
    case Syntax::kAny: {
      Beginning any;
      for (Branch& part : node->parts) {
        const Beginning one = resolve_possessive(part, follow);
        any.first.add(one.first);
        any.empty = std::max(any.empty, one.empty);
      }
      return any;
    }
    case Syntax::kRepeat:
      break;
  }
  const bool may_lack = node->least == 0;
  if (node->possessive) {
    const CodeSet set = node->parts[0]->set;
    const bool greedy =
        follow.empty == Empty::kSurely || (follow.empty == Empty::kNever && !overlap(follow.first, set));
    if (!greedy) node = as_possessive(std::move(node));
    return before({set, may_lack ? Empty::kSurely : Empty::kNever}, follow);
  }
  CodeSet any;
  any.add(0, kCodePoints);
  // The repetition again, or what follows it.
  Beginning inside = resolve_possessive(node->parts[0], {any, Empty::kSometimes});
  if (may_lack) inside.empty = Empty::kSurely;
  return before(inside, follow);
}

class Parser {
 public:
  explicit Parser(const std::string& pattern) : pattern_(pattern) {}

  Branch parse() {
    if (pattern_.size() > kMaxPattern) throw std::invalid_argument("the pattern is too long");
    Branch node = alternatives(0);
    if (at_ < pattern_.size()) fail("\")\" without its \"(\"");
    return node;
  }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    throw std::invalid_argument(fmt::format("{} at byte {} of the pattern", what, at_));
  }

  bool more() const { return at_ < pattern_.size(); }
  bool skip(const char* text) {
    const std::string_view wanted(text);
    if (pattern_.compare(at_, wanted.size(), wanted) != 0) return false;
    at_ += wanted.size();
    return true;
  }

  Branch alternatives(uint32_t depth) {
    if (depth > kMaxDepth) fail("groups too deep");
    Branch any = make(Syntax::kAny);
    do {
      Branch all = make(Syntax::kAll);
      while (more() && pattern_[at_] != '|' && pattern_[at_] != ')') all->parts.push_back(repeated(depth));
      any->parts.push_back(std::move(all));
    } while (skip("|"));
    return any;
  }

  Branch repeated(uint32_t depth) {
    Branch node = one(depth);
    uint32_t least = 1;
    uint32_t most = 1;
    if (skip("?")) {
      least = 0;
    } else if (skip("*")) {
      least = 0;
      most = PatternNode::kEndless;
    } else if (skip("+")) {
      most = PatternNode::kEndless;
    } else if (skip("{")) {
      least = number();
      most = skip(",") ? (more() && pattern_[at_] == '}' ? PatternNode::kEndless : number()) : least;
      if (!skip("}") || least > most) fail("a repetition that is not {a,b}");
    } else {
      return node;
    }
    if (more() && pattern_[at_] == '?') fail("a lazy repetition");
    if (node->kind == Syntax::kNotNext || node->kind == Syntax::kNext) fail("a repeated (?= or (?!");
    const bool counted = pattern_[at_ - 1] == '}';
    const bool more_of_it = skip("+");
    if (more_of_it && !counted && node->kind != Syntax::kSet)
      fail("a possessive repetition of more than one character");
    Branch repeat = make(Syntax::kRepeat);
    repeat->parts.push_back(std::move(node));
    repeat->least = least;
    repeat->most = most;
    repeat->possessive = more_of_it && !counted;
    if (!more_of_it || !counted) return repeat;
    Branch again = make(Syntax::kRepeat);  // {a,b}+ is a repetition of a repetition
    again->parts.push_back(std::move(repeat));
    again->least = 1;
    return again;
  }

  uint32_t number() {
    uint32_t value = 0;
    const size_t begin = at_;
    for (; more() && pattern_[at_] >= '0' && pattern_[at_] <= '9' && value <= kMaxRepeat; ++at_) {
      value = value * 10 + static_cast<uint32_t>(pattern_[at_] - '0');
    }
    if (at_ == begin || value > kMaxRepeat) fail(fmt::format("a repetition of not 0 to {} times", kMaxRepeat));
    return value;
  }

  Branch one(uint32_t depth) {
    for (const auto& [sign, kind] : {std::pair("(?!", Syntax::kNotNext), std::pair("(?=", Syntax::kNext)}) {
      if (!skip(sign)) continue;
      Branch node = make(kind);
      if (!add_single(*closed(depth), &node->set)) fail(fmt::format("{}...) of more than one character", sign));
      return node;
    }
    if (skip("$")) {  // the end of a line
      Branch node = make(Syntax::kNotNext);
      node->set.add('\n', '\n' + 1);
      node->set.complement();
      return node;
    }
    if (skip("(?i:")) {
      const bool outside = ignore_case_;
      ignore_case_ = true;
      Branch node = closed(depth);
      ignore_case_ = outside;
      return node;
    }
    if (skip("(?:")) return closed(depth);
    if (more() && pattern_[at_] == '(' && pattern_.compare(at_, 2, "(?") != 0) {
      ++at_;
      return closed(depth);
    }
    Branch node = make(Syntax::kSet);
    if (skip("[")) {
      node->set = bracket(depth);
    } else if (skip(".")) {
      node->set.add('\n', '\n' + 1);
      node->set.complement();
    } else if (std::string_view("^*+?{}()|]").find(pattern_[at_]) != std::string_view::npos) {
      fail(fmt::format("\"{}\", which is not known here,", pattern_.substr(at_, 3)));
    } else {
      node->set = item();
    }
    return node;
  }

  Branch closed(uint32_t depth) {
    Branch node = alternatives(depth + 1);
    if (!skip(")")) fail("\"(\" without its \")\"");
    return node;
  }

  /// Adds the code points that the node matches; returns false unless it matches single code points.
  static bool add_single(const PatternNode& node, CodeSet* set) {
    if (node.kind == Syntax::kSet) {
      set->add(node.set);
      return true;
    }
    const bool one = node.kind == Syntax::kAny || (node.kind == Syntax::kAll && node.parts.size() == 1);
    return one && !node.parts.empty() && std::all_of(node.parts.begin(), node.parts.end(), [set](const Branch& part) {
             return add_single(*part, set);
           });
  }

  CodeSet bracket(uint32_t depth) {
    if (depth > kMaxDepth) fail("classes too deep");
    CodeSet set;
    const bool others = skip("^");
    bool any = false;
    for (; !any || !skip("]"); any = true) {
      if (!more()) fail("\"[\" without its \"]\"");
      if (pattern_.compare(at_, 2, "&&") == 0) fail("an intersection of classes");
      if (pattern_.compare(at_, 2, "[:") == 0) fail("a class by its POSIX name");
      if (skip("[")) {
        set.add(bracket(depth + 1));
        continue;
      }
      const CodeSet first = item();
      const bool range = at_ + 1 < pattern_.size() && pattern_[at_] == '-' && pattern_[at_ + 1] != ']';
      if (!range) {
        set.add(first);
        continue;
      }
      ++at_;
      const CodeSet last = item();
      const bool single = first.ranges().size() == 1 && last.ranges().size() == 1;
      if (!single || first.ranges()[0].begin > last.ranges()[0].begin || ignore_case_) fail("a range that is none");
      set.add(first.ranges()[0].begin, last.ranges()[0].end);
    }
    if (others) set.complement();
    return set;
  }

  /// A literal, or an escape sequence.
  CodeSet item() {
    if (!more()) fail("the end");
    if (pattern_[at_] == '\\') {
      ++at_;
      return escaped();
    }
    const auto* bytes = reinterpret_cast<const uint8_t*>(pattern_.data()) + at_;
    const text::CodePoint c = text::decode_utf8(bytes, static_cast<uint32_t>(pattern_.size() - at_));
    at_ += c.size;
    return literal(c.code);
  }

  CodeSet literal(uint32_t code) const {
    CodeSet set;
    set.add(code, code + 1);
    if (!ignore_case_) return set;
    if (code >= 0x80) fail("a letter beyond ASCII in (?i:...)");
    const uint32_t lower = code | 0x20;
    if (lower < 'a' || lower > 'z') return set;
    set.add(lower, lower + 1);
    set.add(lower - 0x20, lower - 0x20 + 1);
    // Unicode case folding maps these to ASCII letters: the long s and the Kelvin sign.
    if (lower == 's') set.add(0x17F, 0x180);
    if (lower == 'k') set.add(0x212A, 0x212B);
    return set;
  }

  CodeSet escaped() {
    if (!more()) fail("a backslash at the end");
    const char c = pattern_[at_++];
    switch (c) {
      case 's':
        return CodeSet(matched_by_blank());
      case 'S': {
        CodeSet set(matched_by_blank());
        set.complement();
        return set;
      }
      case 'w':
      case 'W':
        return either(matched_by_w(), c == 'W');
      case 'd':
      case 'D':
        return either(matched_by_d(), c == 'D');
      case 'r':
        return literal('\r');
      case 'n':
        return literal('\n');
      case 't':
        return literal('\t');
      case 'f':
        return literal('\f');
      case 'v':
        return literal('\v');
      case 'x':
      case 'u':
        return literal(hexadecimal(c));
      case 'p':
      case 'P':
        return property(c == 'P');
      default:
        if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9')) {
          --at_;
          fail(fmt::format("\"\\{}\", which is not known,", c));
        }
        return literal(static_cast<uint8_t>(c));
    }
  }

  /// The digits after \x: two, or any number in braces; after \u: four.
  uint32_t hexadecimal(char kind) {
    const bool braces = kind == 'x' && skip("{");
    const size_t most = braces ? 6 : kind == 'x' ? 2 : 4;
    uint32_t code = 0;
    size_t digits = 0;
    for (; digits < most && more() && std::isxdigit(static_cast<unsigned char>(pattern_[at_])) != 0; ++at_, ++digits) {
      code = code * 16 + static_cast<uint32_t>(std::stoul(pattern_.substr(at_, 1), nullptr, 16));
    }
    if (digits == 0 || (braces ? !skip("}") : digits < most) || code >= kCodePoints) fail("a code point that is none");
    return code;
  }

  static CodeSet either(const std::vector<CodeRange>& ranges, bool others) {
    CodeSet set(ranges);
    if (others) set.complement();
    return set;
  }

  CodeSet property(bool others) {
    const size_t end = pattern_.find('}', at_);
    if (!skip("{") || end == std::string::npos) fail("\\p without {...}");
    std::string name = pattern_.substr(at_, end - at_);
    if (!name.empty() && name[0] == '^') {
      others = !others;
      name.erase(0, 1);
    }
    for (char& c : name) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c + 'a' - 'A') : c;
    const std::vector<CodeRange>* known = name == "l"   ? &matched_by_L()
                                          : name == "m" ? &matched_by_M()
                                          : name == "n" ? &matched_by_N()
                                          : name == "p" ? &matched_by_P()
                                          : name == "s" ? &matched_by_S()
                                                        : matched_by_property(name);
    CodeSet set;
    if (known != nullptr) {
      set = CodeSet(*known);
    } else {
      fail(fmt::format("\\p{{{}}}, which is not known,", pattern_.substr(at_, std::min<size_t>(end - at_, 20))));
    }
    at_ = end + 1;
    if (others) set.complement();
    return set;
  }

  const std::string& pattern_;
  size_t at_ = 0;
  bool ignore_case_ = false;
};

}  // namespace

std::unique_ptr<PatternNode> parse_pattern(const std::string& pattern) {
  Branch node = Parser(pattern).parse();
  resolve_possessive(node, {{}, Empty::kSurely});
  return node;
}

}  // namespace bantam::convert
