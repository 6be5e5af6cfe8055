// Thompson's construction, and a simulation that advances all threads in lockstep:
// https://swtch.com/~rsc/regexp/regexp2.html
#include "base/pattern.h"

#include <algorithm>
#include <utility>

namespace bantam::convert {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_word(char c) { return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }

template <typename Holds>
std::bitset<256> bytes_that(const Holds& holds) {
  std::bitset<256> set;
  for (size_t c = 0; c < 256; ++c) set[c] = holds(static_cast<char>(c));
  return set;
}

size_t index_of(char c) { return static_cast<unsigned char>(c); }

}  // namespace

/// A recursive-descent parser. Jumps are relative, so that code can be moved and repeated.
class PatternParser {
 public:
  using Code = Pattern::Code;
  using Kind = Pattern::Kind;

  PatternParser(std::string_view text, std::vector<Pattern::Set>* sets) : text_(text), sets_(sets) {}

  Code parse() {
    Code code = alternatives(0);
    if (at_ != text_.size()) throw PatternError("has a ) too many");
    append(&code, {{Kind::kMatch}});
    return code;
  }

 private:
  bool more() const { return at_ < text_.size(); }
  bool take(char c) {
    if (!more() || text_[at_] != c) return false;
    ++at_;
    return true;
  }

  static void append(Code* code, const Code& more) {
    if (code->size() + more.size() > Pattern::kMaxInstructions) throw PatternError("repeats too much");
    code->insert(code->end(), more.begin(), more.end());
  }
  static int32_t size_of(const Code& code) { return static_cast<int32_t>(code.size()); }

  Code alternatives(int depth) {  // NOLINT(misc-no-recursion): at most kMaxDepth
    if (depth > Pattern::kMaxDepth) throw PatternError("nests parentheses too deep");
    std::vector<Code> branches{sequence(depth)};
    while (take('|')) branches.push_back(sequence(depth));
    Code code = std::move(branches.back());
    for (size_t i = branches.size() - 1; i-- > 0;) {
      Code joined{{Kind::kSplit, 1, size_of(branches[i]) + 2}};
      append(&joined, branches[i]);
      append(&joined, {{Kind::kJump, size_of(code) + 1}});
      append(&joined, code);
      code = std::move(joined);
    }
    return code;
  }

  Code sequence(int depth) {  // NOLINT(misc-no-recursion)
    Code code;
    while (more() && text_[at_] != '|' && text_[at_] != ')') append(&code, repeated(atom(depth)));
    return code;
  }

  static Code any_number(const Code& piece) {
    Code code{{Kind::kSplit, 1, size_of(piece) + 2}};
    append(&code, piece);
    append(&code, {{Kind::kJump, -size_of(piece) - 1}});
    return code;
  }

  static Code optional(const Code& piece) {
    Code code{{Kind::kSplit, 1, size_of(piece) + 1}};
    append(&code, piece);
    return code;
  }

  Code repeated(const Code& piece) {
    Code code = piece;
    if (take('*')) {
      code = any_number(piece);
    } else if (take('+')) {
      append(&code, any_number(piece));
    } else if (take('?')) {
      code = optional(piece);
    } else if (take('{')) {
      code = counted(piece);
    } else {
      return code;
    }
    take('?');  // lazy quantifiers match the same texts
    if (more() && (text_[at_] == '*' || text_[at_] == '+' || text_[at_] == '?' || text_[at_] == '{')) {
      throw PatternError("repeats a repetition");
    }
    return code;
  }

  size_t number() {
    size_t value = 0;
    if (!more() || !is_digit(text_[at_])) throw PatternError("has a { without a number");
    for (; more() && is_digit(text_[at_]); ++at_) {
      value = std::min(value * 10 + index_of(text_[at_]) - '0', Pattern::kMaxInstructions + 1);
    }
    return value;
  }

  Code counted(const Code& piece) {
    const size_t least = number();
    const bool range = take(',');
    const bool open = range && more() && text_[at_] == '}';
    const size_t most = range && !open ? number() : least;
    if (!take('}') || most < least) throw PatternError("has a { that is not a count");
    if (most > Pattern::kMaxInstructions) throw PatternError("repeats too much");
    Code code;
    for (size_t i = 0; i < least; ++i) append(&code, piece);
    if (open) append(&code, any_number(piece));
    for (size_t i = least; i < most; ++i) append(&code, optional(piece));
    return code;
  }

  Code of_set(const Pattern::Set& set) {
    sets_->push_back(set);
    return {{Kind::kSet, static_cast<int32_t>(sets_->size()) - 1}};
  }

  Code atom(int depth) {  // NOLINT(misc-no-recursion)
    const char c = text_[at_++];
    switch (c) {
      case '(': {
        if (take('?') && !take(':')) throw PatternError("uses look-ahead, which is not supported");
        Code code = alternatives(depth + 1);
        if (!take(')')) throw PatternError("has a ( too many");
        return code;
      }
      case '[':
        return of_set(bracket());
      case '.':
        return of_set(bytes_that([](char b) { return b != '\n' && b != '\r'; }));
      case '^':
        return {{Kind::kBegin}};
      case '$':
        return {{Kind::kEnd}};
      case '*':
      case '+':
      case '?':
      case '{':
        throw PatternError("repeats nothing");
      case '\\':
        if (take('b')) return {{Kind::kEdge}};
        if (take('B')) return {{Kind::kNoEdge}};
        return of_set(escape());
      default:
        return of_set(bytes_that([c](char b) { return b == c; }));
    }
  }

