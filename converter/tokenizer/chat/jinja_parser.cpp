// Parses text to the tree of jinja.h.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <utility>

#include "tokenizer/chat/jinja.h"

namespace bantam::convert::jinja {
namespace {

using Part = std::unique_ptr<Node>;

constexpr int kMostNested = 60, kMostLinks = 400;

Part make(NodeKind kind, std::string text = {}, std::vector<Part> parts = {}) {
  auto node = std::make_unique<Node>();
  node->kind = kind;
  node->text = std::move(text);
  node->parts = std::move(parts);
  return node;
}
template <typename... Parts>
std::vector<Part> list(Parts... parts) {
  std::vector<Part> all;
  (all.push_back(std::move(parts)), ...);
  return all;
}

/// Text, or the content of {{ }} or {% %}.
struct Piece {
  enum class Kind { kText, kOutput, kStatement } kind;
  std::string text;
};

bool is_white_space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f' || c == '\v'; }

/// Position of the mark `end` ("%}", "}}") outside strings.
size_t find_end(std::string_view text, size_t from, std::string_view end) {
  char quote = 0;
  for (size_t i = from; i < text.size(); ++i) {
    if (quote != 0) {
      if (text[i] == '\\')
        ++i;
      else if (text[i] == quote)
        quote = 0;
    } else if (text.substr(i, 2) == end) {
      return i;
    } else if (text[i] == '"' || text[i] == '\'') {
      quote = text[i];
    }
  }
  throw Problem("a tag has no end");
}

std::vector<Piece> cut(std::string_view text) {
  std::vector<Piece> pieces;
  const auto strip_end = [&] {
    if (pieces.empty() || pieces.back().kind != Piece::Kind::kText) return;
    std::string& before = pieces.back().text;
    while (!before.empty() && is_white_space(before.back())) before.pop_back();
  };
  // Strip spaces before a block that is alone on its line.
  const auto strip_line = [&] {
    if (pieces.empty() || pieces.back().kind != Piece::Kind::kText) return;
    std::string& before = pieces.back().text;
    const size_t blank = before.find_last_not_of(" \t");
    const bool begins = blank == std::string::npos ? pieces.size() == 1 : before[blank] == '\n';
    if (begins) before.resize(blank == std::string::npos ? 0 : blank + 1);
  };
  bool strip_next = false;
  for (size_t at = 0; at < text.size();) {
    size_t open = at;
    while (open + 1 < text.size() &&
           !(text[open] == '{' && (text[open + 1] == '{' || text[open + 1] == '%' || text[open + 1] == '#'))) {
      ++open;
    }
    if (open + 1 >= text.size()) open = text.size();
    std::string plain(text.substr(at, open - at));
    if (strip_next) plain.erase(0, std::min(plain.find_first_not_of(" \t\n\r\f\v"), plain.size()));
    strip_next = false;
    pieces.push_back({Piece::Kind::kText, std::move(plain)});
    if (open == text.size()) break;
    const char mark = text[open + 1];
    const std::string_view end = mark == '{' ? "}}" : mark == '%' ? "%}" : "#}";
    size_t close = mark == '#' ? text.find(end, open + 2) : find_end(text, open + 2, end);
    if (close == std::string_view::npos) throw Problem("a comment has no end");
    std::string_view inside = text.substr(open + 2, close - open - 2);
    const bool strip_before = !inside.empty() && inside.front() == '-';
    if (strip_before) {
      strip_end();
    } else if (mark != '{' && (inside.empty() || inside.front() != '+')) {
      strip_line();
    }
    if (!inside.empty() && (inside.front() == '-' || inside.front() == '+')) inside.remove_prefix(1);
    if (!inside.empty() && inside.back() == '-') {
      strip_next = true;
      inside.remove_suffix(1);
    }
    at = close + 2;
    if (mark != '{' && !strip_next && at < text.size() && text[at] == '\n') ++at;
    if (mark != '#')
      pieces.push_back({mark == '{' ? Piece::Kind::kOutput : Piece::Kind::kStatement, std::string(inside)});
  }
  return pieces;
}

struct Word {
  enum class Kind { kName, kNumber, kString, kSign, kEnd } kind = Kind::kEnd;
  std::string text;
};

std::vector<Word> words(std::string_view text) {
  std::vector<Word> all;
  const auto letter = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; };
  for (size_t i = 0; i < text.size();) {
    const char c = text[i];
    size_t end = i + 1;
    if (is_white_space(c)) {
      i = end;
      continue;
    }
    if (c == '"' || c == '\'') {
      std::string value;
      for (; end < text.size() && text[end] != c; ++end) {
        if (text[end] != '\\' || end + 1 == text.size()) {
          value += text[end];
          continue;
        }
        ++end;
        value += text[end] == 'n' ? '\n' : text[end] == 't' ? '\t' : text[end] == 'r' ? '\r' : text[end];
      }
      if (end == text.size()) throw Problem("a string has no end");
      all.push_back({Word::Kind::kString, std::move(value)});
      i = end + 1;
      continue;
    }
    Word::Kind kind = Word::Kind::kSign;
    if (letter(c)) {
      const bool digits = std::isdigit(static_cast<unsigned char>(c)) != 0;
      kind = digits ? Word::Kind::kNumber : Word::Kind::kName;
      while (end < text.size() && letter(text[end])) ++end;
      // A fraction: a digit follows the point.
      if (digits && end + 1 < text.size() && text[end] == '.' &&
          std::isdigit(static_cast<unsigned char>(text[end + 1]))) {
        for (++end; end < text.size() && letter(text[end]);) ++end;
      }
    } else {
      constexpr std::array<std::string_view, 6> kTwo = {"==", "!=", "<=", ">=", "//", "**"};
      if (std::find(kTwo.begin(), kTwo.end(), text.substr(i, 2)) != kTwo.end()) ++end;
    }
    all.push_back({kind, std::string(text.substr(i, end - i))});
    i = end;
  }
  all.emplace_back();
  return all;
}

/// The expressions of one tag.
class Expressions {
 public:
  explicit Expressions(std::string_view text) : words_(words(text)) {}

