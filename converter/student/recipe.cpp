#include "student/recipe.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "base/known_keys.h"
#include "student/scripts.h"

namespace bantam::convert {
namespace {

constexpr uint64_t kMaxCount = 1U << 24;

class Parser {
 public:
  Parser(const Json& json, std::string where, const std::filesystem::path& base)
      : json_(json), where_(std::move(where)), base_(base) {}

  Recipe parse() {
    if (!json_.is_object()) throw Error(ExitCode::kInvalid, where_ + ": is not an object");
    refuse_unknown_keys(json_, where_,
                        {"layers", "decoder_layers", "heads", "head_width", "ffn", "hidden", "vocabulary", "positions",
                         "embedding_rank", "share", "data"},
                        problems_);
    layers("layers", &recipe_.layers);
    layers("decoder_layers", &recipe_.decoder_layers);
    units("heads", recipe_.heads, recipe_.heads_across);
    units("ffn", recipe_.ffn, recipe_.ffn_across);
    if (json_.contains("hidden")) recipe_.hidden = amount("hidden", json_["hidden"]);
    recipe_.head_width = count(json_, "head_width", "", 0);
    vocabulary();
    recipe_.positions = count(json_, "positions", "", 0);
    recipe_.embedding_rank = count(json_, "embedding_rank", "", 0);
    recipe_.share = count(json_, "share", "", 0);
    if (json_.contains("data")) recipe_.data = path("data", json_["data"]);
    problems_.raise();
    return recipe_;
  }

 private:
  void problem(const std::string& key, const std::string& what) {
    problems_.add(ExitCode::kInvalid, fmt::format("{}: \"{}\": {}", where_, key, what));
  }

  static std::string shown(const Json& value) {
    return value.dump(-1, ' ', false, Json::error_handler_t::replace).substr(0, 80);
  }

  /// Parses an integer from 1 on, or a fraction between 0 and 1.
  Amount amount(const std::string& key, const Json& value) {
    Amount out;
    if (value.is_number_unsigned() && value.get<uint64_t>() >= 1 && value.get<uint64_t>() <= kMaxCount) {
      out.count = value.get<uint32_t>();
    } else if (value.is_number_float() && value.get<double>() > 0 && value.get<double>() < 1) {
      out.share = value.get<double>();
    } else {
      problem(key, fmt::format("{} is neither a whole number from 1 nor a share between 0 and 1", shown(value)));
    }
    return out;
  }

  uint32_t count(const Json& object, const char* key, const std::string& inside, uint32_t otherwise) {
    if (!object.contains(key)) return otherwise;
    const Json& value = object[key];
    if (value.is_number_unsigned() && value.get<uint64_t>() >= 1 && value.get<uint64_t>() <= kMaxCount) {
      return value.get<uint32_t>();
    }
    problem(inside + key, fmt::format("{} is not a whole number from 1 to {}", shown(value), kMaxCount));
    return otherwise;
  }

  std::filesystem::path path(const std::string& key, const Json& value) {
    if (value.is_string() && !value.get<std::string>().empty()) return base_ / value.get<std::string>();
    problem(key, fmt::format("{} is not the name of a file", shown(value)));
    return {};
  }

  /// Returns the index of a word in `known`.
  size_t word(const std::string& key, const Json& value, const std::vector<std::string>& known) {
    const std::string text = value.is_string() ? value.get<std::string>() : shown(value);
    const auto found = std::find(known.begin(), known.end(), text);
    if (found != known.end()) return static_cast<size_t>(found - known.begin());
    problem(key, fmt::format("\"{}\" is not known; {}", text, did_you_mean(text, known)));
    return 0;
  }

