#include "tests/session/bert.h"

#include <algorithm>
#include <cmath>
#include <random>

namespace bantam::testing {
namespace {

using Matrix = std::vector<double>;

std::vector<float> normal(std::mt19937& random, size_t n, float deviation, float mean = 0) {
  std::normal_distribution<float> distribution(mean, deviation);
  std::vector<float> values(n);
  for (float& v : values) v = distribution(random);
  return values;
}

double activate(double x, fb::ActivationKind kind) {
  switch (kind) {
    case fb::ActivationKind::relu:
      return std::max(x, 0.0);
    case fb::ActivationKind::gelu:
      return 0.5 * x * (1 + std::erf(x / std::sqrt(2.0)));
    case fb::ActivationKind::gelu_tanh:
      return 0.5 * x * (1 + std::tanh(std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x)));
    case fb::ActivationKind::tanh:
      return std::tanh(x);
    default:
      return x;
  }
}

Matrix linear(const Matrix& x, size_t rows, const std::vector<float>& w, const std::vector<float>& bias,
              fb::ActivationKind kind = fb::ActivationKind::none) {
  const size_t n = bias.size();
  const size_t k = w.size() / n;
  Matrix y(rows * n);
  for (size_t r = 0; r < rows; ++r) {
    for (size_t i = 0; i < n; ++i) {
      double sum = bias[i];
      for (size_t j = 0; j < k; ++j) sum += x[r * k + j] * double{w[i * k + j]};
      y[r * n + i] = activate(sum, kind);
    }
  }
  return y;
}

void normalize(Matrix* x, size_t rows, const std::vector<float>& gamma, const std::vector<float>& beta) {
  const size_t width = gamma.size();
  for (size_t r = 0; r < rows; ++r) {
    double* row = x->data() + r * width;
    double mean = 0, variance = 0;
    for (size_t i = 0; i < width; ++i) mean += row[i] / static_cast<double>(width);
    for (size_t i = 0; i < width; ++i) variance += (row[i] - mean) * (row[i] - mean) / static_cast<double>(width);
    for (size_t i = 0; i < width; ++i)
      row[i] = (row[i] - mean) / std::sqrt(variance + 1e-12) * double{gamma[i]} + double{beta[i]};
  }
}

void add(Matrix* x, const Matrix& y) {
  for (size_t i = 0; i < x->size(); ++i) (*x)[i] += y[i];
}

/// Rotates queries and keys by the angles of their positions.
void rotate(Matrix* qkv, const Bert& bert, const std::vector<uint32_t>& offsets) {
  const BertShape& s = bert.shape;
  const size_t head = s.hidden / s.heads;
  for (size_t sequence = 0; sequence + 1 < offsets.size(); ++sequence) {
    for (size_t row = offsets[sequence]; row < offsets[sequence + 1]; ++row) {
      const float* angles = bert.rotary.data() + (row - offsets[sequence]) * 2 * s.angles;
      for (size_t h = 0; h < 2 * size_t{s.heads}; ++h) {
        double* x = qkv->data() + row * 3 * s.hidden + h * head;
        for (size_t i = 0; i < s.angles; ++i) {
          const double low = x[i], high = x[s.angles + i];
          const double cosine = double{angles[i]}, sine = double{angles[s.angles + i]};
          x[i] = low * cosine - high * sine;
          x[s.angles + i] = high * cosine + low * sine;
        }
      }
    }
  }
}

/// Returns the bias of the score of key j and query i; minus infinity if the key is masked.
double bias(const Bert& bert, size_t h, int64_t i, int64_t j) {
  const BertShape& s = bert.shape;
  const bool causal = s.mask == fb::MaskKind::causal || s.mask == fb::MaskKind::causal_window;
  const bool window =
      s.mask == fb::MaskKind::window || s.mask == fb::MaskKind::causal_window || s.mask == fb::MaskKind::window_fillers;
  if ((causal && j > i) || (window && std::abs(j - i) > int64_t{s.window})) return -INFINITY;
  double sum = 0;
  if (s.distances != 0) {
    const int64_t most = int64_t{s.distances} - 1;
    const int64_t element = std::clamp(j - i, -most, most) + most;
    sum += double{bert.biases[h * (2 * s.distances - 1) + static_cast<size_t>(element)]};
  }
  if (s.slopes) sum -= double{bert.slopes[h]} * static_cast<double>(std::abs(j - i));
  return sum;
}

/// Returns true if token i of a text is global.
bool is_global(const BertShape& s, const std::vector<int32_t>& text, size_t i) {
  if (s.globals == fb::GlobalTokens::first) return i == 0;
  const auto found = std::find(text.begin(), text.end(), s.separator);
  const auto separator = static_cast<size_t>(found - text.begin());
  if (s.globals == fb::GlobalTokens::none || found == text.end()) return false;
  return s.globals == fb::GlobalTokens::before ? i < separator : i > separator + 1;
}

/// Returns how often query i of a text sees key j in a mask of globals or blocks.
size_t times_seen(const Bert& bert, const std::vector<int32_t>& text, size_t h, size_t i, size_t j) {
  const BertShape& s = bert.shape;
  if (s.mask == fb::MaskKind::globals) {
    const size_t apart = i > j ? i - j : j - i;
    const bool near = apart <= size_t{s.window} * s.dilation && apart % s.dilation == 0;
    return near || is_global(s, text, j) ? 1 : 0;
  }
  if (s.mask != fb::MaskKind::blocks || text.size() <= s.full_until) return 1;
  const size_t own = i / s.block, other = j / s.block, last = (text.size() - 1) / s.block;
  if (own == 0 || own == last) return 1;
  size_t times = other == 0 || other == last || (other + 1 >= own && other <= own + 1) ? 1 : 0;
  const size_t blocks = (s.positions + s.block - 1) / s.block;
  const size_t row = (s.blocks_by_head ? h * blocks : 0) + own;
  for (size_t k = 0; k < s.random; ++k) {
    times += bert.random_blocks[row * s.random + k] == static_cast<int32_t>(other) ? size_t{1} : size_t{0};
  }
  return times;
}

/// Returns the position scores of key j and query i, whose columns of head h begin at q and k.
double place_score(const Bert& bert, size_t h, int64_t i, int64_t j, const double* q, const double* k) {
  const BertShape& s = bert.shape;
  if (s.placed == 0) return 0;
  const size_t width = s.hidden / s.heads;
  const auto most = static_cast<int64_t>(s.placed);
  const auto place = static_cast<size_t>(bert.place_rows[static_cast<size_t>(std::clamp(j - i, -most, most) + most)]);
  double sum = 0;
  const size_t first = (s.shared_places ? 0 : h) * kPlaces;
  for (size_t d = 0; d < width; ++d) {
    sum += q[d] * double{bert.place_keys[(first + place) * width + d]};
    sum += k[d] * double{bert.place_queries[(first + place) * width + d]};
  }
  return sum;
}

/// Returns the score that is added if query and key belong to different segments.
double segment_score(const Bert& bert, size_t h, const double* q) {
  const size_t width = bert.shape.hidden / bert.shape.heads;
  const float* row = bert.segment_keys.data() + h * (width + 1);
  double sum = double{row[width]};
  for (size_t d = 0; d < width; ++d) sum += q[d] * double{row[d]};
  return sum;
}

/// Returns each row between its neighbors.
Matrix unfold(const Matrix& x, const BertShape& s, const std::vector<uint32_t>& offsets) {
  const size_t width = s.hidden;
  Matrix y;
  for (size_t sequence = 0; sequence + 1 < offsets.size(); ++sequence) {
    const auto begin = static_cast<int64_t>(offsets[sequence]), end = static_cast<int64_t>(offsets[sequence + 1]);
    for (int64_t row = begin; row < end; ++row) {
      for (int64_t at = row - int64_t{s.before}; at <= row + int64_t{s.after}; ++at) {
        const bool inside = at >= begin && at < end;
        for (size_t i = 0; i < width; ++i) y.push_back(inside ? x[static_cast<size_t>(at) * width + i] : 0);
      }
    }
  }
  return y;
}

void norm_heads(Matrix* qkv, size_t hidden, const std::vector<float>& table) {
  for (size_t row = 0; row < qkv->size() / (3 * hidden); ++row) {
    for (size_t part = 0; part < 2; ++part) {
      const auto begin = qkv->begin() + static_cast<ptrdiff_t>((3 * row + part) * hidden);
      Matrix x(begin, begin + static_cast<ptrdiff_t>(hidden));
      const auto gamma = table.begin() + static_cast<ptrdiff_t>(2 * part * (table.size() / 4));
      const auto beta = gamma + static_cast<ptrdiff_t>(table.size() / 4);
      const auto count = static_cast<ptrdiff_t>(hidden);
      normalize(&x, 1, {gamma, gamma + count}, {beta, beta + count});
      std::copy(x.begin(), x.end(), begin);
    }
  }
}

Matrix attend(Matrix qkv, const Bert& bert, const BertLayer& layer, const std::vector<uint32_t>& offsets,
              const std::vector<int32_t>& ids, const std::vector<int32_t>& segments) {
  const BertShape& s = bert.shape;
  if (s.head_norms && !s.norms_behind) norm_heads(&qkv, s.hidden, layer.head_norms);
  if (s.angles != 0) rotate(&qkv, bert, offsets);
  if (s.head_norms && s.norms_behind) norm_heads(&qkv, s.hidden, layer.head_norms);
  const size_t width = s.hidden, head = s.hidden / s.heads;
  Matrix y(offsets.back() * width);
  for (size_t sequence = 0; sequence + 1 < offsets.size(); ++sequence) {
    const size_t begin = offsets[sequence], end = offsets[sequence + 1];
    size_t keys = end;
    while (s.filler >= 0 && keys > begin + 1 && ids[keys - 1] == s.filler) --keys;
    const std::vector<int32_t> text(ids.begin() + static_cast<ptrdiff_t>(begin),
                                    ids.begin() + static_cast<ptrdiff_t>(end));
    for (size_t h = 0; h < s.heads; ++h) {
      for (size_t i = begin; i < end; ++i) {
        // The row of a global token is 0.
        if (s.mask == fb::MaskKind::globals && is_global(s, text, i - begin)) continue;
        std::vector<double> p;
        double sum = s.sinks ? std::exp(double{bert.sinks[h]}) : 0;
        for (size_t j = begin; j < keys; ++j) {
          double score = 0;
          for (size_t d = 0; d < head; ++d) {
            score += qkv[i * 3 * width + h * head + d] * qkv[j * 3 * width + width + h * head + d];
          }
          score = score / std::sqrt(static_cast<double>(head)) + bias(bert, h, int64_t(i), int64_t(j));
          const double* row = qkv.data() + h * head;
          score += place_score(bert, h, int64_t(i), int64_t(j), row + i * 3 * width, row + j * 3 * width + width);
          if (s.segment_keys && segments[i] != segments[j]) score += segment_score(bert, h, row + i * 3 * width);
          p.push_back(std::exp(score) * static_cast<double>(times_seen(bert, text, h, i - begin, j - begin)));
          sum += p.back();
        }
        for (size_t d = 0; d < head; ++d) {
          double value = 0;
          for (size_t j = begin; j < keys; ++j) value += p[j - begin] * qkv[j * 3 * width + 2 * width + h * head + d];
          y[i * width + h * head + d] = value / sum;
        }
      }
    }
  }
  return y;
}

void epilogue(fb::OpT& op, fb::ActivationKind activation, int32_t residual = -1, int32_t gamma = -1,
              int32_t beta = -1) {
  op.epilogue = std::make_unique<fb::EpilogueT>();
  op.epilogue->activation = activation;
  if (residual >= 0) op.epilogue->residual = name_input(op, residual);
  if (gamma < 0) return;
  op.epilogue->norm = fb::NormKind::layer;
  op.epilogue->gamma = name_input(op, gamma);
  op.epilogue->beta = name_input(op, beta);
}

}  // namespace