  bool at_end() const { return word().kind == Word::Kind::kEnd; }
  bool is(std::string_view text) const { return word().kind != Word::Kind::kString && word().text == text; }
  bool take(std::string_view text) {
    if (!is(text)) return false;
    ++at_;
    return true;
  }
  void expect(std::string_view text) {
    if (!take(text)) throw Problem(fmt::format("\"{}\" is missing before \"{}\"", text, word().text));
  }
  void expect_end() const {
    if (!at_end()) throw Problem(fmt::format("\"{}\" is not expected", word().text));
  }
  std::string name() {
    if (word().kind != Word::Kind::kName) throw Problem(fmt::format("\"{}\" is not a name", word().text));
    return words_[at_++].text;
  }

  Part expression() {
    const Depth depth(this);
    Part then = either();
    if (!take("if")) return then;
    Part condition = either(), otherwise;
    if (take("else")) otherwise = expression();
    return make(NodeKind::kChoice, "", list(std::move(condition), std::move(then), std::move(otherwise)));
  }
  /// An expression without "if", which would end the list of a loop.
  Part either() {
    Part left = both();
    while (take("or")) left = binary("or", std::move(left), both());
    return left;
  }

 private:
  struct Depth {
    explicit Depth(Expressions* of) : of_(of) {
      if (++of_->depth_ > kMostNested) throw Problem("it is nested too deeply");
    }
    ~Depth() { --of_->depth_; }
    Expressions* of_;
  };

  const Word& word() const { return words_[at_]; }
  /// Counts a link in a chain of left operands, because rendering recurses as deep as the chain is long.
  void link() {
    if (++links_ > kMostLinks) throw Problem("an expression is too long");
  }
  Part binary(const char* sign, Part left, Part right) {
    link();
    return make(NodeKind::kBinary, sign, list(std::move(left), std::move(right)));
  }

