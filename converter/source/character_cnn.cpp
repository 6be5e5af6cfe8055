#include "source/character_cnn.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/known_keys.h"
#include "source/fields.h"
#include "source/weights.h"
#include "text/lexicon.h"
#include "text/utf8.h"

namespace bantam::convert {
namespace {

constexpr const char* kCharacters = "characters";
constexpr const char* kRowsOfWords = "embedding.weight";
constexpr uint32_t kMostCharacterColumns = 1U << 14, kMostHighways = 16, kMostOfWord = 1024, kMostAlike = 1U << 13;
constexpr size_t kMostSizes = 16;
constexpr uint64_t kMostTableNumbers = uint64_t{1} << 31;  // of the word table

/// Rows of the character table in the numbering of bilm-tf and AllenNLP: row 0 is unused, row b + 1 is byte b.
constexpr uint32_t kByteRows = 262, kSentenceBegin = 257, kSentenceEnd = 258, kWordBegin = 259, kWordEnd = 260,
                   kBehindWord = 261;

/// Converts words to rows of the character table.
class Alphabet {
 public:
  explicit Alphabet(const Fields& own) : longest_(own.count("max_word_length", kMostOfWord, 50)) {
    const bool listed = own.has("alphabet") && own.raw("alphabet").is_array();
    if (!listed && own.text("alphabet", "bytes") != "bytes") {
      own.problem(ExitCode::kInvalid, "alphabet", "is neither \"bytes\" nor a list of characters");
    }
    if (!listed) {
      begin_ = kWordBegin;
      end_ = kWordEnd;
      padding_ = kBehindWord;
    } else {
      read_list(own);
    }
    const uint32_t around = (begin_ < 0 ? 0U : 1U) + (end_ < 0 ? 0U : 1U);
    if (longest_ <= around) own.problem(ExitCode::kInvalid, "max_word_length", "leaves no room for a character");
  }

  uint32_t rows() const { return list_.empty() ? kByteRows : static_cast<uint32_t>(list_.size()); }
  uint32_t longest() const { return longest_; }
  uint32_t padding() const { return static_cast<uint32_t>(padding_); }

  std::vector<uint32_t> spell(const std::string& word) const {
    std::vector<uint32_t> inner;
    if (!list_.empty()) {
      for (size_t at = 0, length = 0; at < word.size(); at += length) {
        length = text::code_size(static_cast<uint8_t>(word[at]));
        const auto found = list_.find(word.substr(at, length));
        inner.push_back(found == list_.end() ? unknown_ : found->second);
      }
    } else if (word == "<S>" || word == "</S>") {
      inner.push_back(word == "<S>" ? kSentenceBegin : kSentenceEnd);
    } else {
      for (const char byte : word) inner.push_back(uint32_t{static_cast<uint8_t>(byte)} + 1);
    }
    std::vector<uint32_t> out;
    if (begin_ >= 0) out.push_back(static_cast<uint32_t>(begin_));
    const size_t room = longest_ - out.size() - (end_ < 0 ? 0 : 1);
    inner.resize(std::min(inner.size(), room));
    out.insert(out.end(), inner.begin(), inner.end());
    if (end_ >= 0) out.push_back(static_cast<uint32_t>(end_));
    return out;
  }

 private:
  void read_list(const Fields& own) {
    for (const Json& one : own.raw("alphabet")) {
      const std::string text = one.is_string() ? one.get<std::string>() : "";
      if (text.empty() || !list_.emplace(text, static_cast<uint32_t>(list_.size())).second) {
        own.problem(ExitCode::kInvalid, "alphabet",
                    fmt::format("entry {} is not a text, is empty or stands there twice", list_.size()));
        return;
      }
    }
    const auto row = [&](const char* key, const char* otherwise, bool needed) {
      const auto found = list_.find(own.text(key, otherwise));
      if (found != list_.end()) return static_cast<int64_t>(found->second);
      if (needed || own.has(key)) {
        own.problem(ExitCode::kInvalid, key, fmt::format("\"{}\" is not in \"alphabet\"", own.text(key, otherwise)));
      }
      return int64_t{-1};
    };
    begin_ = row("begin", "", false);
    end_ = row("end", "", false);
    padding_ = std::max<int64_t>(row("padding", "<pad>", true), 0);
    unknown_ = static_cast<uint32_t>(std::max<int64_t>(row("unknown", "<unk>", true), 0));
  }

  std::map<std::string, uint32_t> list_;  // empty: bytes
  int64_t begin_ = -1, end_ = -1;         // around words; -1: none
  int64_t padding_ = 0;
  uint32_t unknown_ = 0, longest_;
};

/// A matrix with inputs as rows, and a bias.
struct Layer {
  std::vector<float> weight, bias;

  void multiply(const float* x, size_t inputs, std::vector<float>* y) const {
    *y = bias;
    const float* row = weight.data();
    for (size_t k = 0; k < inputs; ++k) {
      for (float& sum : *y) sum += x[k] * *row++;
    }
  }
};

struct Filters {
  uint32_t size = 0, count = 0;
};

struct CharacterSettings {
  uint32_t columns = 1, highways = 0;
  std::vector<Filters> filters;
  bool tanh = false;