Bert random_bert(const BertShape& s, uint32_t seed) {
  std::mt19937 random(seed);
  const auto square = [&](uint32_t n, uint32_t k) {
    return normal(random, size_t{n} * k, 1.0f / std::sqrt(static_cast<float>(k)));
  };
  Bert b;
  b.shape = s;
  b.words = normal(random, size_t{s.vocabulary} * s.hidden, 1);
  b.places = normal(random, size_t{s.positions} * s.hidden, 0.5f);
  b.types = normal(random, size_t{s.segments} * s.hidden, 0.5f);
  b.norm = normal(random, s.hidden, 0.1f, 1);
  b.shift = normal(random, s.hidden, 0.1f);
  for (uint32_t i = 0; i < s.layers; ++i) {
    BertLayer l;
    l.qkv = square(3 * s.hidden, s.hidden);
    l.qkv_bias = normal(random, 3 * s.hidden, 0.1f);
    l.out = square(s.hidden, s.hidden);
    l.out_bias = normal(random, s.hidden, 0.1f);
    l.norm1 = normal(random, s.hidden, 0.1f, 1);
    l.shift1 = normal(random, s.hidden, 0.1f);
    l.up = square(s.ffn, s.hidden);
    l.up_bias = normal(random, s.ffn, 0.1f);
    l.down = square(s.hidden, s.ffn);
    l.down_bias = normal(random, s.hidden, 0.1f);
    l.norm2 = normal(random, s.hidden, 0.1f, 1);
    l.shift2 = normal(random, s.hidden, 0.1f);
    if (s.head_norms) l.head_norms = normal(random, size_t{4} * ((s.hidden + 15) / 16 * 16), 0.1f, 1);
    b.layers.push_back(std::move(l));
  }
  b.pool = square(s.hidden, s.hidden);
  b.pool_bias = normal(random, s.hidden, 0.1f);
  b.classify = square(s.labels, s.hidden);
  b.classify_bias = normal(random, s.labels, 0.1f);
  b.tag = square(s.tags, s.hidden * (s.before + 1 + s.after));
  b.tag_bias = normal(random, s.tags, 0.1f);
  if (s.distances != 0) b.biases = normal(random, size_t{s.heads} * (2 * s.distances - 1), 1);
  if (s.slopes) b.slopes = normal(random, s.heads, 0.02f, 0.1f);
  if (s.sinks) b.sinks = normal(random, s.heads, 1, 2);
  for (uint32_t place = 0; place < s.positions && s.angles != 0; ++place) {
    for (uint32_t i = 0; i < 2 * s.angles; ++i) {
      const float angle = static_cast<float>(place) * 0.4f / static_cast<float>(1 + i % s.angles);
      b.rotary.push_back(i < s.angles ? std::cos(angle) : std::sin(angle));
    }
  }
  if (s.placed != 0) {
    // Large distances share places in pairs.
    const auto most = static_cast<int64_t>(s.placed);
    const auto place = [](int64_t distance) { return distance < 5 ? distance : 4 + (distance - 4) / 2; };
    for (int64_t d = -most; d <= most; ++d) {
      b.place_rows.push_back(static_cast<float>(place(most) + (d < 0 ? -place(-d) : place(d))));
    }
    const size_t count = size_t{s.hidden} / (s.shared_places ? s.heads : 1) * kPlaces;
    const float spread = 0.3f / std::sqrt(static_cast<float>(s.hidden / s.heads));
    b.place_keys = normal(random, count, spread);
    b.place_queries = normal(random, count, spread);
  }
  if (s.segment_keys) b.segment_keys = normal(random, s.hidden + s.heads, 0.3f);
  if (s.random != 0) {
    // Some beyond short texts or beyond any text, some twice, and some that are visible anyway.
    const uint32_t blocks = (s.positions + s.block - 1) / s.block;
    const uint32_t count = blocks * s.random * (s.blocks_by_head ? s.heads : 1);
    for (uint32_t i = 0; i < count; ++i) b.random_blocks.push_back(static_cast<int32_t>(random() % (blocks + 2)) - 1);
  }
  return b;
}

