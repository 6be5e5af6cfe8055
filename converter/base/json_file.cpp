#include "base/json_file.h"

#include <fmt/format.h>

#include <utility>
#include <vector>

#include "base/error.h"
#include "base/regular_file.h"
#include "base/size.h"

namespace bantam::convert {
namespace fs = std::filesystem;

std::string read_text_file(const fs::path& path, uint64_t max_bytes) {
  RegularFile file(path);
  const uint64_t size = file.size();
  if (size > max_bytes) {
    throw Error(ExitCode::kInvalid, fmt::format("{}: {} bytes is more than the {} that such a file may have",
                                                path.string(), size, max_bytes));
  }
  std::string text(in_memory(size), '\0');
  file.read_all(0, text.data(), text.size());
  return text;
}

namespace {

/// Builds the document from the parser's events and stops at the first violation. O(size): nlohmann's own builder with
/// a callback searches the whole parent after each object.
class TreeBuilder final : public Json::json_sax_t {
 public:
  explicit TreeBuilder(Json* root) : next_(root) {}
  const std::string& problem() const { return problem_; }

  bool null() override { return put(nullptr); }
  bool boolean(bool value) override { return put(value); }
  bool number_integer(int64_t value) override { return put(value); }
  bool number_unsigned(uint64_t value) override { return put(value); }
  bool number_float(double value, const std::string&) override { return put(value); }
  bool string(std::string& value) override { return put(std::move(value)); }
  bool binary(Json::binary_t&) override { return false; }  // JSON has no binary values
  bool start_object(size_t) override { return enter(Json::object()); }
  bool start_array(size_t) override { return enter(Json::array()); }
  bool end_object() override { return leave(); }
  bool end_array() override { return leave(); }

  bool key(std::string& name) override {
    const auto [place, is_new] = open_.back()->get_ref<Json::object_t&>().emplace(name, nullptr);
    next_ = &place->second;
    return is_new || fail(fmt::format("has the key \"{}\" twice", name));
  }

  bool parse_error(size_t, const std::string&, const nlohmann::detail::exception& error) override {
    // nlohmann's text begins with an error id in brackets that means nothing to a user.
    const std::string_view what = error.what();
    const size_t begin = what.find("] ");
    return fail(fmt::format("is not valid JSON: {}", begin == std::string_view::npos ? what : what.substr(begin + 2)));
  }

 private:
  bool fail(std::string problem) {
    problem_ = std::move(problem);
    return false;
  }

  /// The destination of the next value: the end of the open array, else the value that key() selected, or the document.
  Json& place() {
    if (open_.empty() || !open_.back()->is_array()) return *next_;
    return open_.back()->emplace_back(nullptr);
  }

  template <typename Value>
  bool put(Value&& value) {
    place() = std::forward<Value>(value);
    return true;
  }

  bool enter(Json empty) {
    if (open_.size() == size_t{kMaxJsonDepth}) return fail(fmt::format("is nested deeper than {}", kMaxJsonDepth));
    Json& value = place();
    value = std::move(empty);
    open_.push_back(&value);  // the pointer stays valid: nothing is added to the parent while this value is open
    return true;
  }

  bool leave() {
    open_.pop_back();
    return true;
  }

  std::vector<Json*> open_;  // open arrays and objects, outermost first
  Json* next_;
  std::string problem_;
};

}  // namespace

Json parse_json(std::string_view text, const std::string& where) {
  Json json;
  std::string problem;
  if (parse_json(text, &json, &problem)) return json;
  throw Error(ExitCode::kInvalid, fmt::format("{}: {}", where, problem));
}

bool parse_json(std::string_view text, Json* json, std::string* problem) {
  Json built;
  TreeBuilder builder(&built);
  if (!Json::sax_parse(text, &builder)) {
    *problem = builder.problem();
    return false;
  }
  *json = std::move(built);
  return true;
}

Json read_json_object(const fs::path& path) {
  Json json = parse_json(read_text_file(path), path.string());
  require_object(json, path.string());
  return json;
}

const Json& member(const Json& json, const char* key) {
  static const Json kNull;
  if (!json.is_object()) return kNull;
  const auto found = json.find(key);
  return found == json.end() ? kNull : *found;
}

void require_object(const Json& json, const std::string& where) {
  if (json.is_object()) return;
  throw Error(ExitCode::kInvalid, fmt::format("{}: is not a JSON object ({{...}})", where));
}

}  // namespace bantam::convert