  uint32_t found() const {
    uint32_t all = 0;
    for (const Filters& one : filters) all += one.count;
    return all;
  }
};

CharacterSettings read_character_settings(const Fields& own, uint32_t longest) {
  CharacterSettings out;
  out.columns = own.count("embedding_size", kMostCharacterColumns);
  out.highways = own.stands("highway_layers") && own.raw("highway_layers") == 0
                     ? 0
                     : own.count("highway_layers", kMostHighways, 2);
  const std::string activation = own.text("activation", "relu");
  out.tanh = activation == "tanh";
  if (!out.tanh && activation != "relu") {
    own.problem(ExitCode::kUnsupported, "activation",
                fmt::format("\"{}\" is not supported; \"relu\" and \"tanh\" are", activation));
  }
  const auto number = [](const Json& value, uint64_t most) {
    return value.is_number_unsigned() && value.get<uint64_t>() != 0 && value.get<uint64_t>() <= most;
  };
  const bool listed = own.has("filters") && own.raw("filters").is_array();
  for (const Json& pair : listed ? own.raw("filters") : Json::array()) {
    if (!pair.is_array() || pair.size() != 2 || !number(pair[0], longest) || !number(pair[1], kMostAlike)) {
      out.filters.clear();
      break;
    }
    out.filters.push_back({pair[0].get<uint32_t>(), pair[1].get<uint32_t>()});
  }
  if (out.filters.empty() || out.filters.size() > kMostSizes) {
    own.problem(
        ExitCode::kInvalid, "filters",
        fmt::format(
            "is not a list of 1 to {} pairs of a width, up to max_word_length, and how many filters have it, such as "
            "[[1, 32], [2, 64]]",
            kMostSizes));
  }
  return out;
}

class Network {
 public:
  Network(const CharacterSettings& settings, const Alphabet& alphabet, Weights& weights, uint32_t width)
      : s_(settings), alphabet_(alphabet), weights_(weights) {
    table_ = take("embedding.weight", {alphabet.rows(), s_.columns});
    for (size_t i = 0; i < s_.filters.size(); ++i) {
      const Filters& one = s_.filters[i];
      Layer conv = layer(fmt::format("convs.{}", i), {one.count, s_.columns, one.size});
      // Reorder [filter][column][place] to [place][column][filter].
      std::vector<float> by_place(conv.weight.size());
      for (size_t at = 0; at < by_place.size(); ++at) {
        const size_t place = at % one.size, column = at / one.size % s_.columns, filter = at / one.size / s_.columns;
        by_place[(place * s_.columns + column) * one.count + filter] = conv.weight[at];
      }
      conv.weight = std::move(by_place);
      convs_.push_back(std::move(conv));
    }
    const uint32_t found = s_.found();
    for (uint32_t i = 0; i < s_.highways; ++i)
      highways_.push_back(dense(fmt::format("highway.{}", i), 2 * found, found));
    projection_ = dense("projection", width, found);
  }

  const std::vector<std::string>& tensors() const { return taken_; }

  void run(const std::string& word, std::vector<float>* row) {
    const std::vector<uint32_t> spelled = alphabet_.spell(word);
    rows_.clear();
    for (size_t i = 0; i < alphabet_.longest(); ++i) {
      const size_t character = i < spelled.size() ? spelled[i] : alphabet_.padding();
      const auto from = table_.begin() + static_cast<std::ptrdiff_t>(character * s_.columns);
      rows_.insert(rows_.end(), from, from + static_cast<std::ptrdiff_t>(s_.columns));
    }
    found_.clear();
    for (size_t i = 0; i < convs_.size(); ++i) convolve(convs_[i], s_.filters[i], spelled.size());
    for (const Layer& layer : highways_) pass(layer);
    projection_.multiply(found_.data(), found_.size(), row);
  }

 private:
  std::vector<float> take(const std::string& name, const std::vector<uint32_t>& shape) {
    taken_.push_back(std::string(kCharacters) + "." + name);
    return weights_.encoder(taken_.back(), shape).values;
  }
  Layer layer(const std::string& name, const std::vector<uint32_t>& shape) {
    Layer out;
    out.weight = take(name + ".weight", shape);
    const bool biased = weights_.has_encoder(std::string(kCharacters) + "." + name + ".bias");
    out.bias = biased ? take(name + ".bias", {shape.front()}) : std::vector<float>(shape.front(), 0.0F);
    return out;
  }
  Layer dense(const std::string& name, uint32_t out, uint32_t in) {
    Layer made = layer(name, {out, in});
    made.weight = turned(made.weight, out);
    return made;
  }

  /// The maximum of each filter over the word and its padding, after the activation.
  void convolve(const Layer& conv, const Filters& filters, size_t characters) {
    std::vector<float> most(filters.count, -std::numeric_limits<float>::infinity());
    for (size_t first = 0; first + filters.size <= alphabet_.longest(); ++first) {
      conv.multiply(rows_.data() + first * s_.columns, size_t{filters.size} * s_.columns, &window_);
      for (size_t i = 0; i < most.size(); ++i) most[i] = std::max(most[i], window_[i]);
      if (first >= characters) break;  // the later windows are equal
    }
    for (const float value : most) found_.push_back(s_.tanh ? std::tanh(value) : std::max(value, 0.0F));
  }