  Pattern::Set escape() {
    if (!more()) throw PatternError("ends in a \\");
    const char c = text_[at_++];
    const auto space = [](char b) { return b == ' ' || (b >= '\t' && b <= '\r'); };
    switch (c) {
      case 'd':
        return bytes_that(is_digit);
      case 'D':
        return ~bytes_that(is_digit);
      case 'w':
        return bytes_that(is_word);
      case 'W':
        return ~bytes_that(is_word);
      case 's':
        return bytes_that(space);
      case 'S':
        return ~bytes_that(space);
      case 't':
        return bytes_that([](char b) { return b == '\t'; });
      case 'n':
        return bytes_that([](char b) { return b == '\n'; });
      default:
        if (is_word(c)) throw PatternError("has a \\ before a letter or digit for which it means nothing here");
        return bytes_that([c](char b) { return b == c; });
    }
  }

  /// Parses one element of [..]; only a single byte can end a range.
  Pattern::Set element(char* byte) {
    *byte = text_[at_++];
    if (*byte == '[' && more() && (text_[at_] == ':' || text_[at_] == '.' || text_[at_] == '=')) {
      throw PatternError("uses a named class, which is not supported");
    }
    if (*byte != '\\') return bytes_that([byte](char b) { return b == *byte; });
    const Pattern::Set set = escape();
    *byte = text_[at_ - 1];
    return set;
  }

  Pattern::Set bracket() {
    Pattern::Set set;
    const bool inverted = take('^');
    while (more() && text_[at_] != ']') {
      char first = 0;
      Pattern::Set one = element(&first);
      const bool range = at_ + 1 < text_.size() && text_[at_] == '-' && text_[at_ + 1] != ']';
      if (range) {
        ++at_;
        char last = 0;
        if (one.count() != 1 || element(&last).count() != 1 || index_of(last) < index_of(first)) {
          throw PatternError("has a [ ] with a range that is none");
        }
        for (size_t c = index_of(first); c <= index_of(last); ++c) one.set(c);
      }
      set |= one;
    }
    if (!take(']')) throw PatternError("has a [ too many");
    return inverted ? ~set : set;
  }

  std::string_view text_;
  std::vector<Pattern::Set>* sets_;
  size_t at_ = 0;
};

/// The set of instructions that are reached before a byte, each once.
class Pattern::Threads {
 public:
  explicit Threads(const Code& code) : code_(&code), seen_(code.size(), 0) {}

  const std::vector<size_t>& list() const { return list_; }
  void clear() {
    list_.clear();
    ++round_;
  }

  /// Adds all instructions that are reachable from `start` without consuming a byte. Returns true if they include the
  /// match.
  bool add(size_t start, bool begin, bool end, bool edge) {
    todo_.push_back(start);
    bool matched = false;
    while (!todo_.empty()) {
      const size_t at = todo_.back();
      todo_.pop_back();
      if (seen_[at] == round_) continue;
      seen_[at] = round_;
      const Instruction& i = (*code_)[at];
      switch (i.kind) {
        case Kind::kSet:
          list_.push_back(at);
          break;
        case Kind::kSplit:
          go(at, i.second);
          go(at, i.first);
          break;
        case Kind::kJump:
          go(at, i.first);
          break;
        case Kind::kBegin:
          if (begin) go(at, 1);
          break;
        case Kind::kEnd:
          if (end) go(at, 1);
          break;
        case Kind::kEdge:
        case Kind::kNoEdge:
          if (edge == (i.kind == Kind::kEdge)) go(at, 1);
          break;
        case Kind::kMatch:
          matched = true;
          break;
      }
    }
    return matched;
  }

 private:
  void go(size_t at, int32_t by) { todo_.push_back(static_cast<size_t>(static_cast<int64_t>(at) + by)); }

  const Code* code_;
  std::vector<size_t> list_;
  std::vector<size_t> todo_;
  std::vector<uint64_t> seen_;
  uint64_t round_ = 1;
};

Pattern::Pattern(std::string_view text) {
  if (text.size() > kMaxBytes) throw PatternError("is longer than 1,000 bytes");
  code_ = PatternParser(text, &sets_).parse();
}

bool Pattern::search(std::string_view name) const {
  Threads now(code_);
  Threads next(code_);
  for (size_t at = 0;; ++at) {
    const bool end = at == name.size();
    const bool edge = (at > 0 && is_word(name[at - 1])) != (!end && is_word(name[at]));
    // A match may begin at each byte.
    if (now.add(0, at == 0, end, edge)) return true;
    if (end) return false;
    next.clear();
    const bool next_end = at + 1 == name.size();
    const bool next_edge = is_word(name[at]) != (!next_end && is_word(name[at + 1]));
    for (const size_t thread : now.list()) {
      if (!sets_[static_cast<size_t>(code_[thread].first)][index_of(name[at])]) continue;
      if (next.add(thread + 1, false, next_end, next_edge)) return true;
    }
    std::swap(now, next);
  }
}

}  // namespace bantam::convert