  Part both() {
    Part left = negation();
    while (take("and")) left = binary("and", std::move(left), negation());
    return left;
  }
  Part negation() {
    const Depth depth(this);
    return take("not") ? make(NodeKind::kUnary, "not", list(negation())) : comparison();
  }
  Part comparison() {
    Part left = texts();
    for (;;) {
      bool found = false;
      for (const char* sign : {"==", "!=", "<=", ">=", "<", ">", "in"}) {
        if (!take(sign)) continue;
        left = binary(sign, std::move(left), texts());
        found = true;
        break;
      }
      if (found) continue;
      if (is("not") && words_[at_ + 1].text == "in") {
        at_ += 2;
        left = make(NodeKind::kUnary, "not", list(binary("in", std::move(left), texts())));
        continue;
      }
      return left;
    }
  }
  Part texts() {
    Part left = sum();
    while (take("~")) left = binary("~", std::move(left), sum());
    return left;
  }
  Part sum() {
    Part left = product();
    for (;;) {
      const char* sign = is("+") ? "+" : is("-") ? "-" : nullptr;
      if (sign == nullptr) return left;
      ++at_;
      left = binary(sign, std::move(left), product());
    }
  }
  Part product() {
    Part left = sign();
    for (;;) {
      const char* by = is("*") ? "*" : is("//") ? "//" : is("/") ? "/" : is("%") ? "%" : nullptr;
      if (by == nullptr) return left;
      ++at_;
      left = binary(by, std::move(left), sign());
    }
  }
  Part sign() {
    const Depth depth(this);
    return take("-") ? make(NodeKind::kUnary, "-", list(sign())) : tested();
  }
  Part tested() {
    Part left = filtered();
    while (take("is")) {
      link();
      const bool negated = take("not");
      Part test = make(NodeKind::kTest, name(), list(std::move(left)));
      if (take("(")) arguments(test.get());
      left = negated ? make(NodeKind::kUnary, "not", list(std::move(test))) : std::move(test);
    }
    return left;
  }
  Part filtered() {
    Part left = reached();
    while (take("|")) {
      Part filter = make(NodeKind::kFilter, name(), list(std::move(left)));
      if (take("(")) arguments(filter.get());
      left = further(std::move(filter));
    }
    return left;
  }
  Part reached() { return further(primary()); }
  Part further(Part left) {
    for (;;) {
      link();
      if (take(".")) {
        left = make(NodeKind::kAttribute, name(), list(std::move(left)));
      } else if (take("(")) {
        left = make(NodeKind::kCall, "", list(std::move(left)));
        arguments(left.get());
      } else if (take("[")) {
        Part from = is(":") ? nullptr : expression();
        if (take("]")) {
          left = make(NodeKind::kItem, "", list(std::move(left), std::move(from)));
          continue;
        }
        expect(":");
        Part to = is("]") || is(":") ? nullptr : expression();
        Part step;
        if (take(":") && !is("]")) step = expression();
        expect("]");
        left = make(NodeKind::kSlice, "", list(std::move(left), std::move(from), std::move(to), std::move(step)));
      } else {
        return left;
      }
    }
  }
  void arguments(Node* call) {
    while (!take(")")) {
      const bool named = word().kind == Word::Kind::kName && words_[at_ + 1].text == "=";
      call->names.push_back(named ? name() : "");
      if (named) expect("=");
      call->parts.push_back(expression());
      if (!is(")")) expect(",");
    }
  }
  Part primary() {
    const Depth depth(this);
    const Word& first = word();
    if (first.kind == Word::Kind::kEnd) throw Problem("an expression has no end");
    if (first.kind == Word::Kind::kString || first.kind == Word::Kind::kNumber) return literal();
    if (take("(")) {
      Part inside = expression();
      if (is(",")) throw Problem("tuples are not known");
      expect(")");
      return inside;
    }
    if (take("[")) {
      Part all = make(NodeKind::kList);
      while (!take("]")) {
        all->parts.push_back(expression());
        if (!is("]")) expect(",");
      }
      return all;
    }
    if (take("{")) {
      Part all = make(NodeKind::kDict);
      while (!take("}")) {
        all->parts.push_back(expression());
        expect(":");
        all->parts.push_back(expression());
        if (!is("}")) expect(",");
      }
      return all;
    }
    const std::string word = name();
    const std::pair<std::string_view, Json> constants[] = {{"true", true},   {"True", true},    {"false", false},
                                                           {"False", false}, {"none", nullptr}, {"None", nullptr}};
    for (const auto& [text, value] : constants) {
      if (word != text) continue;
      Part node = make(NodeKind::kLiteral);
      node->value = value;
      return node;
    }
    return make(NodeKind::kName, word);
  }
  /// Adjacent strings are concatenated.
  Part literal() {
    Part node = make(NodeKind::kLiteral);
    if (word().kind == Word::Kind::kNumber) {
      const std::string text = words_[at_++].text;
      const Json value = Json::parse(text, nullptr, false);
      if (!value.is_number()) throw Problem(fmt::format("\"{}\" is not a number", text));
      node->value = value;
      return node;
    }
    std::string text;
    while (word().kind == Word::Kind::kString) text += words_[at_++].text;
    node->value = text;
    return node;
  }