ModelBuilder build(const Bert& bert, WeightType type) {
  const BertShape& s = bert.shape;
  const bool q8 = type == WeightType::kI8;
  const fb::DType head_type = q8 ? fb::DType::i8 : fb::DType::f32;
  ModelBuilder b;
  b.model.max_sequence = s.positions;
  const auto input = [&](const char* name, fb::InputKind kind, uint32_t limit) {
    auto in = std::make_unique<fb::InputT>();
    in->name = name;
    in->kind = kind;
    in->limit = limit;
    b.model.inputs.push_back(std::move(in));
  };
  input("input_ids", fb::InputKind::ids, s.vocabulary);
  input("token_type_ids", fb::InputKind::segments, s.segments);

  const int32_t x = b.activation("x", 0, s.hidden);
  const int32_t q = b.activation("q", 0, s.hidden, head_type, q8 ? fb::Layout::head_rows : fb::Layout::rows, s.heads);
  int32_t k[2], v[2];
  for (int i = 0; i < 2; ++i) {
    k[i] = b.activation("k" + std::to_string(i), 0, s.hidden, head_type, fb::Layout::key_pages, s.heads);
    v[i] = b.activation("v" + std::to_string(i), 0, s.hidden, head_type, fb::Layout::value_pages, s.heads);
  }
  const int32_t qkv = b.activation("qkv", 2, 3 * s.hidden);
  const auto rows = [&](const std::string& name, uint32_t width) {
    return b.activation(name, 2, width, q8 ? fb::DType::i8 : fb::DType::f32);
  };
  // In an int8 file the linear layers read i8 copies, in a float file the f32 rows themselves.
  const int32_t xq = q8 ? rows("x.i8", s.hidden) : x;
  const int32_t context = rows("context", s.hidden);
  const int32_t ffn = rows("ffn", s.ffn);
  const auto outputs = [&](int32_t f32, int32_t copy) {
    return q8 ? std::vector<int32_t>{f32, copy} : std::vector<int32_t>{f32 >= 0 ? f32 : copy};
  };
  const auto places = [&](const char* name, uint32_t n, uint32_t width, const std::vector<float>& values) {
    return values.empty() ? -1 : b.table(name, n, width, values, WeightType::kF32);
  };
  const int32_t rotary = places("rotary", s.positions, 2 * s.angles, bert.rotary);
  const int32_t biases = places("biases", s.heads, 2 * s.distances - 1, bert.biases);
  const int32_t slopes = s.slopes ? b.vector("slopes", bert.slopes) : -1;
  const int32_t sinks = s.sinks ? b.vector("sinks", bert.sinks) : -1;
  const int32_t place_rows = s.placed != 0 ? b.vector("place_rows", bert.place_rows) : -1;
  const auto place_matrix = [&](const char* name, const std::vector<float>& values) {
    const uint32_t heads = s.shared_places ? 1 : s.heads;
    return s.placed == 0 ? -1 : b.weights(name, heads * kPlaces, s.hidden / s.heads, values, type);
  };
  const int32_t place_keys = place_matrix("place_keys", bert.place_keys);
  const int32_t place_queries = place_matrix("place_queries", bert.place_queries);
  const int32_t segment_keys = places("segment_keys", s.heads, s.hidden / s.heads + 1, bert.segment_keys);
  const int32_t random_blocks = s.random != 0 ? b.numbers("random_blocks", bert.random_blocks) : -1;
  if (s.mask == fb::MaskKind::globals) {
    b.model.globals = std::make_unique<fb::GlobalsT>();
    b.model.globals->kind = s.globals;
    b.model.globals->separator = s.separator;
  }
  const auto add_qkv = [&](uint32_t layer) {
    const BertLayer& l = bert.layers[layer];
    const std::string name = "layer." + std::to_string(layer);
    const int32_t w = b.weights(name + ".qkv", 3 * s.hidden, s.hidden, l.qkv, type);
    b.op(name + ".qkv", attributes(fb::LinearT{}), {xq, w, b.vector(name + ".qkv.bias", l.qkv_bias)}, {qkv});
    fb::SplitHeadsT split;
    split.heads = split.kv_heads = s.heads;
    split.head_width = s.hidden / s.heads;
    fb::OpT& op = b.op(name + ".split", attributes(split), {qkv}, {q, k[layer % 2], v[layer % 2]});
    if (rotary >= 0) op.attributes.AsSplitHeads()->rotary = name_input(op, rotary);
    if (s.head_norms) {
      const int32_t norms =
          b.table(name + ".norms", 4, static_cast<uint32_t>(l.head_norms.size()) / 4, l.head_norms, WeightType::kF32);
      op.attributes.AsSplitHeads()->norms = name_input(op, norms);
      op.attributes.AsSplitHeads()->epsilon = 1e-12f;
      op.attributes.AsSplitHeads()->norms_behind = s.norms_behind;
    }
  };

  b.step(0);
  fb::OpT& embed = b.op("embed", attributes(fb::EmbedT{}), {}, outputs(x, xq));
  const auto add_table = [&](const char* name, uint32_t n, const std::vector<float>& values, fb::IndexSource source) {
    auto table = std::make_unique<fb::EmbedTableT>();
    table->tensor = name_input(embed, b.table(name, n, s.hidden, values, type));
    table->source = source;
    embed.attributes.AsEmbed()->tables.push_back(std::move(table));
  };
  add_table("words", s.vocabulary, bert.words, fb::IndexSource::ids);
  add_table("types", s.segments, bert.types, fb::IndexSource::segments);
  add_table("places", s.positions, bert.places, fb::IndexSource::positions);
  const int32_t gamma = b.vector("norm", bert.norm), beta = b.vector("shift", bert.shift);
  epilogue(embed, fb::ActivationKind::none, -1, gamma, beta);
  add_qkv(0);

  for (uint32_t i = 0; i < s.layers; ++i) {
    const BertLayer& l = bert.layers[i];
    const std::string name = "layer." + std::to_string(i);
    b.step(0);
    fb::AttentionT attention;
    attention.heads = attention.kv_heads = s.heads;
    attention.head_width = s.hidden / s.heads;
    attention.scale = 1.0f / std::sqrt(static_cast<float>(attention.head_width));
    attention.mask = s.mask;
    attention.window = s.window;
    attention.filler = s.filler;
    attention.dilation = s.dilation;
    attention.block = s.block;
    attention.full_until = s.full_until;
    attention.random = s.random;
    fb::OpT& attend_op =
        b.op(name + ".attention", attributes(attention), {q, k[i % 2], v[i % 2]}, outputs(-1, context));
    fb::AttentionT& known = *attend_op.attributes.AsAttention();
    if (biases >= 0) known.distance_bias = name_input(attend_op, biases);
    if (slopes >= 0) known.slopes = name_input(attend_op, slopes);
    if (place_rows >= 0) {
      known.place_rows = name_input(attend_op, place_rows);
      known.place_keys = name_input(attend_op, place_keys);
      known.place_queries = name_input(attend_op, place_queries);
      known.shared_places = s.shared_places;
    }
    if (segment_keys >= 0) known.segment_keys = name_input(attend_op, segment_keys);
    if (random_blocks >= 0) known.random_blocks = name_input(attend_op, random_blocks);
    if (sinks >= 0) known.sinks = name_input(attend_op, sinks);
    const auto add_linear = [&](const std::string& part, uint32_t n, uint32_t width, const std::vector<float>& w,
                                const std::vector<float>& bias, int32_t in, std::vector<int32_t> out) -> fb::OpT& {
      const int32_t weight = b.weights(part, n, width, w, type);
      return b.op(part, attributes(fb::LinearT{}), {in, weight, b.vector(part + ".bias", bias)}, std::move(out));
    };
    const int32_t norm1 = b.vector(name + ".norm1", l.norm1), shift1 = b.vector(name + ".shift1", l.shift1);
    const int32_t norm2 = b.vector(name + ".norm2", l.norm2), shift2 = b.vector(name + ".shift2", l.shift2);
    epilogue(add_linear(name + ".out", s.hidden, s.hidden, l.out, l.out_bias, context, outputs(x, xq)),
             fb::ActivationKind::none, x, norm1, shift1);
    epilogue(add_linear(name + ".up", s.ffn, s.hidden, l.up, l.up_bias, xq, outputs(-1, ffn)), s.activation);
    // Nothing reads the i8 rows of the last layer.
    epilogue(
        add_linear(name + ".down", s.hidden, s.ffn, l.down, l.down_bias, ffn, outputs(x, i + 1 < s.layers ? xq : -1)),
        fb::ActivationKind::none, x, norm2, shift2);
    if (i + 1 < s.layers) add_qkv(i + 1);
  }
  const auto head_type_f32 = q8 ? WeightType::kF32 : type;
  const uint32_t tag_width = s.hidden * (s.before + 1 + s.after);
  int32_t tag_rows = x;
  if (tag_width != s.hidden) {
    fb::UnfoldT unfold_rows;
    unfold_rows.before = s.before;
    unfold_rows.after = s.after;
    b.step(0);
    tag_rows = b.activation("unfolded", 2, tag_width);
    b.op("unfold", attributes(unfold_rows), {x}, {tag_rows});
  }
  const int32_t tag_weights = b.weights("tag", s.tags, tag_width, bert.tag, head_type_f32);
  const int32_t tags = b.output("tags", 0, s.tags);
  b.op("tag", attributes(fb::LinearT{}), {tag_rows, tag_weights, b.vector("tag.bias", bert.tag_bias)}, {tags});

  b.step(1);
  const int32_t pooled = rows("pooled", s.hidden);
  b.op("first", attributes(fb::PoolT{}), {x}, outputs(-1, pooled));
  const int32_t pool_weights = b.weights("pool", s.hidden, s.hidden, bert.pool, type);
  const int32_t dense = b.activation("dense", 2, s.hidden);
  epilogue(
      b.op("pool", attributes(fb::LinearT{}), {pooled, pool_weights, b.vector("pool.bias", bert.pool_bias)}, {dense}),
      fb::ActivationKind::tanh);
  const int32_t classify_weights = b.weights("classify", s.labels, s.hidden, bert.classify, head_type_f32);
  const int32_t logits = b.output("logits", 1, s.labels);
  b.op("classify", attributes(fb::LinearT{}), {dense, classify_weights, b.vector("classify.bias", bert.classify_bias)},
       {logits});
  std::swap(b.model.outputs[0], b.model.outputs[1]);

  b.model.task = std::make_unique<fb::TaskT>();
  b.model.task->kind = fb::TaskKind::classify;
  auto labels = std::make_unique<fb::LabelSetT>();
  for (uint32_t i = 0; i < s.labels; ++i) labels->labels.push_back("label" + std::to_string(i));
  b.model.task->label_sets.push_back(std::move(labels));
  return b;
}