  /// g x + (1 - g) relu(a), where one matrix computes a and the gate, stacked vertically (Srivastava et al., arXiv
  /// 1505.00387).
  void pass(const Layer& highway) {
    highway.multiply(found_.data(), found_.size(), &window_);
    for (size_t i = 0; i < found_.size(); ++i) {
      const float gate = 1 / (1 + std::exp(-window_[found_.size() + i]));
      found_[i] = gate * found_[i] + (1 - gate) * std::max(window_[i], 0.0F);
    }
  }

  const CharacterSettings& s_;
  const Alphabet& alphabet_;
  Weights& weights_;
  std::vector<std::string> taken_;
  std::vector<float> table_, rows_, found_, window_;
  std::vector<Layer> convs_, highways_;
  Layer projection_;
};

/// The words of the vocabulary by id.
std::vector<std::string> words_of(const Json& tokenizer, const Fields& fields, uint32_t count) {
  std::vector<std::string> words(count);
  std::vector<bool> known(count, false);
  const auto put = [&](const std::string& word, const Json& id) {
    if (!id.is_number_unsigned() || id.get<uint64_t>() >= count) return;
    words[id.get<size_t>()] = word;
    known[id.get<size_t>()] = true;
  };
  const Json model = tokenizer.is_object() && tokenizer.contains("model") ? tokenizer["model"] : Json();
  const bool of_words = model.is_object() && model.contains("type") && model["type"] == "WordLevel" &&
                        model.contains("vocab") && model["vocab"].is_object();
  if (!of_words) {
    fields.problem(
        ExitCode::kUnsupported, kCharacters,
        "the words whose characters are read are those of tokenizer.json, which is not a WordLevel model or not there");
    return words;
  }
  for (const auto& [word, id] : model["vocab"].items()) put(word, id);
  if (tokenizer.contains("added_tokens") && tokenizer["added_tokens"].is_array()) {
    for (const Json& token : tokenizer["added_tokens"]) {
      const bool whole =
          token.is_object() && token.contains("content") && token["content"].is_string() && token.contains("id");
      if (whole) put(token["content"].get<std::string>(), token["id"]);
    }
  }
  const auto missing = std::find(known.begin(), known.end(), false);
  if (missing != known.end()) {
    fields.problem(ExitCode::kInvalid, "vocab_size",
                   fmt::format("{} words are asked for, but tokenizer.json has none of number {}", count,
                               missing - known.begin()));
  }
  return words;
}

}  // namespace

bool has_characters(const Json& config) {
  const auto type = config.find("model_type");
  return type != config.end() && *type == "elmo" && config.contains(kCharacters) && !config[kCharacters].is_null();
}

void fold_characters(ModelSource* source) {
  Problems problems;
  const Fields fields(source->config, "config.json", problems);
  if (!fields.raw(kCharacters).is_object()) fields.problem(ExitCode::kInvalid, kCharacters, "is not an object");
  problems.raise();
  const Fields own = fields.inside(kCharacters);
  refuse_unknown_keys(own.whole(), "config.json: characters",
                      {"alphabet", "max_word_length", "begin", "end", "padding", "unknown", "embedding_size", "filters",
                       "activation", "highway_layers"},
                      problems);
  const Alphabet alphabet(own);
  const CharacterSettings settings = read_character_settings(own, alphabet.longest());
  const uint32_t count = fields.count("vocab_size", text::kMaxVocabulary),
                 width = fields.count("embedding_size", kMostCharacterColumns);
  if (uint64_t{count} * width > kMostTableNumbers)
    fields.problem(ExitCode::kInvalid, "vocab_size", "makes a table that is too large");
  problems.raise();

  const std::vector<std::string> words = words_of(source->tokenizer.json, fields, count);
  auto checkpoint = std::make_shared<Checkpoint>(*source->files, source->inside);
  const ModelNames names{"elmo", std::string(kCharacters) + ".embedding.weight", {}};
  Weights weights(*checkpoint, names, problems);
  if (weights.has_encoder(kRowsOfWords)) {
    problems.add(
        ExitCode::kInvalid,
        fmt::format(
            "tensor \"{}\": rows of words are there, and config.json has characters to make them of; leave one out",
            kRowsOfWords));
  }
  Network network(settings, alphabet, weights, width);
  problems.raise();

  MemoryTensor table{{count, width}, {}};
  table.values.reserve(size_t{count} * width);
  std::vector<float> row;
  for (const std::string& word : words) {
    network.run(word, &row);
    table.values.insert(table.values.end(), row.begin(), row.end());
  }
  const std::string prefix = base_prefix(*checkpoint, names);
  for (const std::string& name : network.tensors()) checkpoint->leave_out(prefix + name);
  checkpoint->put(prefix + kRowsOfWords, std::move(table));
  source->checkpoint = std::move(checkpoint);
  source->config.erase(kCharacters);
}

}  // namespace bantam::convert
