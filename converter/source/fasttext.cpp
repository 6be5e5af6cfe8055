#include "source/fasttext.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>
#include <string_view>
#include <utility>

#include "base/fail.h"
#include "base/memory_budget.h"
#include "base/size.h"

namespace bantam::convert {
namespace {

constexpr int32_t kNewestVersion = 12, kLastWithoutGrams = 11;
constexpr int32_t kSupervised = 3;
constexpr int32_t kMostWidth = 1 << 16, kMostWordsOfFile = 1 << 22, kMostBuckets = 1 << 30, kMostLabels = 1 << 20;
constexpr size_t kMostTextOfWord = 4096;
constexpr uint64_t kMostTableRows = 1U << 24;
constexpr uint64_t kMostFloats = uint64_t{1} << 32;
constexpr int32_t kCentroids = 256;
constexpr std::string_view kLabel = "__label__";
constexpr const char* kIsComplete = "is the file complete?";

class FastTextReader {
 public:
  FastTextReader(std::istream& in, uint64_t size, const std::string& name)
      : in_(in), left_(size), name_(name), budget_(name, size) {}

  FastTextModel read() {
    settings();
    dictionary();
    const bool quantized = flag();
    if (!model_.all_grams && !quantized) broken("is pruned, but its table is not quantized");
    model_.table = quantized ? quantized_matrix() : matrix();
    const bool output_quantized = flag();
    model_.output = quantized && output_quantized ? quantized_matrix() : matrix();
    check_shapes();
    sort_grams();
    strip_labels();
    return std::move(model_);
  }

 private:
  [[noreturn]] void broken(const std::string& what) const {
    fail(ExitCode::kInvalid, "{}: {}; {}", name_, what, kIsComplete);
  }

  void bytes(void* to, uint64_t count) {
    if (count > left_ || !in_.read(static_cast<char*>(to), static_cast<std::streamsize>(count))) {
      broken(fmt::format("ends {} bytes early", count > left_ ? count - left_ : count));
    }
    left_ -= count;
  }

  template <typename T>
  T number() {
    T value;
    bytes(&value, sizeof(value));
    return value;
  }

  bool flag() {
    const auto value = number<uint8_t>();
    if (value > 1) broken(fmt::format("has {} where 0 or 1 should be", value));
    return value == 1;
  }

  int32_t between(int32_t least, int32_t most, const char* what) {
    const auto value = number<int32_t>();
    if (value < least || value > most) broken(fmt::format("says {} {}, not {} to {}", value, what, least, most));
    return value;
  }

  void settings() {
    if (number<uint32_t>() != kFastTextMagic) fail(ExitCode::kInvalid, "{}: is not a model of fastText", name_);
    const auto version = number<int32_t>();
    if (version < kLastWithoutGrams || version > kNewestVersion) {
      fail(ExitCode::kUnsupported, "{}: is of version {} of fastText's format; 11 and 12 are supported", name_,
           version);
    }
    model_.width = static_cast<uint32_t>(between(1, kMostWidth, "columns"));
    for (int unused = 0; unused < 4; ++unused) number<int32_t>();  // ws, epoch, minCount, neg
    model_.word_grams = static_cast<uint32_t>(between(0, 16, "words of an n-gram"));
    model_.loss = static_cast<FastTextLoss>(between(1, 4, "as its loss"));
    const auto kind = number<int32_t>();
    if (kind != kSupervised) {
      fail(ExitCode::kUnsupported,
           "{}: is a fastText model of words, not of texts (fasttext supervised); for vectors of its words name a "
           "directory with its .vec file",
           name_);
    }
    model_.buckets = static_cast<uint32_t>(between(0, kMostBuckets, "buckets"));
    model_.min_gram = static_cast<uint32_t>(between(0, 64, "letters of the shortest n-gram"));
    model_.max_gram = static_cast<uint32_t>(between(0, 64, "letters of the longest n-gram"));
    number<int32_t>();  // lrUpdateRate
    number<double>();   // t
    // In that version, classifiers had no character n-grams; a maximum below the minimum disables them.
    if (version == kLastWithoutGrams || model_.max_gram < std::max(model_.min_gram, 1U)) model_.max_gram = 0;
    if (model_.max_gram != 0) model_.min_gram = std::max(model_.min_gram, 1U);
    if (model_.max_gram == 0) model_.min_gram = 0;
  }

