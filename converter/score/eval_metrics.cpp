#include "score/eval_metrics.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <map>
#include <numeric>
#include <sstream>

#include "tasks/entities.h"

namespace bantam::convert {
namespace {

/// Counts of correct predictions, and of each label in the data and in the predictions.
struct LabelCounts {
  double correct = 0;
  double gold = 0;
  double predicted = 0;
};

std::vector<double> ranks(const std::vector<float>& values) {
  std::vector<size_t> order(values.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) { return values[a] < values[b]; });
  std::vector<double> result(values.size());
  for (size_t begin = 0; begin < order.size();) {
    size_t end = begin + 1;
    while (end < order.size() && !(values[order[begin]] < values[order[end]])) ++end;
    for (size_t i = begin; i < end; ++i) result[order[i]] = static_cast<double>(begin + end - 1) / 2;
    begin = end;
  }
  return result;
}

double correlation(const std::vector<double>& a, const std::vector<double>& b) {
  const auto n = static_cast<double>(a.size());
  if (a.empty()) return 0;
  const double mean_a = std::accumulate(a.begin(), a.end(), 0.0) / n;
  const double mean_b = std::accumulate(b.begin(), b.end(), 0.0) / n;
  double ab = 0;
  double aa = 0;
  double bb = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    ab += (a[i] - mean_a) * (b[i] - mean_b);
    aa += (a[i] - mean_a) * (a[i] - mean_a);
    bb += (b[i] - mean_b) * (b[i] - mean_b);
  }
  return aa > 0 && bb > 0 ? ab / std::sqrt(aa * bb) : 0;
}

std::vector<std::string> words_of(const std::string& text) {
  std::istringstream stream(text);
  std::vector<std::string> words;
  for (std::string word; stream >> word;) words.push_back(word);
  return words;
}

double word_f1(const std::string& gold, const std::string& predicted) {
  const std::vector<std::string> a = words_of(normalize_answer(gold));
  const std::vector<std::string> b = words_of(normalize_answer(predicted));
  if (a.empty() || b.empty()) return a.empty() && b.empty() ? 1 : 0;
  std::map<std::string, int> left;
  for (const std::string& word : a) ++left[word];
  double common = 0;
  for (const std::string& word : b) {
    if (left[word]-- > 0) ++common;
  }
  return 2 * common / static_cast<double>(a.size() + b.size());
}

/// Returns whether the tags have prefixes or are plain labels.
fb::TagScheme scheme_of(const std::vector<std::string>& tags) {
  for (const std::string& tag : tags) {
    if (tag != "O" && (tag.size() < 2 || tag[1] != '-')) return fb::TagScheme::plain;
  }
  return fb::TagScheme::bioes;
}

}  // namespace

LabelMetrics label_metrics(const std::vector<std::string>& gold, const std::vector<std::string>& predicted) {
  std::map<std::string, LabelCounts> labels;
  double correct = 0;
  for (size_t i = 0; i < gold.size(); ++i) {
    labels[gold[i]].gold += 1;
    labels[predicted[i]].predicted += 1;
    if (gold[i] != predicted[i]) continue;
    labels[gold[i]].correct += 1;
    correct += 1;
  }
  LabelMetrics metrics;
  const auto n = static_cast<double>(gold.size());
  if (gold.empty()) return metrics;
  metrics.accuracy = correct / n;
  double products = 0;
  double gold_squares = 0;
  double predicted_squares = 0;
  for (const auto& [name, counts] : labels) {
    metrics.macro_f1 += 2 * counts.correct / (counts.gold + counts.predicted) / static_cast<double>(labels.size());
    products += counts.gold * counts.predicted;
    gold_squares += counts.gold * counts.gold;
    predicted_squares += counts.predicted * counts.predicted;
  }
  const double spread = (n * n - gold_squares) * (n * n - predicted_squares);
  metrics.matthews = spread > 0 ? (correct * n - products) / std::sqrt(spread) : 0;
  return metrics;
}

