#include "source/knowledge_ernie.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <fstream>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/regular_file.h"
#include "source/model_source.h"
#include "source/source_path.h"

namespace bantam::convert {
namespace fs = std::filesystem;
namespace {

constexpr const char* kEntityTable = "embeddings.entity_embeddings.weight";
constexpr std::string_view kWordTable = "embeddings.word_embeddings.weight";
constexpr const char* kVectors = "entity2vec.vec";
constexpr const char* kNumbers = "entity2id.txt";
constexpr size_t kMostEntityRows = size_t{1} << 24;

template <typename... Args>
[[noreturn]] void refuse(const fs::path& file, fmt::format_string<Args...> form, Args&&... args) {
  throw Error(ExitCode::kInvalid, fmt::format("{}: {}", file.string(), fmt::format(form, std::forward<Args>(args)...)));
}

const char* settings_file(const Directory& files) { return files.has("config.json") ? "config.json" : kErnieSettings; }

/// Reads the lines of a file without their line ends.
class Lines {
 public:
  explicit Lines(const fs::path& path) : path_(path), stream_(path, std::ios::binary) {
    if (!stream_) throw Error(ExitCode::kIo, fmt::format("{}: cannot be read; check the path", path.string()));
  }
  bool next(std::string* line) {
    if (!std::getline(stream_, *line)) {
      if (stream_.bad()) throw Error(ExitCode::kIo, fmt::format("{}: cannot be read to its end", path_.string()));
      return false;
    }
    if (!line->empty() && line->back() == '\r') line->pop_back();
    ++number_;
    return true;
  }
  size_t number() const { return number_; }