  void dictionary() {
    const int32_t all = between(0, kMostWordsOfFile + kMostLabels, "words");
    const int32_t words = between(0, kMostWordsOfFile, "words of texts");
    const int32_t labels = between(1, kMostLabels, "labels");
    if (words + labels != all) broken(fmt::format("says {} words and {} labels, together {}", words, labels, all));
    number<int64_t>();  // tokens of the training data
    const auto pruned = number<int64_t>();
    if (pruned < -1 || pruned > static_cast<int64_t>(kMostTableRows)) broken(fmt::format("says {} n-grams", pruned));
    for (int32_t i = 0; i < all; ++i) entry(i, i < words);
    model_.all_grams = pruned < 0;
    for (int64_t i = 0; i < pruned; ++i) {
      const auto bucket = number<int32_t>();
      const auto row = number<int32_t>();
      if (bucket < 0 || static_cast<uint32_t>(bucket) >= model_.buckets || row < 0 || row >= pruned) {
        broken(fmt::format("has n-gram {} of bucket {} in row {}", i, bucket, row));
      }
      kept_.emplace_back(static_cast<uint32_t>(bucket), static_cast<uint32_t>(row));
    }
  }

  void entry(int32_t index, bool is_word) {
    std::string text;
    for (auto c = number<char>(); c != '\0'; c = number<char>()) {
      if (text.size() == kMostTextOfWord) broken(fmt::format("word {} has more than {} bytes", index, text.size()));
      text.push_back(c);
    }
    const auto count = number<int64_t>();
    const auto type = number<int8_t>();
    if (text.empty() || count < 0 || type != (is_word ? 0 : 1)) {
      broken(fmt::format("entry {} of the dictionary is no {}", index, is_word ? "word" : "label"));
    }
    if (!seen_.insert(text).second) broken(fmt::format("entry {} of the dictionary stands there twice", index));
    if (is_word) {
      model_.words.push_back(std::move(text));
      return;
    }
    model_.labels.push_back(std::move(text));
    model_.label_counts.push_back(static_cast<uint64_t>(count));
  }

  /// Reads the dimensions of a matrix whose numbers or codes follow.
  MemoryTensor shaped() {
    const auto rows = number<int64_t>(), columns = number<int64_t>();
    if (rows <= 0 || columns != static_cast<int64_t>(model_.width) || rows > static_cast<int64_t>(kMostTableRows) ||
        static_cast<uint64_t>(rows) * model_.width > kMostFloats) {
      broken(fmt::format("has a matrix of {} rows of {} numbers, whose columns are not {}, or which is too large", rows,
                         columns, model_.width));
    }
    return {{static_cast<uint64_t>(rows), model_.width}, {}};
  }

  void check_finite(const std::vector<float>& values) const {
    const auto bad = std::find_if(values.begin(), values.end(), [](float value) { return !std::isfinite(value); });
    if (bad != values.end()) {
      fail(ExitCode::kInvalid, "{}: row {} of a matrix has no finite number; train the model again", name_,
           static_cast<uint64_t>(bad - values.begin()) / model_.width);
    }
  }

  std::vector<float> floats(uint64_t count) {
    if (count > left_ / sizeof(float)) broken(fmt::format("has no room for {} numbers", count));
    std::vector<float> values(in_memory(count, sizeof(float)));
    bytes(values.data(), count * sizeof(float));
    return values;
  }

  MemoryTensor matrix() {
    MemoryTensor out = shaped();
    out.values = floats(out.shape[0] * model_.width);
    check_finite(out.values);
    return out;
  }

  std::vector<uint8_t> codes(uint64_t count) {
    if (count > left_) broken(fmt::format("has no room for {} codes", count));
    std::vector<uint8_t> out(in_memory(count));
    bytes(out.data(), count);
    return out;
  }

  /// Product quantization: a row is split into parts, and each part is one of 256 centroids.
  struct Quantizer {
    uint64_t parts = 0, part = 0, last = 0;  // widths of a part, and of the last one
    std::vector<float> centroids;
  };

  Quantizer quantizer(uint64_t columns) {
    const auto width = number<int32_t>(), parts = number<int32_t>(), part = number<int32_t>(), last = number<int32_t>();
    if (width != static_cast<int32_t>(columns) || parts <= 0 || part <= 0 || last <= 0 || last > part ||
        int64_t{parts - 1} * part + last != width) {
      broken(fmt::format("quantizes {} columns in {} parts of {}, the last of {}", width, parts, part, last));
    }
    Quantizer out{static_cast<uint64_t>(parts), static_cast<uint64_t>(part), static_cast<uint64_t>(last), {}};
    out.centroids = floats(columns * kCentroids);
    return out;
  }