float dot(const std::vector<float>& a, const std::vector<float>& b) {
  double sum = 0;
  for (size_t i = 0; i < std::min(a.size(), b.size()); ++i)
    sum += static_cast<double>(a[i]) * static_cast<double>(b[i]);
  return static_cast<float>(sum);
}

float cosine(const std::vector<float>& a, const std::vector<float>& b) {
  double dot = 0;
  double aa = 0;
  double bb = 0;
  for (size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
    dot += static_cast<double>(a[i]) * static_cast<double>(b[i]);
    aa += static_cast<double>(a[i]) * static_cast<double>(a[i]);
    bb += static_cast<double>(b[i]) * static_cast<double>(b[i]);
  }
  return aa > 0 && bb > 0 ? static_cast<float>(dot / std::sqrt(aa * bb)) : 0.0f;
}

double pearson(const std::vector<float>& a, const std::vector<float>& b) {
  return correlation({a.begin(), a.end()}, {b.begin(), b.end()});
}

double spearman(const std::vector<float>& a, const std::vector<float>& b) { return correlation(ranks(a), ranks(b)); }

std::vector<TagSpan> tag_spans(const std::vector<std::string>& tags, bool strict) {
  const fb::TagScheme scheme = scheme_of(tags);
  std::vector<TagSpan> spans;
  const auto put = [&](const Entity& entity) {
    const char first = tags[entity.span.begin][0];
    if (strict && scheme != fb::TagScheme::plain && (first == 'I' || first == 'E' || first == 'L')) return;
    spans.push_back({std::string(entity.name.data, entity.name.size), entity.span.begin, entity.span.end});
  };
  tasks::EntityDecoder decoder;
  Entity done;
  for (uint32_t i = 0; i < tags.size(); ++i) {
    const tasks::Tag tag = tasks::parse_tag({tags[i].data(), tags[i].size()}, scheme);
    if (decoder.push({i, i + 1}, tag, {}, &done)) put(done);
  }
  if (decoder.finish(&done)) put(done);
  return spans;
}

void EntityMetrics::add(const std::vector<std::string>& gold_tags, const std::vector<std::string>& predicted_tags) {
  const std::vector<TagSpan> wanted = tag_spans(gold_tags, strict);
  const std::vector<TagSpan> found = tag_spans(predicted_tags, strict);
  gold += wanted.size();
  predicted += found.size();
  for (const TagSpan& span : found) correct += std::find(wanted.begin(), wanted.end(), span) != wanted.end() ? 1u : 0u;
}

double EntityMetrics::f1() const {
  const uint64_t both = predicted + gold;
  return both == 0 ? 0 : 2 * static_cast<double>(correct) / static_cast<double>(both);
}

std::string normalize_answer(const std::string& text) {
  std::string plain;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= 0x80 || std::ispunct(byte) == 0) plain += byte < 0x80 ? static_cast<char>(std::tolower(byte)) : c;
  }
  std::string result;
  for (const std::string& word : words_of(plain)) {
    if (word == "a" || word == "an" || word == "the") continue;
    result += (result.empty() ? "" : " ") + word;
  }
  return result;
}

double exact_match(const std::vector<std::string>& gold, const std::string& predicted) {
  if (gold.empty()) return predicted.empty() ? 1 : 0;
  const std::string found = normalize_answer(predicted);
  return std::any_of(gold.begin(), gold.end(),
                     [&](const std::string& answer) { return normalize_answer(answer) == found; })
             ? 1
             : 0;
}

double answer_f1(const std::vector<std::string>& gold, const std::string& predicted) {
  if (gold.empty()) return predicted.empty() ? 1 : 0;
  double best = 0;
  for (const std::string& answer : gold) best = std::max(best, word_f1(answer, predicted));
  return best;
}

}  // namespace bantam::convert