  std::vector<Word> words_;
  size_t at_ = 0;
  int depth_ = 0, links_ = 0;
};

class Parser {
 public:
  explicit Parser(std::string_view text) : pieces_(cut(text)) {}

  Part run() {
    Part all = block({});
    if (at_ < pieces_.size()) throw Problem("a block ends that none has begun");
    return all;
  }

 private:
  /// Parses up to a statement that begins with one of `ends`, which is left to the caller.
  Part block(const std::vector<std::string_view>& ends) {
    if (++depth_ > kMostNested) throw Problem("it is nested too deeply");
    Part all = make(NodeKind::kBlock);
    for (; at_ < pieces_.size(); ++at_) {
      const Piece& piece = pieces_[at_];
      if (piece.kind == Piece::Kind::kText) {
        if (!piece.text.empty()) all->parts.push_back(make(NodeKind::kText, piece.text));
        continue;
      }
      Expressions words(piece.text);
      if (piece.kind == Piece::Kind::kOutput) {
        all->parts.push_back(make(NodeKind::kOutput, "", list(words.expression())));
        words.expect_end();
        continue;
      }
      const std::string word = words.name();
      if (std::find(ends.begin(), ends.end(), word) != ends.end()) {
        --depth_;
        return all;
      }
      if (word == "generation" || word == "endgeneration") continue;
      all->parts.push_back(statement(word, &words));
    }
    if (!ends.empty()) throw Problem(fmt::format("\"{}\" is missing", ends.back()));
    --depth_;
    return all;
  }

  /// Returns the first word of the statement that ended a block; `words` holds the rest.
  std::string ended(Expressions* words) {
    *words = Expressions(pieces_[at_].text);
    return words->name();
  }

  Part statement(const std::string& word, Expressions* words) {
    if (word == "if") return choice(words);
    if (word == "for") return loop(words);
    if (word == "set") return assignment(words);
    throw Problem(fmt::format("the statement \"{}\" is not known", word));
  }

  Part choice(Expressions* words) {
    if (++choices_ > kMostLinks) throw Problem("it has too many choices");
    Part condition = words->expression();
    words->expect_end();
    ++at_;
    Part then = block({"elif", "else", "endif"}), otherwise;
    Expressions next("");
    const std::string word = ended(&next);
    if (word == "elif") {
      otherwise = choice(&next);
      return make(NodeKind::kIf, "", list(std::move(condition), std::move(then), std::move(otherwise)));
    }
    if (word == "else") {
      ++at_;
      otherwise = block({"endif"});
    }
    return make(NodeKind::kIf, "", list(std::move(condition), std::move(then), std::move(otherwise)));
  }

  Part loop(Expressions* words) {
    std::string names = words->name();
    if (words->take(",")) names += "," + words->name();
    words->expect("in");
    Part all = words->either(), condition;
    if (words->take("if")) condition = words->expression();
    words->expect_end();
    ++at_;
    Part body = block({"else", "endfor"}), otherwise;
    Expressions next("");
    if (ended(&next) == "else") {
      ++at_;
      otherwise = block({"endfor"});
    }
    return make(NodeKind::kFor, names,
                list(std::move(all), std::move(body), std::move(otherwise), std::move(condition)));
  }

  Part assignment(Expressions* words) {
    std::string name = words->name();
    if (words->take(".")) name += "." + words->name();
    if (words->take("=")) {
      Part value = words->expression();
      words->expect_end();
      return make(NodeKind::kSet, name, list(std::move(value)));
    }
    words->expect_end();
    ++at_;
    return make(NodeKind::kSet, name, list(block({"endset"})));
  }

  std::vector<Piece> pieces_;
  size_t at_ = 0;
  int depth_ = 0, choices_ = 0;
};

}  // namespace

std::unique_ptr<Node> parse(std::string_view text) { return Parser(text).run(); }

}  // namespace bantam::convert::jinja
