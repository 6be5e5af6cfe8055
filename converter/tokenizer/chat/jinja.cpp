#include "tokenizer/chat/jinja.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <functional>
#include <utility>

namespace bantam::convert::jinja {
namespace {

using Values = std::vector<Json>;

constexpr size_t kStepLimit = 100000;
constexpr size_t kMostBytes = 1U << 20, kMostItems = 1U << 12;
constexpr const char* kBlanks = " \t\n\r\f\v";

/// The value of an undefined variable.
Json undefined() { return Json(Json::value_t::discarded); }
bool is_undefined(const Json& value) { return value.is_discarded(); }

bool truth(const Json& value) {
  if (value.is_discarded() || value.is_null()) return false;
  if (value.is_boolean()) return value.get<bool>();
  if (value.is_number()) return value.get<double>() != 0;
  if (value.is_string()) return !value.get_ref<const std::string&>().empty();
  return !value.empty();
}

/// The cost of copying the value, in steps.
size_t weight(const Json& value) {
  if (value.is_string()) return value.get_ref<const std::string&>().size() / 64;
  size_t all = 0;
  if (value.is_structured()) {
    for (const Json& one : value) all += 1 + weight(one);
  }
  return all;
}

/// Formats with the separators of Python's json.dumps.
std::string as_json(const Json& value) {
  std::string text;
  if (value.is_array()) {
    for (const Json& one : value) text += (text.empty() ? "" : ", ") + as_json(one);
    return "[" + text + "]";
  }
  if (value.is_object()) {
    for (const auto& [key, one] : value.items()) {
      text += (text.empty() ? "" : ", ") + Json(key).dump() + ": " + as_json(one);
    }
    return "{" + text + "}";
  }
  return value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string as_text(const Json& value) {
  if (value.is_discarded()) return "";
  if (value.is_null()) return "None";
  if (value.is_boolean()) return value.get<bool>() ? "True" : "False";
  if (value.is_string()) return value.get<std::string>();
  if (value.is_number()) return value.dump();
  throw Problem("a list is printed");
}

std::string stripped(const std::string& text, bool left, bool right, const char* what = kBlanks) {
  const size_t begin = left ? text.find_first_not_of(what) : 0;
  if (begin == std::string::npos) return "";
  const size_t end = right ? text.find_last_not_of(what) : text.size() - 1;
  return end == std::string::npos || text.empty() ? "" : text.substr(begin, end + 1 - begin);
}

Json pieces(const std::string& text, const std::string& by) {
  Json all = Json::array();
  if (by.empty()) throw Problem("a text is split by nothing");
  for (size_t at = 0;;) {
    const size_t found = text.find(by, at);
    all.push_back(text.substr(at, found == std::string::npos ? found : found - at));
    if (found == std::string::npos) return all;
    if (all.size() > kMostItems) throw Problem("it makes too long a list");
    at = found + by.size();
  }
}

std::string replaced(const std::string& text, const std::string& from, const std::string& to) {
  std::string out;
  const Json parts = pieces(text, from);
  if (text.size() + parts.size() * to.size() > kMostBytes) throw Problem("it makes too long a text");
  for (size_t i = 0; i < parts.size(); ++i) out += (i == 0 ? "" : to) + parts[i].get_ref<const std::string&>();
  return out;
}

bool text_begins(const std::string& text, const std::string& with) { return text.compare(0, with.size(), with) == 0; }
bool text_ends(const std::string& text, const std::string& with) {
  return text.size() >= with.size() && text.compare(text.size() - with.size(), with.size(), with) == 0;
}

std::string cased(std::string text, int (*change)(int)) {
  for (char& c : text) {
    if (static_cast<unsigned char>(c) < 0x80) c = static_cast<char>(change(static_cast<unsigned char>(c)));
  }
  return text;
}

class Renderer {
 public:
  explicit Renderer(const Json& variables) { scopes_.push_back(variables); }

  std::string run(const Node& root) {
    block(root);
    return std::move(out_);
  }

 private:
  void step(size_t count = 1) {
    steps_ += count;
    if (steps_ > kStepLimit) throw Problem("it takes too many steps");
  }
  void print(const std::string& text) {
    out_ += text;
    if (out_.size() > kMostBytes) throw Problem("it makes too long a text");
  }

  void block(const Node& node) {
    for (const auto& part : node.parts) execute(*part);
  }

  void execute(const Node& node) {
    step();
    switch (node.kind) {
      case NodeKind::kText:
        return print(node.text);
      case NodeKind::kOutput:
        return print(as_text(value(*node.parts[0])));
      case NodeKind::kBlock:
        return block(node);
      case NodeKind::kIf:
        if (truth(value(*node.parts[0]))) return execute(*node.parts[1]);
        if (node.parts[2] != nullptr) execute(*node.parts[2]);
        return;
      case NodeKind::kFor:
        return loop(node);
      case NodeKind::kSet:
        return assign(node);
      default:
        throw Problem("an expression stands alone");
    }
  }

  void assign(const Node& node) {
    Json made;
    if (node.parts[0]->kind == NodeKind::kBlock) {
      std::string kept = std::exchange(out_, "");
      block(*node.parts[0]);
      made = std::exchange(out_, std::move(kept));
    } else {
      made = value(*node.parts[0]);
    }
    const size_t dot = node.text.find('.');
    if (dot == std::string::npos) {
      scopes_.back()[node.text] = std::move(made);
      return;
    }
    Json* owner = find(node.text.substr(0, dot));
    if (owner == nullptr || !owner->is_object())
      throw Problem(fmt::format("{} is not a namespace", node.text.substr(0, dot)));
    (*owner)[node.text.substr(dot + 1)] = std::move(made);
  }

  void loop(const Node& node) {
    const Json all = value(*node.parts[0]);
    const size_t comma = node.text.find(',');
    Values chosen;
    const auto bind = [&](const Json& item) {
      if (comma == std::string::npos) {
        scopes_.back()[node.text] = item;
      } else {
        if (!item.is_array() || item.size() != 2) throw Problem("a loop over pairs has no pairs");
        scopes_.back()[node.text.substr(0, comma)] = item[0];
        scopes_.back()[node.text.substr(comma + 1)] = item[1];
      }
    };
    if (!all.is_array() && !all.is_object() && !truth(all)) return otherwise(node);
    if (all.is_string()) throw Problem("a loop goes over a text");
    for (const auto& [key, item] : all.items()) {
      const Json& one = all.is_object() ? Json(key) : item;
      step();
      if (node.parts[3] != nullptr) {
        scopes_.push_back(Json::object());
        bind(one);
        const bool taken = truth(value(*node.parts[3]));
        scopes_.pop_back();
        if (!taken) continue;
      }
      chosen.push_back(one);
    }
    if (chosen.empty()) return otherwise(node);
    for (size_t i = 0; i < chosen.size(); ++i) {
      scopes_.push_back(Json::object());
      bind(chosen[i]);
      Json state = {{"index0", i},
                    {"index", i + 1},
                    {"revindex", chosen.size() - i},
                    {"first", i == 0},
                    {"last", i + 1 == chosen.size()},
                    {"length", chosen.size()}};
      if (i > 0) state["previtem"] = chosen[i - 1];
      if (i + 1 < chosen.size()) state["nextitem"] = chosen[i + 1];
      scopes_.back()["loop"] = std::move(state);
      execute(*node.parts[1]);
      scopes_.pop_back();
    }
  }
  void otherwise(const Node& loop) {
    if (loop.parts[2] != nullptr) execute(*loop.parts[2]);
  }

  Json* find(const std::string& name) {
    for (size_t i = scopes_.size(); i-- > 0;) {
      const auto found = scopes_[i].find(name);
      if (found != scopes_[i].end()) return &*found;
    }
    return nullptr;
  }

  Json value(const Node& node) {
    step();
    switch (node.kind) {
      case NodeKind::kLiteral:
        return node.value;
      case NodeKind::kName: {
        const Json* found = find(node.text);
        if (found == nullptr) return undefined();
        step(weight(*found));
        return *found;
      }
      case NodeKind::kList: {
        Json all = Json::array();
        for (const auto& part : node.parts) all.push_back(value(*part));
        return all;
      }
      case NodeKind::kDict: {
        Json all = Json::object();
        for (size_t i = 0; i + 1 < node.parts.size(); i += 2) {
          all[as_text(value(*node.parts[i]))] = value(*node.parts[i + 1]);
        }
        return all;
      }
      case NodeKind::kAttribute:
        return member(value(*node.parts[0]), node.text);
      case NodeKind::kItem:
        return item(value(*node.parts[0]), value(*node.parts[1]));
      case NodeKind::kSlice:
        return slice(node);
      case NodeKind::kCall:
        return call(node);
      case NodeKind::kFilter:
        return filter(node.text, value(*node.parts[0]), arguments(node));
      case NodeKind::kTest:
        return test(node.text, value(*node.parts[0]), arguments(node));
      case NodeKind::kUnary:
        if (node.text == "not") return !truth(value(*node.parts[0]));
        return 0 - whole(value(*node.parts[0]));
      case NodeKind::kBinary:
        return binary(node);
      case NodeKind::kChoice:
        if (truth(value(*node.parts[0]))) return value(*node.parts[1]);
        return node.parts[2] == nullptr ? Json("") : value(*node.parts[2]);
      default:
        throw Problem("a statement stands in an expression");
    }
  }

  /// Evaluates the parts after the first.
  Values arguments(const Node& node) {
    Values all;
    for (size_t i = 1; i < node.parts.size(); ++i) all.push_back(value(*node.parts[i]));
    return all;
  }

  static int64_t whole(const Json& value) {
    if (value.is_boolean()) return value.get<bool>() ? 1 : 0;
    if (!value.is_number_integer()) throw Problem("a whole number is missing");
    return value.get<int64_t>();
  }

  static Json member(const Json& of, const std::string& name) {
    if (is_undefined(of)) throw Problem(fmt::format("what has no value is asked for \"{}\"", name));
    if (!of.is_object() || !of.contains(name)) return undefined();
    return of.at(name);
  }

  static Json item(const Json& of, const Json& index) {
    if (index.is_string()) return member(of, index.get<std::string>());
    if (is_undefined(of)) throw Problem("what has no value is asked for an item");
    const int64_t at = whole(index);
    const auto size = static_cast<int64_t>(of.is_string() ? of.get_ref<const std::string&>().size() : of.size());
    const int64_t place = at < 0 ? at + size : at;
    if ((!of.is_array() && !of.is_string()) || place < 0 || place >= size) return undefined();
    if (of.is_array()) return of.at(static_cast<size_t>(place));
    return std::string(1, of.get_ref<const std::string&>()[static_cast<size_t>(place)]);
  }

  Json slice(const Node& node) {
    Json of = value(*node.parts[0]);
    if (!of.is_array() && !of.is_string()) throw Problem("a slice of something that is not a list");
    const auto size = static_cast<int64_t>(of.is_string() ? of.get_ref<const std::string&>().size() : of.size());
    if (node.parts[3] != nullptr) {
      const bool turned = whole(value(*node.parts[3])) == -1 && node.parts[1] == nullptr && node.parts[2] == nullptr;
      if (!turned || !of.is_array()) throw Problem("slices with steps are not known");
      std::reverse(of.begin(), of.end());
      return of;
    }
    const auto bound = [&](const std::unique_ptr<Node>& part, int64_t otherwise) {
      if (part == nullptr) return otherwise;
      const int64_t at = whole(value(*part));
      return std::clamp<int64_t>(at < 0 ? at + size : at, 0, size);
    };
    const int64_t from = bound(node.parts[1], 0), to = std::max(from, bound(node.parts[2], size));
    if (of.is_string())
      return of.get_ref<const std::string&>().substr(static_cast<size_t>(from), static_cast<size_t>(to - from));
    return Json(of.begin() + static_cast<ptrdiff_t>(from), of.begin() + static_cast<ptrdiff_t>(to));
  }

  static std::string joined(const std::string& a, const std::string& b) {
    if (a.size() + b.size() > kMostBytes) throw Problem("it makes too long a text");
    return a + b;
  }

  Json binary(const Node& node) {
    const std::string& sign = node.text;
    Json a = value(*node.parts[0]);
    if (sign == "and") return truth(a) ? value(*node.parts[1]) : a;
    if (sign == "or") return truth(a) ? a : value(*node.parts[1]);
    const Json b = value(*node.parts[1]);
    const bool known = !is_undefined(a) && !is_undefined(b);
    if (sign == "==") return known ? a == b : is_undefined(a) && is_undefined(b);
    if (sign == "!=") return known ? a != b : is_undefined(a) != is_undefined(b);
    if (sign == "~") return joined(as_text(a), as_text(b));
    if (!known) throw Problem(fmt::format("what has no value stands beside \"{}\"", sign));
    if (sign == "in") {
      if (b.is_object()) return a.is_string() && b.contains(a.get<std::string>());
      if (b.is_string())
        return a.is_string() && b.get_ref<const std::string&>().find(a.get<std::string>()) != std::string::npos;
      return std::find(b.begin(), b.end(), a) != b.end();
    }
    if (sign == "+" && a.is_string() && b.is_string()) return joined(a.get<std::string>(), b.get<std::string>());
    if (sign == "+" && a.is_array() && b.is_array()) {
      if (a.size() + b.size() > kMostItems) throw Problem("it makes too long a list");
      a.insert(a.end(), b.begin(), b.end());
      return a;
    }
    if (sign == "<") return a < b;
    if (sign == ">") return a > b;
    if (sign == "<=") return a <= b;
    if (sign == ">=") return a >= b;
    const int64_t x = whole(a), y = whole(b);
    constexpr int64_t kMost = int64_t{1} << 31;
    if (std::abs(x) > kMost || std::abs(y) > kMost) throw Problem("a number is too large");
    if (sign == "+") return x + y;
    if (sign == "-") return x - y;
    if (sign == "*") return x * y;
    if (y == 0) throw Problem("a division by 0");
    const int64_t rest = ((x % y) + y) % y;
    if (sign == "%") return rest;
    if (sign == "//") return (x - rest) / y;
    throw Problem(fmt::format("\"{}\" is not known", sign));
  }

  Json call(const Node& node) {
    const Node& called = *node.parts[0];
    const Values given = arguments(node);
    if (called.kind == NodeKind::kAttribute) return method(value(*called.parts[0]), called.text, given);
    if (called.kind != NodeKind::kName) throw Problem("a call of what has no name");
    if (called.text == "raise_exception") {
      throw Problem(given.empty() || !given[0].is_string() ? "it refuses this conversation"
                                                           : given[0].get<std::string>());
    }
    if (called.text == "namespace" || called.text == "dict") {
      Json made = Json::object();
      for (size_t i = 0; i < given.size(); ++i) made[node.names[i]] = given[i];
      return made;
    }
    if (called.text == "range" && !given.empty()) {
      const int64_t from = given.size() > 1 ? whole(given[0]) : 0, to = whole(given[given.size() > 1 ? 1 : 0]);
      if (given.size() > 2 || to - from > static_cast<int64_t>(kMostItems)) throw Problem("a range is too long");
      Json all = Json::array();
      for (int64_t i = from; i < to; ++i) all.push_back(i);
      return all;
    }
    throw Problem(fmt::format("the function \"{}\" is not known", called.text));
  }

  static std::string text_of(const Values& given, size_t at, const char* otherwise) {
    if (at >= given.size()) return otherwise;
    if (!given[at].is_string()) throw Problem("a text is missing");
    return given[at].get<std::string>();
  }

  static Json method(const Json& of, const std::string& name, const Values& given) {
    if (of.is_object()) {
      if (name == "get" && !given.empty()) {
        const auto found = of.find(text_of(given, 0, ""));
        return found != of.end() ? *found : given.size() > 1 ? given[1] : Json();
      }
      if (name == "items" || name == "keys" || name == "values") {
        Json all = Json::array();
        for (const auto& [key, value] : of.items()) {
          all.push_back(name == "items" ? Json::array({key, value}) : name == "keys" ? Json(key) : value);
        }
        return all;
      }
    }
    if (!of.is_string()) throw Problem(fmt::format("\"{}\" is asked of something that is not a text", name));
    const auto& text = of.get_ref<const std::string&>();
    if (name == "strip" || name == "lstrip" || name == "rstrip") {
      const std::string what = text_of(given, 0, kBlanks);
      return stripped(text, name != "rstrip", name != "lstrip", what.c_str());
    }
    if (name == "split" && !given.empty()) return pieces(text, text_of(given, 0, ""));
    if (name == "startswith") return text_begins(text, text_of(given, 0, ""));
    if (name == "endswith") return text_ends(text, text_of(given, 0, ""));
    if (name == "replace" && given.size() == 2) return replaced(text, text_of(given, 0, ""), text_of(given, 1, ""));
    if (name == "upper" || name == "lower") return filter(name, of, given);
    if (name == "capitalize" || name == "title") return filter(name, of, given);
    throw Problem(fmt::format("the method \"{}\" is not known", name));
  }

  static Json filter(const std::string& name, const Json& of, const Values& given) {
    if (name == "default" || name == "d") {
      const bool empty = given.size() > 1 && truth(given[1]) && !truth(of);
      return is_undefined(of) || empty ? given.empty() ? Json("") : given[0] : of;
    }
    if (name == "length" || name == "count") {
      if (of.is_string()) return of.get_ref<const std::string&>().size();
      return of.is_array() || of.is_object() ? of.size() : 0;
    }
    if (name == "tojson") return as_json(of);
    if (name == "string") return as_text(of);
    if (name == "list" || name == "safe") return of;
    if (name == "items" && of.is_object()) return method(of, name, given);
    if ((name == "first" || name == "last") && of.is_array()) {
      return of.empty() ? undefined() : name == "first" ? of.front() : of.back();
    }
    if (name == "join" && of.is_array()) {
      std::string all;
      for (size_t i = 0; i < of.size(); ++i) all += (i == 0 ? "" : text_of(given, 0, "")) + as_text(of[i]);
      return all;
    }
    if ((name == "selectattr" || name == "rejectattr") && of.is_array()) {
      Json chosen = Json::array();
      for (const Json& one : of) {
        const Json value = member(one, text_of(given, 0, ""));
        const bool holds = given.size() == 1
                               ? truth(value)
                               : truth(test(text_of(given, 1, ""), value, {given.begin() + 2, given.end()}));
        if (holds == (name == "selectattr")) chosen.push_back(one);
      }
      return chosen;
    }
    if (is_undefined(of)) return "";
    if (of.is_array() || of.is_object()) throw Problem(fmt::format("the filter \"{}\" is not known", name));
    const std::string text = as_text(of);
    if (name == "trim") return stripped(text, true, true);
    if (name == "upper") return cased(text, std::toupper);
    if (name == "lower") return cased(text, std::tolower);
    if (name == "capitalize" || name == "title") {
      std::string one = cased(text, std::tolower);
      if (!one.empty()) one[0] = cased(one.substr(0, 1), std::toupper)[0];
      if (name == "capitalize" || one.find_first_of(kBlanks) == std::string::npos) return one;
    }
    if (name == "replace" && given.size() == 2) return replaced(text, text_of(given, 0, ""), text_of(given, 1, ""));
    throw Problem(fmt::format("the filter \"{}\" is not known", name));
  }

  static Json test(const std::string& name, const Json& of, const Values& given) {
    if (name == "defined") return !is_undefined(of);
    if (name == "undefined") return is_undefined(of);
    if (name == "none") return of.is_null();
    if (name == "string") return of.is_string();
    if (name == "mapping") return of.is_object();
    if (name == "iterable") return of.is_array() || of.is_string() || of.is_object();
    if (name == "sequence") return of.is_array() || of.is_string();
    if (name == "number") return of.is_number();
    if (name == "boolean") return of.is_boolean();
    if (name == "true") return of.is_boolean() && of.get<bool>();
    if (name == "false") return of.is_boolean() && !of.get<bool>();
    if (name == "even") return whole(of) % 2 == 0;
    if (name == "odd") return whole(of) % 2 != 0;
    if ((name == "equalto" || name == "eq" || name == "==") && !given.empty()) return of == given[0];
    throw Problem(fmt::format("the test \"{}\" is not known", name));
  }

  Values scopes_;
  std::string out_;
  size_t steps_ = 0;
};

}  // namespace

std::string render(const Node& root, const Json& variables) { return Renderer(variables).run(root); }

}  // namespace bantam::convert::jinja