 private:
  const fs::path& path_;
  std::ifstream stream_;
  size_t number_ = 0;
};

std::optional<size_t> parse_count(std::string_view text) {
  size_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool whole = error == std::errc() && end == text.data() + text.size() && value <= kMostEntityRows;
  return whole ? std::optional<size_t>(value) : std::nullopt;
}

/// Names by number: entity2id.txt holds their count, then lines with a name, a tab and its number, which starts from 0.
std::vector<std::string> read_numbers(const fs::path& path) {
  Lines lines(path);
  std::string line;
  const std::optional<size_t> count = lines.next(&line) ? parse_count(line) : std::nullopt;
  if (!count || *count == 0) refuse(path, "line 1: is not the number of entities");
  // A line has a name, a tab, a digit and a line end: reject counts that do not fit the file before memory is
  // allocated.
  if (*count > RegularFile(path).size() / 4) refuse(path, "line 1: says {} entities; is the file complete?", *count);
  std::vector<std::string> names(*count);
  std::vector<bool> known(*count);
  size_t found = 0;
  while (lines.next(&line)) {
    if (line.empty()) continue;
    const size_t tab = line.find('\t');
    const std::optional<size_t> number =
        tab == std::string::npos ? std::nullopt : parse_count(std::string_view(line).substr(tab + 1));
    if (!number || *number >= *count || tab == 0) {
      refuse(path, "line {}: is not a name, a tab and a number below {}", lines.number(), *count);
    }
    if (known[*number]) refuse(path, "line {}: number {} has another name already", lines.number(), *number);
    known[*number] = true;
    names[*number] = line.substr(0, tab);
    ++found;
  }
  if (found != *count) {
    refuse(path, "holds {} entities, line 1 says {}; is the file complete?", found, *count);
  }
  return names;
}

/// Chooses the rows of a table to keep: the new position of each, or -1. `names`: of all rows, then of the kept rows.
std::vector<int64_t> choose(const fs::path& list, std::vector<std::string>* names) {
  std::vector<int64_t> places(names->size(), -1);
  if (list.empty()) {
    for (size_t i = 0; i < places.size(); ++i) places[i] = static_cast<int64_t>(i);
    return places;
  }
  std::unordered_map<std::string, size_t> rows;
  for (size_t i = 0; i < names->size(); ++i) rows.emplace((*names)[i], i);
  std::vector<std::string> kept;
  Lines lines(list);
  std::string line;
  while (lines.next(&line)) {
    if (line.empty()) continue;
    const auto row = rows.find(line);
    if (row == rows.end()) {
      refuse(list, "line {}: no entity of the model has the name \"{}\"", lines.number(), line.substr(0, 80));
    }
    if (places[row->second] >= 0) refuse(list, "line {}: \"{}\" stands above already", lines.number(), line);
    places[row->second] = static_cast<int64_t>(kept.size());
    kept.push_back(line);
  }
  if (kept.empty()) refuse(list, "names no entity");
  *names = std::move(kept);
  return places;
}

/// Reads a line's numbers to `row`, at most one more than `width`. Returns false if something is not a number.
bool parse_row(const std::string& line, size_t width, std::vector<double>* row) {
  row->clear();
  const char *at = line.data(), *const end = at + line.size();
  while (row->size() <= width) {
    while (at != end && (*at == '\t' || *at == ' ')) ++at;
    if (at == end) return true;
    double value = 0;
    const auto [next, error] = std::from_chars(at, end, value);
    if (error != std::errc() || !std::isfinite(value) || (next != end && *next != '\t' && *next != ' ')) return false;
    row->push_back(value);
    at = next;
  }
  return true;
}

/// Reads the rows of entity2vec.vec that have a position, each to that position.
MemoryTensor read_vectors(const fs::path& path, size_t width, const std::vector<int64_t>& places, size_t kept) {
  // A number takes at least a digit and a separator: reject sizes that do not fit the file before memory is allocated.
  if (RegularFile(path).size() / 2 / width < kept) {
    refuse(path, "is too short for {} vectors of {} numbers (entity_size); is the file complete?", kept, width);
  }
  MemoryTensor table{{kept, width}, std::vector<float>(kept * width)};
  Lines lines(path);
  std::string line;
  std::vector<double> row;
  size_t count = 0;
  for (; lines.next(&line); ++count) {
    const int64_t place = count < places.size() ? places[count] : -1;
    if (!parse_row(line, width, &row))
      refuse(path, "line {}: something is not a number; is the file complete?", lines.number());
    if (row.size() != width) {
      refuse(path, "line {}: {} numbers, of vectors of {} (entity_size); is the file complete?", lines.number(),
             row.size() > width ? "too many" : std::to_string(row.size()), width);
    }
    for (size_t i = 0; place >= 0 && i < width; ++i) {
      table.values[static_cast<size_t>(place) * width + i] = static_cast<float>(row[i]);
    }
  }
  if (count < places.size()) {
    refuse(path, "holds {} vectors, but {} numbers entities up to {}; is the file complete?", count, kNumbers,
           places.size() - 1);
  }
  return table;
}

/// The names in config.json, or none.
std::vector<std::string> stated_names(const fs::path& file, const Json& config, size_t count) {
  std::vector<std::string> names;
  if (!config.contains(kEntityNames)) return names;
  const Json& list = config.at(kEntityNames);
  if (!list.is_array() || list.size() != count) {
    refuse(file, "{}: is not a list of {} names, one for each row of \"{}\"", kEntityNames, count, kEntityTable);
  }
  for (const Json& name : list) {
    if (!name.is_string()) refuse(file, "{}: one of them is not a text", kEntityNames);
    names.push_back(name.get<std::string>());
  }
  return names;
}

class Opening {
 public:
  Opening(const SourcePath& named, const fs::path& entities)
      : directory_(named.path), files_(*named.files), settings_(settings_file(files_)), list_(entities) {
    source_.files = named.files;
    source_.config = files_.object(settings_);
    checkpoint_ = std::make_shared<Checkpoint>(files_);
    source_.tokenizer = read_tokenizer_files(files_);
    for (const auto& file : checkpoint_->files()) source_.weight_files.push_back(file->path());
  }

  ModelSource run() {
    Json& config = source_.config;
    config["model_type"] = "knowledge_ernie";
    const std::string* stored = find(kEntityTable);
    if (!config.contains("entity_size")) {
      const std::string* reads = find("intermediate.dense_ent.weight");
      if (reads != nullptr && shape(*reads).size() == 2) config["entity_size"] = shape(*reads)[1];
    }
    if (stored != nullptr) {
      from_tensor(*stored);
    } else {
      from_files();
    }
    // Entity typing assigns several labels at a time, which the published settings do not say.
    if (find("typing.weight") != nullptr && !config.contains("problem_type")) {
      config["problem_type"] = "multi_label_classification";
    }
    source_.checkpoint = std::move(checkpoint_);
    return std::move(source_);
  }