BertOutput forward(const Bert& bert, const std::vector<int32_t>& ids, const std::vector<int32_t>& segments,
                   const std::vector<uint32_t>& offsets) {
  const BertShape& s = bert.shape;
  const size_t rows = ids.size();
  Matrix x(rows * s.hidden);
  for (size_t sequence = 0; sequence + 1 < offsets.size(); ++sequence) {
    for (size_t r = offsets[sequence]; r < offsets[sequence + 1]; ++r) {
      for (size_t i = 0; i < s.hidden; ++i) {
        x[r * s.hidden + i] = double{bert.words[static_cast<size_t>(ids[r]) * s.hidden + i]} +
                              double{bert.types[static_cast<size_t>(segments[r]) * s.hidden + i]} +
                              double{bert.places[(r - offsets[sequence]) * s.hidden + i]};
      }
    }
  }
  normalize(&x, rows, bert.norm, bert.shift);
  for (const BertLayer& l : bert.layers) {
    const Matrix context = attend(linear(x, rows, l.qkv, l.qkv_bias), bert, l, offsets, ids, segments);
    add(&x, linear(context, rows, l.out, l.out_bias));
    normalize(&x, rows, l.norm1, l.shift1);
    add(&x, linear(linear(x, rows, l.up, l.up_bias, s.activation), rows, l.down, l.down_bias));
    normalize(&x, rows, l.norm2, l.shift2);
  }
  BertOutput out;
  out.tags = linear(unfold(x, s, offsets), rows, bert.tag, bert.tag_bias);
  Matrix first;
  for (size_t sequence = 0; sequence + 1 < offsets.size(); ++sequence) {
    const double* row = x.data() + size_t{offsets[sequence]} * s.hidden;
    first.insert(first.end(), row, row + s.hidden);
  }
  const size_t sequences = offsets.size() - 1;
  out.logits = linear(linear(first, sequences, bert.pool, bert.pool_bias, fb::ActivationKind::tanh), sequences,
                      bert.classify, bert.classify_bias);
  return out;
}

}  // namespace bantam::testing
