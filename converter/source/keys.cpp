#include "source/keys.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include "base/known_keys.h"
#include "source/generation.h"

namespace bantam::convert {
namespace {

constexpr size_t kMostValueLetters = 60, kMostKeyLetters = 80;

std::string short_value(const Json& value) {
  std::string text = value.dump(-1, ' ', true, Json::error_handler_t::replace);
  if (text.size() > kMostValueLetters) text = text.substr(0, kMostValueLetters - 3) + "...";
  return text;
}

bool same_value(const Json& a, const Json& b) {
  return a == b || (a.is_number() && b.is_number() && a.get<double>() == b.get<double>());
}

/// Returns true if `value` is one for which the row's key has no effect.
bool is_neutral(const KeyRow& row, const Json& value) {
  constexpr std::string_view kBetween = " | ";
  std::string_view rest = row.neutral;
  while (!rest.empty()) {
    const size_t end = std::min(rest.find(kBetween), rest.size());
    if (same_value(value, Json::parse(rest.substr(0, end)))) return true;
    rest.remove_prefix(std::min(end + kBetween.size(), rest.size()));
  }
  return false;
}

/// The parent of a path: "a.b" for "a.b.c"; "" for "a".
std::string_view object_of(std::string_view path) {
  const size_t point = path.rfind('.');
  return point == std::string_view::npos ? std::string_view() : path.substr(0, point);
}

std::string_view name_of(std::string_view path) { return path.substr(path.rfind('.') + 1); }

std::string shortened(const std::string& key) {
  return key.size() <= kMostKeyLetters ? key : key.substr(0, kMostKeyLetters - 3) + "...";
}

/// Traverses a document together with its rows; the depth of documents is limited when they are read. O(keys log rows)
/// for any input: keys beyond kMostSourceKeys are only counted.
class KeyWalk {
 public:
  KeyWalk(const KeyDocument& document, const KeyUse& use) : document_(document), use_(use) {
    const bool settings = document.kind == KeyFile::kConfig || document.kind == KeyFile::kGeneration;
    if (settings) reads_ = use.reads;
    add_rows(document.kind);
    if (document.kind == KeyFile::kConfig) add_rows(KeyFile::kGeneration);
    if (document.kind == KeyFile::kTokenizerConfig) add_rows(KeyFile::kMadeTexts);
  }

  std::vector<SourceKey> run(size_t* left) {
    visit(*document_.json, "");
    *left += left_;
    return std::move(found_);
  }

 private:
  void add_rows(KeyFile kind) {
    for (const KeyRow& row : key_rows()) {
      if (row.kind != kind) continue;
      const std::string path = row.path;
      rows_.emplace(path, &row);
      for (size_t end = path.find_first_of(".["); end != std::string::npos; end = path.find_first_of(".[", end + 1)) {
        objects_.insert(path.substr(0, end));
      }
    }
  }

  void visit(const Json& json, const std::string& place) {
    if (json.is_array()) {
      for (const Json& item : json) visit(item, place + "[]");
    }
    if (!json.is_object()) return;
    for (const auto& [name, value] : json.items()) {
      const std::string path = place.empty() ? name : fmt::format("{}.{}", place, name);
      judge(path, value);
      if (objects_.count(path) != 0) visit(value, path);
    }
  }

  void judge(const std::string& path, const Json& value) {
    if (reads_ != nullptr && reads_->count(path) != 0) return;
    const KeyRow* row = row_of(path);
    if (row == nullptr) {
      if (objects_.count(path) != 0 || (use_.graph_states_layers && document_.kind == KeyFile::kConfig)) return;
    } else {
      if (row->state != KeyState::kUnsupported || is_neutral(*row, value)) return;
      const bool of_made_texts = row->kind == KeyFile::kGeneration || row->kind == KeyFile::kMadeTexts;
      if (of_made_texts && !use_.generates) return;
    }
    const std::string key = shortened(path);
    const auto same = [&key](const SourceKey& other) { return other.key == key; };
    if (std::any_of(found_.begin(), found_.end(), same)) return;  // one item of a list is enough
    if (found_.size() == kMostSourceKeys) {
      ++left_;
      return;
    }
    const std::string effect = row != nullptr ? row->effect : "is unknown: it may change answers" + nearest_to(path);
    found_.push_back({document_.file, key, short_value(value), effect});
  }

