// The syntax of split patterns.
#include <fmt/format.h>

#include <stdexcept>

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
    if (more() && (pattern_[at_] == '?' || pattern_[at_] == '+')) fail("a lazy or possessive repetition");
    if (node->kind == Syntax::kNotNext) fail("a repeated (?!");
    Branch repeat = make(Syntax::kRepeat);
    repeat->parts.push_back(std::move(node));
    repeat->least = least;
    repeat->most = most;
    return repeat;
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
    if (skip("(?!")) {
      Branch inside = closed(depth);
      Branch node = make(Syntax::kNotNext);
      const PatternNode* only = inside.get();
      while ((only->kind == Syntax::kAny || only->kind == Syntax::kAll) && only->parts.size() == 1) {
        only = only->parts[0].get();
      }
      if (only->kind != Syntax::kSet) fail("(?!...) of more than one character");
      node->set = only->set;
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
      node->set = bracket();
    } else if (std::string_view("^$.*+?{}()|]").find(pattern_[at_]) != std::string_view::npos) {
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

  CodeSet bracket() {
    CodeSet set;
    const bool others = skip("^");
    bool any = false;
    for (; !any || !skip("]"); any = true) {
      if (!more()) fail("\"[\" without its \"]\"");
      if (pattern_[at_] == '[' || pattern_.compare(at_, 2, "&&") == 0) fail("a class within a class");
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

  /// A literal, or what a backslash stands for.
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
    // What Unicode folds to an ASCII letter: the long s and the Kelvin sign.
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
    CodeSet set;
    if (name == "L") {
      set = CodeSet(matched_by_L());
    } else if (name == "M") {
      set = CodeSet(matched_by_M());
    } else if (name == "N") {
      set = CodeSet(matched_by_N());
    } else if (name == "P") {
      set = CodeSet(matched_by_P());
    } else if (name == "S") {
      set = CodeSet(matched_by_S());
    } else {
      fail(fmt::format("\\p{{{}}}, which is not known,", name.substr(0, 20)));
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

std::unique_ptr<PatternNode> parse_pattern(const std::string& pattern) { return Parser(pattern).parse(); }

}  // namespace bantam::convert