  MemoryTensor quantized_matrix() {
    const bool normed = flag();
    MemoryTensor out = shaped();
    const uint64_t rows = out.shape[0];
    const auto size = number<int32_t>();
    if (size < 0) broken(fmt::format("says {} codes", size));
    const std::vector<uint8_t> code = codes(static_cast<uint64_t>(size));
    const Quantizer vectors = quantizer(model_.width);
    if (code.size() != rows * vectors.parts) broken(fmt::format("has {} codes of {} rows", code.size(), rows));
    // Usual models have one code per two columns, which is 4 bits per number; numbers count as f32.
    budget_.add_source(code.size() * (2 * sizeof(float) - 1));
    budget_.take(rows, model_.width * sizeof(float), "the matrix that its codes stand for");
    std::vector<uint8_t> norm;
    Quantizer lengths;
    if (normed) {
      norm = codes(rows);
      lengths = quantizer(1);
    }
    out.values.resize(in_memory(rows * model_.width, sizeof(float)));
    for (size_t row = 0; row < rows; ++row) {
      const float length = normed ? lengths.centroids[norm[row]] : 1.0F;
      float* to = out.values.data() + row * model_.width;
      for (uint64_t part = 0; part < vectors.parts; ++part) {
        const uint64_t columns = part + 1 == vectors.parts ? vectors.last : vectors.part;
        const float* from = vectors.centroids.data() + part * kCentroids * vectors.part +
                            code[static_cast<size_t>(row * vectors.parts + part)] * columns;
        for (uint64_t i = 0; i < columns; ++i) to[part * vectors.part + i] = length * from[i];
      }
    }
    check_finite(out.values);
    return out;
  }

  void check_shapes() {
    const uint64_t grams = model_.all_grams ? model_.buckets : kept_.size();
    if (model_.table.shape[0] != model_.words.size() + grams) {
      broken(fmt::format("has {} rows of {} words and {} n-grams", model_.table.shape[0], model_.words.size(), grams));
    }
    if (model_.output.shape[0] != model_.labels.size()) {
      broken(fmt::format("has {} rows of {} labels", model_.output.shape[0], model_.labels.size()));
    }
  }

  /// Sorts the rows of the kept n-grams by their numbers.
  void sort_grams() {
    if (model_.all_grams) return;
    std::sort(kept_.begin(), kept_.end());
    const uint64_t width = model_.width, begin = model_.words.size();
    budget_.take(kept_.size(), width * sizeof(float), "the rows of its n-grams");
    const std::vector<float> before(model_.table.values.begin() + static_cast<ptrdiff_t>(begin * width),
                                    model_.table.values.end());
    for (size_t i = 0; i < kept_.size(); ++i) {
      if (i > 0 && kept_[i].first == kept_[i - 1].first) broken(fmt::format("has bucket {} twice", kept_[i].first));
      model_.grams.push_back(kept_[i].first);
      std::copy_n(before.begin() + static_cast<ptrdiff_t>(kept_[i].second * width), static_cast<size_t>(width),
                  model_.table.values.begin() + static_cast<ptrdiff_t>((begin + i) * width));
    }
    budget_.give_back(before.size() * sizeof(float));
  }

  void strip_labels() {
    const auto has = [](const std::string& label) {
      return label.size() > kLabel.size() && label.compare(0, kLabel.size(), kLabel) == 0;
    };
    if (!std::all_of(model_.labels.begin(), model_.labels.end(), has)) return;
    for (std::string& label : model_.labels) label.erase(0, kLabel.size());
  }

  std::istream& in_;
  uint64_t left_;
  std::string name_;
  MemoryBudget budget_;
  FastTextModel model_;
  std::set<std::string> seen_;
  std::vector<std::pair<uint32_t, uint32_t>> kept_;  // bucket, row after the words
};

}  // namespace

FastTextModel read_fasttext(std::istream& in, uint64_t size, const std::string& name) {
  return FastTextReader(in, size, name).read();
}

std::vector<int32_t> fasttext_tree(const std::vector<uint64_t>& counts) {
  const auto labels = static_cast<int64_t>(counts.size());
  std::vector<int32_t> tree;
  // The counts of inner nodes ascend, and so do those of labels from the last one backwards: the two smallest are at
  // the front of either list.
  constexpr uint64_t kNotYet = 1000000000000000;
  std::vector<uint64_t> inner(static_cast<size_t>(labels - 1), kNotYet);
  int64_t leaf = labels - 1, node = 0;
  for (int64_t next = 0; next + 1 < labels; ++next) {
    uint64_t sum = 0;
    for (int side = 0; side < 2; ++side) {
      const bool is_leaf = leaf >= 0 && counts[static_cast<size_t>(leaf)] < inner[static_cast<size_t>(node)];
      if (!is_leaf && node >= next) {  // a count above kNotYet, which no training data has
        fail(ExitCode::kInvalid, "a label's count of {} is not a count",
             leaf < 0 ? 0 : counts[static_cast<size_t>(leaf)]);
      }
      sum += is_leaf ? counts[static_cast<size_t>(leaf)] : inner[static_cast<size_t>(node)];
      tree.push_back(static_cast<int32_t>(is_leaf ? leaf-- : labels + node++));
    }
    inner[static_cast<size_t>(next)] = sum;
  }
  return tree;
}

}  // namespace bantam::convert