 private:
  /// The tensor whose name ends with `end`; null: there is none.
  const std::string* find(std::string_view end) const {
    for (const auto& [name, entry] : checkpoint_->tensors()) {
      if (name.size() >= end.size() && std::string_view(name).substr(name.size() - end.size()) == end) return &name;
    }
    return nullptr;
  }
  const std::vector<uint64_t>& shape(const std::string& name) const {
    return checkpoint_->tensors().at(name).stored->shape;
  }

  void from_tensor(const std::string& name) {
    const std::vector<uint64_t> extents = shape(name);
    if (extents.size() != 2 || extents[0] == 0 || extents[0] >= kMostEntityRows) {
      refuse(directory_, "tensor \"{}\": is not a matrix of a row an entity", name);
    }
    const fs::path file = files_.path(settings_);
    std::vector<std::string> names = stated_names(file, source_.config, static_cast<size_t>(extents[0]));
    if (!list_.empty()) {
      if (names.empty()) refuse(file, "{}: missing; without names no entities can be chosen", kEntityNames);
      const std::vector<int64_t> places = choose(list_, &names);
      const std::vector<float> all = checkpoint_->read(name);
      const auto width = static_cast<size_t>(extents[1]);
      MemoryTensor kept{{names.size(), width}, std::vector<float>(names.size() * width)};
      for (size_t row = 0; row < places.size(); ++row) {
        if (places[row] < 0) continue;
        std::copy_n(all.begin() + static_cast<std::ptrdiff_t>(row * width), width,
                    kept.values.begin() + static_cast<std::ptrdiff_t>(static_cast<size_t>(places[row]) * width));
      }
      checkpoint_->put(name, std::move(kept));
    }
    source_.config["entity_count"] = shape(name)[0];
    if (!names.empty()) source_.config[kEntityNames] = names;
  }

  void from_files() {
    const bool beside = files_.has(kVectors) || files_.has(kNumbers);
    const std::string folder = beside ? "" : "kg_embed";
    const auto path = [&](const char* name) { return files_.path(name_in(folder, name)); };
    for (const char* name : {kNumbers, kVectors}) {
      if (files_.has(name_in(folder, name))) continue;
      refuse(directory_,
             "holds no {}, nor a tensor \"{}\": put the published folder kg_embed, with {} and {}, into the directory",
             name, kEntityTable, kVectors, kNumbers);
    }
    std::vector<std::string> names = read_numbers(path(kNumbers));
    const std::vector<int64_t> places = choose(list_, &names);
    constexpr uint64_t kUsual = 100, kMost = uint64_t{1} << 16;
    const Json size = source_.config.value("entity_size", Json(kUsual));
    if (!size.is_number_unsigned() || size == 0 || size.get<uint64_t>() > kMost) {
      refuse(files_.path(settings_), "entity_size: {} is not a whole number from 1 to {}", size.dump(), kMost);
    }
    const std::string* words = find(kWordTable);
    const std::string prefix = words == nullptr ? "bert." : words->substr(0, words->size() - kWordTable.size());
    checkpoint_->put(prefix + kEntityTable, read_vectors(path(kVectors), size.get<size_t>(), places, names.size()));
    for (const char* name : {kNumbers, kVectors}) source_.weight_files.push_back(path(name));
    source_.config["entity_count"] = names.size();
    source_.config[kEntityNames] = std::move(names);
  }

  const fs::path& directory_;
  const Directory& files_;
  const char* settings_;
  const fs::path& list_;
  ModelSource source_;
  std::shared_ptr<Checkpoint> checkpoint_;
};

}  // namespace

bool is_knowledge_ernie(const SourcePath& named) {
  if (!named.is_folder()) return false;
  const std::string file = settings_file(*named.files);
  if (file == kErnieSettings) return named.files->has(file);
  const Json& config = named.files->object(file);
  if (config.value("model_type", Json()) == "knowledge_ernie") return true;
  const Json types = config.value("layer_types", Json());
  const auto of_entities = [](const Json& type) { return type == "mix" || type == "norm"; };
  return types.is_array() && std::any_of(types.begin(), types.end(), of_entities);
}

// A source whose weights include the entity table as a tensor. `options.entities`: a file of names, one per line; only
// those are kept, in its order. Fails if tables and names do not match.
ModelSource open_knowledge_ernie(const SourcePath& named, const SourceOptions& options) {
  return Opening(named, options.entities).run();
}

}  // namespace bantam::convert