  const KeyRow* row_of(const std::string& path) const {
    const std::string_view object = object_of(path);
    for (const std::string& name : {path, object.empty() ? std::string("*") : std::string(object) + ".*"}) {
      const auto row = rows_.find(name);
      if (row != rows_.end()) return row->second;
    }
    return nullptr;
  }

  std::string nearest_to(const std::string& path) const {
    if (path.size() > kMostKeyLetters) return "";
    std::vector<std::string> known;
    const auto add = [&](const std::string& other) {
      if (object_of(other) == object_of(path) && name_of(other) != "*") known.push_back(other);
    };
    for (const auto& [other, row] : rows_) add(other);
    if (reads_ != nullptr) std::for_each(reads_->begin(), reads_->end(), add);
    return guess(path, known);
  }

  const KeyDocument& document_;
  const KeyUse& use_;
  const KeyReads* reads_ = nullptr;
  std::map<std::string, const KeyRow*> rows_;  // the first row of each key
  std::set<std::string> objects_;              // paths of objects that contain keys of rows
  std::vector<SourceKey> found_;
  size_t left_ = 0;
};

bool is_of_generation(const std::string& path) {
  const auto& rows = key_rows();
  return std::any_of(rows.begin(), rows.end(),
                     [&path](const KeyRow& row) { return row.kind == KeyFile::kGeneration && row.path == path; });
}

}  // namespace

const std::vector<KeyRow>& key_rows() {
  static const std::vector<KeyRow> kRows = {
#define BANTAM_KEY(kind, path, state, neutral, effect) {KeyFile::kind, path, KeyState::state, neutral, effect},
#include "source/keys/config.inc"
#include "source/keys/generation.inc"
#include "source/keys/modules.inc"
#include "source/keys/others.inc"
#include "source/keys/tokenizer.inc"
#undef BANTAM_KEY
  };
  return kRows;
}

std::vector<SourceKey> unread_keys(const ModelSource& source, const KeyUse& use) {
  std::vector<SourceKey> all;
  const auto append = [&all](const std::vector<SourceKey>& some) { all.insert(all.end(), some.begin(), some.end()); };
  size_t left = 0;
  const std::vector<KeyDocument> documents = key_documents(source, use);
  const auto is_generation = [](const KeyDocument& document) { return document.kind == KeyFile::kGeneration; };
  const bool decided = std::any_of(documents.begin(), documents.end(), is_generation);
  for (const KeyDocument& document : documents) {
    std::vector<SourceKey> found = KeyWalk(document, use).run(&left);
    if (decided && document.kind == KeyFile::kConfig) {
      // generation_config.json takes precedence, and reports its own keys (add_generation_settings).
      const auto overruled = [](const SourceKey& key) { return is_of_generation(key.key); };
      found.erase(std::remove_if(found.begin(), found.end(), overruled), found.end());
    }
    append(found);
  }
  if (use.reads_texts) append(contradicting_keys(source));
  if (all.size() > kMostSourceKeys || left > 0) {
    const size_t stay = std::min(all.size(), kMostSourceKeys - 1);
    left += all.size() - stay;
    all.resize(stay);
    all.push_back({"...", "...", "...", fmt::format("{} further keys are left out of this list", left)});
  }
  return all;
}

std::string to_line(const SourceKey& key) {
  return fmt::format("{}: {}: {}: {}", key.file, key.key, key.value, key.effect);
}

std::string source_keys_json(const std::vector<SourceKey>& keys) {
  Json list = Json::array();
  for (const SourceKey& key : keys) {
    list.push_back({{"file", key.file}, {"key", key.key}, {"value", key.value}, {"effect", key.effect}});
  }
  return list.dump(-1, ' ', true, Json::error_handler_t::replace);
}

std::vector<SourceKey> parse_source_keys(const std::string& json) {
  std::vector<SourceKey> keys;
  Json list;
  std::string problem;
  if (!parse_json(json, &list, &problem) || !list.is_array()) return keys;
  for (const Json& item : list) {
    const auto text = [&item](const char* name) {
      const bool stated = item.is_object() && item.contains(name) && item.at(name).is_string();
      return stated ? item.at(name).get<std::string>() : std::string();
    };
    keys.push_back({text("file"), text("key"), text("value"), text("effect")});
  }
  return keys;
}

}  // namespace bantam::convert