  void layers(const std::string& key, LayerRecipe* out) {
    if (!json_.contains(key)) return;
    const Json& value = json_[key];
    if (value.is_array()) {
      layer_list(key, value, out);
    } else if (value.is_object()) {
      refuse_unknown_keys(value, fmt::format("{}: {}", where_, key), {"keep", "by"}, problems_);
      if (value.contains("keep")) {
        out->keep = amount(key + ".keep", value["keep"]);
      } else {
        problem(key + ".keep", "is missing: how many layers are kept");
      }
      if (value.contains("by")) {
        out->by =
            static_cast<LayerChoice>(word(key + ".by", value["by"], {"alternate", "first", "last", "importance"}));
      }
    } else {
      out->keep = amount(key, value);
    }
  }

  void layer_list(const std::string& key, const Json& list, LayerRecipe* out) {
    out->by = LayerChoice::kList;
    if (list.empty()) problem(key, "names no layer; at least one stays");
    for (const Json& item : list) {
      if (!item.is_number_unsigned() || item.get<uint64_t>() > kMaxCount) {
        problem(key, fmt::format("{} is not the number of a layer, which count from 0", shown(item)));
      } else if (!out->list.empty() && item.get<uint32_t>() <= out->list.back()) {
        problem(key,
                fmt::format("{} follows {}: name each layer once, in increasing order", shown(item), out->list.back()));
      } else {
        out->list.push_back(item.get<uint32_t>());
      }
    }
  }

  void units(const char* key, Amount& out, bool& across) {
    if (!json_.contains(key)) return;
    const Json& value = json_[key];
    if (!value.is_object()) {
      out = amount(key, value);
      return;
    }
    refuse_unknown_keys(value, fmt::format("{}: {}", where_, key), {"keep", "across"}, problems_);
    const std::string prefix = std::string(key) + ".";
    if (value.contains("keep")) {
      out = amount(prefix + "keep", value["keep"]);
    } else {
      problem(prefix + "keep", "is missing: how many of each layer are kept");
    }
    if (value.contains("across")) across = word(prefix + "across", value["across"], {"layer", "model"}) == 1;
  }

  void vocabulary() {
    if (!json_.contains("vocabulary")) return;
    Recipe::Vocabulary out;
    const Json& value = json_["vocabulary"];
    if (value.is_string()) {
      out.corpus.push_back(path("vocabulary", value));
    } else if (value.is_object()) {
      refuse_unknown_keys(value, where_ + ": vocabulary", {"corpus", "scripts", "size", "min_count"}, problems_);
      for (const Json& item : items(value, "corpus")) out.corpus.push_back(path("vocabulary.corpus", item));
      for (const Json& item : items(value, "scripts")) {
        out.scripts.push_back(script_names()[word("vocabulary.scripts", item, script_names())]);
      }
      out.size = count(value, "size", "vocabulary.", 0);
      out.min_count = count(value, "min_count", "vocabulary.", 1);
      if (out.corpus.empty() && out.scripts.empty()) {
        problem("vocabulary", "names neither a corpus nor scripts: nothing says which tokens stay");
      } else if (out.corpus.empty() && out.size != 0) {
        problem("vocabulary.size", "keeps the tokens that a corpus uses most: name one");
      }
    } else {
      problem("vocabulary", fmt::format("{} is neither the name of a corpus nor an object", shown(value)));
    }
    recipe_.vocabulary = out;
  }

  /// Returns a single item, or the items of a list.
  static std::vector<Json> items(const Json& object, const char* key) {
    if (!object.contains(key)) return {};
    const Json& value = object[key];
    if (!value.is_array()) return {value};
    return value.get<std::vector<Json>>();
  }

  const Json& json_;
  std::string where_;
  const std::filesystem::path& base_;
  Recipe recipe_;
  Problems problems_;
};

}  // namespace

uint32_t Amount::of(uint32_t all) const {
  if (count != 0) return count;
  return std::max(1U, static_cast<uint32_t>(std::lround(share * static_cast<double>(all))));
}

Recipe parse_recipe(const Json& json, const std::string& where, const std::filesystem::path& base) {
  return Parser(json, where, base).parse();
}

Recipe read_recipe(const std::filesystem::path& file) {
  return parse_recipe(read_json_object(file), file.filename().string(), file.parent_path());
}

}  // namespace bantam::convert
