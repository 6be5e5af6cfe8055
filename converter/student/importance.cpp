#include "student/importance.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>

#include "calibrate/ranges.h"
#include "data/texts.h"
#include "import/hugging_face.h"
#include "pack/build.h"
#include "quantize/static.h"
#include "score/compare.h"

namespace bantam::convert {
namespace {

/// Sums of an activation over tokens.
struct Sums {
  double rows = 0;
  std::vector<double> sum, square;
  /// [columns / block][block][block]: products of columns within a block; empty: not needed.
  std::vector<double> products;
  size_t block = 0;

  void add(const OutputRows& in) {
    sum.resize(in.width);
    square.resize(in.width);
    if (block != 0) products.resize(size_t{in.width} * block);
    rows += in.rows;
    for (uint32_t r = 0; r < in.rows; ++r) {
      const float* x = in.row(r);
      for (size_t i = 0; i < in.width; ++i) {
        const double value = x[i];
        sum[i] += value;
        square[i] += value * value;
        for (size_t k = 0; k < block; ++k) products[i * block + k] += value * double{x[i / block * block + k]};
      }
    }
  }
  double mean(size_t column) const { return sum[column] / rows; }
  double variance(size_t column) const { return std::max(0.0, square[column] / rows - mean(column) * mean(column)); }
  double mean_square() const { return std::accumulate(square.begin(), square.end(), 0.0) / rows; }
};

std::vector<Sample> encode_all(Runner& runner, const std::vector<std::string>& texts) {
  std::vector<Sample> samples;
  samples.reserve(texts.size());
  for (const std::string& text : texts) samples.push_back(runner.encode(text));
  return samples;
}

/// Returns the dot products [n][n] of n rows of a weight from `begin` on.
std::vector<double> row_products(const MemoryTensor& weight, size_t begin, size_t n) {
  const size_t width = static_cast<size_t>(weight.shape[1]);
  std::vector<double> products(n * n);
  for (size_t i = 0; i < n; ++i) {
    const float* a = weight.values.data() + (begin + i) * width;
    for (size_t k = 0; k < n; ++k) {
      const float* b = weight.values.data() + (begin + k) * width;
      for (size_t c = 0; c < width; ++c) products[i * n + k] += double{a[c]} * double{b[c]};
    }
  }
  return products;
}
std::vector<double> column_products(const MemoryTensor& weight, size_t begin, size_t n) {
  const size_t width = static_cast<size_t>(weight.shape[1]);
  std::vector<double> products(n * n);
  for (size_t at = begin; at < weight.values.size(); at += width) {
    const float* row = weight.values.data() + at;
    for (size_t i = 0; i < n; ++i) {
      for (size_t k = 0; k < n; ++k) products[i * n + k] += double{row[i]} * double{row[k]};
    }
  }
  return products;
}

/// Returns the sum of squares of column `column` of a weight.
double column_square(const MemoryTensor& weight, size_t column) {
  double sum = 0;
  const size_t width = static_cast<size_t>(weight.shape[1]);
  for (size_t at = column; at < weight.values.size(); at += width)
    sum += double{weight.values[at]} * double{weight.values[at]};
  return sum;
}

/// Returns E |W (c - E c)|^2 for the columns [begin, begin + n) of W, from E c c^t.
double block_energy(const MemoryTensor& weight, const Sums& context, size_t begin, size_t n) {
  const std::vector<double> gram = column_products(weight, begin, n);
  double sum = 0;
  for (size_t i = 0; i < n; ++i) {
    for (size_t k = 0; k < n; ++k) {
      const double product = context.products[(begin + i) * n + k] / context.rows;
      sum += gram[i * n + k] * (product - context.mean(begin + i) * context.mean(begin + k));
    }
  }
  return std::max(0.0, sum);
}

std::vector<double> means(const Sums& sums) {
  std::vector<double> out;
  for (size_t i = 0; i < sums.sum.size(); ++i) out.push_back(sums.mean(i));
  return out;
}

/// Returns the suffix of the names of the activations that are the residual stream. If norms follow the residual sums,
/// the outputs of the norms have the layers' own names.
const char* sum_suffix(const Draft& draft) { return draft.family().block.norm_first ? "" : ".sum"; }

LayerImportance layer_importance(const Draft& draft, uint32_t layer, const std::map<std::string, Sums>& sums) {
  const auto of = [&](Slot slot, const char* suffix = "") -> const Sums& {
    return sums.at(graph_name(draft.config(), layer, slot) + suffix);
  };
  const uint32_t heads = draft.config().widths.heads[layer];
  const size_t width = draft.config().head_width;
  const bool by_heads = draft.family().why_heads_stay() == nullptr;
  const MemoryTensor& down = draft.weight(layer, Slot::kDown);
  const Sums& context = of(Slot::kAttention);
  const Sums& wide = of(Slot::kUp);
  const Sums& qkv = of(Slot::kQkv);
  const char* sum = sum_suffix(draft);
  const double attention_sum = std::max(of(Slot::kAttentionOut, sum).mean_square(), 1e-30);
  const double ffn_sum = std::max(of(Slot::kDown, sum).mean_square(), 1e-30);
  LayerImportance found;
  for (size_t head = 0; by_heads && head < heads; ++head) {
    const MemoryTensor& out = draft.weight(layer, Slot::kAttentionOut);
    found.heads.push_back(block_energy(out, context, head * width, width) / attention_sum);
    for (size_t i = head * width; i < (head + 1) * width; ++i) {
      found.scores.push_back(qkv.square[i] / qkv.rows * (qkv.square[heads * width + i] / qkv.rows));
      found.values.push_back(context.variance(i) * column_square(out, i) / attention_sum);
    }
  }
  for (size_t i = 0; i < wide.square.size(); ++i) {
    found.ffn.push_back(wide.variance(i) * column_square(down, i) / ffn_sum);
  }
  found.value_mean = means(context);
  found.ffn_mean = means(wide);
  return found;
}

FileBytes exact_build(const Draft& draft) {
  TypeOptions exact;
  exact.weights = fb::DType::f32;
  return build(import_source(draft.source()), exact);
}

}  // namespace

Importance measure_importance(const Draft& draft, const Probe& probe) {
  const Graph graph = unfuse(import_source(draft.source()));
  std::map<std::string, Sums> sums;
  const Family& family = draft.family();
  const char* first = draft.config().projects ? family.name(Slot::kEmbeddingProjection) : "embeddings";
  std::vector<std::string> norms = {fmt::format("{}.{}", family.base, first)};
  for (uint32_t i = 0; i < draft.config().layers; ++i) {
    sums[graph_name(draft.config(), i, Slot::kQkv)];
    sums[graph_name(draft.config(), i, Slot::kAttention)].block = draft.config().head_width;
    sums[graph_name(draft.config(), i, Slot::kUp)];
    for (const Slot slot : {Slot::kAttentionOut, Slot::kDown}) {
      const std::string name = graph_name(draft.config(), i, slot);
      if (!family.block.norm_first) norms.push_back(name);
      sums[name + sum_suffix(draft)];
    }
    if (!family.block.norm_first) continue;
    if (i != 0) norms.push_back(graph_name(draft.config(), i, Slot::kAttentionNorm));
    norms.push_back(graph_name(draft.config(), i, Slot::kDownNorm));
  }
  for (const std::string& norm : norms) sums[norm];
  std::vector<std::string> wanted;
  wanted.reserve(sums.size());
  for (const auto& [name, unused] : sums) wanted.push_back(name);
  visit_activations(
      graph, wanted, probe.max_tokens, [&](Runner& runner) { return encode_all(runner, probe.texts); },
      [&](const std::string& name, const OutputRows& rows) { sums.at(name).add(rows); },
      [&](double done) { probe.progress("measuring importance", done); });
  Importance found;
  found.hidden.assign(draft.config().hidden, 0);
  for (const std::string& norm : norms) {
    for (size_t i = 0; i < found.hidden.size(); ++i) found.hidden[i] += sums.at(norm).square[i] / sums.at(norm).rows;
  }
  for (uint32_t i = 0; i < draft.config().layers; ++i) found.layers.push_back(layer_importance(draft, i, sums));
  return found;
}

Importance weight_importance(const Draft& draft) {
  const size_t width = draft.config().head_width;
  Importance found;
  for (uint32_t layer = 0; layer < draft.config().layers; ++layer) {
    const auto weight = [&](Slot slot) -> const MemoryTensor& { return draft.weight(layer, slot); };
    LayerImportance units;
    const uint32_t heads = draft.family().why_heads_stay() == nullptr ? draft.config().widths.heads[layer] : 0;
    for (size_t head = 0; head < heads; ++head) {
      const std::vector<double> in = row_products(weight(Slot::kValue), head * width, width);
      const std::vector<double> out = column_products(weight(Slot::kAttentionOut), head * width, width);
      units.heads.push_back(std::max(0.0, std::inner_product(in.begin(), in.end(), out.begin(), 0.0)));
    }
    for (size_t i = 0; i < draft.config().widths.intermediate[layer]; ++i) {
      units.ffn.push_back(row_products(weight(Slot::kUp), i, 1).front() * column_square(weight(Slot::kDown), i));
      if (draft.family().has(Slot::kGate)) units.ffn.back() *= row_products(weight(Slot::kGate), i, 1).front();
    }
    found.layers.push_back(std::move(units));
  }
  return found;
}

Probe make_probe(const Draft& draft, const char* option, const std::filesystem::path& file) {
  // The largest number of texts to run, evenly spaced over the file.
  constexpr size_t kTexts = 512;
  constexpr uint32_t kTokens = 128;
  Probe probe;
  probe.texts = file.empty() ? calibration_texts() : spread(read_texts(option, file), kTexts);
  probe.max_tokens = std::min(kTokens, draft.config().positions);
  probe.progress = [](const char*, double) {};
  return probe;
}

Indices important_layers(const Draft& draft, uint32_t count, const Probe& probe) {
  Indices kept(draft.config().layers);
  std::iota(kept.begin(), kept.end(), 0U);
  const Graph graph = import_source(draft.source());
  const FileBytes whole = exact_build(draft);
  Runner reference(whole, probe.max_tokens);
  const std::vector<Sample> samples = encode_all(reference, probe.texts);
  std::vector<std::vector<OutputRows>> expected;
  expected.reserve(samples.size());
  for (const Sample& sample : samples) expected.push_back(reference.run(sample));
  const double all = draft.config().layers;
  while (kept.size() > count) {
    size_t least = 0;
    double least_divergence = 0;
    for (size_t i = 0; i < kept.size(); ++i) {
      probe.progress("choosing layers", (all - static_cast<double>(kept.size() - i)) / all);
      Indices without = kept;
      without.erase(without.begin() + static_cast<std::ptrdiff_t>(i));
      Draft candidate = draft;
      candidate.keep_layers(without);
      const FileBytes bytes = exact_build(candidate);
      Runner runner(bytes, probe.max_tokens);
      Comparer comparer(graph.model, "the teacher");
      for (size_t s = 0; s < samples.size(); ++s) comparer.add(samples[s], expected[s], runner.run(samples[s]));
      const double divergence = comparer.result().divergence();
      if (i != 0 && divergence >= least_divergence) continue;
      least = i;
      least_divergence = divergence;
    }
    kept.erase(kept.begin() + static_cast<std::ptrdiff_t>(least));
  }
  return kept;
}

Indices largest(const std::vector<double>& values, size_t count) {
  Indices order(values.size());
  std::iota(order.begin(), order.end(), 0U);
  std::stable_sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) { return values[a] > values[b]; });
  order.resize(std::min(count, order.size()));
  std::sort(order.begin(), order.end());
  return order;
}

}  // namespace bantam::convert
