#include "onnx/emit.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <tuple>
#include <utility>

#include "base/error.h"
#include "graph/places.h"
#include "kernels/kernels.h"

namespace bantam::convert::onnx {
namespace {

bool ends_with(const std::string& text, const std::string& end) {
  return text.size() > end.size() && text.compare(text.size() - end.size(), end.size(), end) == 0;
}

/// Returns true for names that exporters generate for unnamed tensors.
bool is_made_up(const std::string& name) {
  return name.empty() || name.rfind("onnx::", 0) == 0 || name.rfind("val_", 0) == 0 ||
         name.find_first_not_of("0123456789") == std::string::npos;
}

class Emitter {
 public:
  Emitter(const std::vector<Block>& blocks, const std::vector<int32_t>& outputs, uint32_t positions,
          std::shared_ptr<const Model> model, Graph& graph, Builder& builder)
      : blocks_(blocks),
        outputs_(outputs),
        positions_(positions),
        model_(std::move(model)),
        file_(model_->path.string()),
        graph_(graph),
        builder_(builder),
        chains_(make_chains(blocks, outputs)) {}

  Emitted run() {
    find_inputs();
    find_trunk();
    for (const auto& [last, chain] : chains_) {
      if (chain.attention < 0) emit(last, chain);
    }
    for (const int32_t output : outputs_) {
      out_.tensors[output] = made_.at(output);
      out_.behind[output] = output > trunk_ && has_linear(output);
    }
    return std::move(out_);
  }

 private:
  const Block& at(int32_t id) const { return blocks_[static_cast<size_t>(id)]; }

  [[noreturn]] void fail(const std::string& why) const {
    throw Error(ExitCode::kUnsupported, fmt::format("{}: {}", file_, why));
  }

  /// Declares the inputs for ids and segments.
  void find_inputs() {
    uint32_t segments = 0;
    for (const auto& [last, chain] : chains_) {
      for (const int32_t id : chain.tables) {
        const auto rows = static_cast<uint32_t>(at(id).weight.dims()[0]);
        if (at(id).index == fb::IndexSource::ids) out_.vocabulary = std::max(out_.vocabulary, rows);
        if (at(id).index == fb::IndexSource::segments) segments = std::max(segments, rows);
      }
    }
    if (out_.vocabulary == 0) fail("looks up no table by input_ids");
    builder_.enter(fb::Part::embeddings);
    builder_.input("input_ids", fb::InputKind::ids, out_.vocabulary);
    if (segments != 0) builder_.input("token_type_ids", fb::InputKind::segments, segments);
  }

  /// Finds the last block of the layers: the last sum after the last attention, and the norm that reads it.
  void find_trunk() {
    for (const auto& [last, chain] : chains_) {
      const bool tokens = at(last).of_tokens;
      if (at(chain.members.front()).kind == Block::Kind::kAttention) {
        attentions_.push_back(last);
        out_.causal = out_.causal || at(last).mask == fb::MaskKind::causal;
      }
      const Block::Kind kind = at(chain.members.front()).kind;
      // Recurrent layers and convolutions have no residual sums.
      const bool windows =
          kind == Block::Kind::kLinear && at(at(chain.members.front()).inputs[0]).kind == Block::Kind::kUnfold;
      if (tokens && (chain.residual >= 0 || kind == Block::Kind::kRecurrent || windows)) trunk_ = last;
      const bool norm = tokens && chain.members.size() == 1 && chain.norm >= 0 && at(last).inputs[0] == trunk_;
      if (norm) trunk_ = last;
    }
    out_.hidden = trunk_ < 0 ? 0 : at(trunk_).columns;
  }

  bool has_linear(int32_t id) const {
    while (id > trunk_) {
      if (at(id).kind == Block::Kind::kLinear) return true;
      if (at(id).inputs.empty()) return false;
      id = at(id).inputs[0];
    }
    return false;
  }

  void enter(int32_t last, const Chain& chain) {
    const auto layer =
        static_cast<int32_t>(std::lower_bound(attentions_.begin(), attentions_.end(), last) - attentions_.begin());
    const Block::Kind kind = at(chain.members.front()).kind;
    if (kind == Block::Kind::kRecurrent) return builder_.enter(fb::Part::recurrent, static_cast<int32_t>(recurrent_++));
    if (last > trunk_ && trunk_ >= 0) return builder_.enter(fb::Part::head);
    if (!chain.tables.empty()) return builder_.enter(fb::Part::embeddings);
    const bool attends = at(chain.members.front()).kind == Block::Kind::kAttention;
    const Block& first = at(chain.members.front());
    const bool of_context = !first.inputs.empty() && !attentions_.empty() &&
                            std::binary_search(attentions_.begin(), attentions_.end(), first.inputs[0]);
    if (attends) return builder_.enter(fb::Part::attention, layer);
    if (of_context) return builder_.enter(fb::Part::attention, layer - 1);
    if (layer == 0) return builder_.enter(fb::Part::embeddings);
    builder_.enter(fb::Part::feed_forward, layer - 1);
  }

  std::string unique(std::string name) {
    if (names_.insert(name).second) return name;
    for (int i = 1;; ++i) {
      std::string numbered = fmt::format("{}.{}", name, i);
      if (names_.insert(numbered).second) return numbered;
    }
  }

  /// The name of the module in its framework, as far as the file shows it.
  std::string module(const Chain& chain) const {
    const Block& head = at(chain.members.front());
    const auto of = [](const std::string& name, const char* end) {
      return is_made_up(name) || !ends_with(name, end) ? "" : name.substr(0, name.size() - std::string(end).size());
    };
    std::string found = chain.bias < 0 ? "" : of(at(chain.bias).stage.beta_name, ".bias");
    if (found.empty()) found = of(head.weight.name, ".weight");
    const bool row = head.kind == Block::Kind::kStage || head.kind == Block::Kind::kAdd;
    if (found.empty() && row && chain.norm >= 0) found = of(at(chain.norm).stage.gamma_name, ".weight");
    if (!found.empty()) return found;
    std::string path = head.name;
    while (!path.empty() && path[0] == '/') path.erase(0, 1);
    const size_t slash = path.rfind('/');
    if (slash != std::string::npos) path.erase(slash);
    std::replace(path.begin(), path.end(), '/', '.');
    static const char* const kKinds[] = {"embeddings", "linear",  "row",    "sum",    "product", "attention",
                                         "pooling",    "columns", "joined", "tokens", "states"};
    return slash == std::string::npos || path.empty() ? kKinds[static_cast<size_t>(head.kind)] : path;
  }

  int32_t vector(const std::vector<float>& numbers, const std::string& name, const std::string& otherwise) {
    if (numbers.empty()) return kAbsent;
    const bool named = !is_made_up(name);
    if (named) {
      const auto found = vectors_.find(name);
      if (found != vectors_.end() && builder_.holds(found->second, Values{numbers, {}, {}, 0, nullptr}))
        return found->second;
    }
    for (const float number : numbers) {
      if (!std::isfinite(number)) {
        throw Error(ExitCode::kInvalid, fmt::format("{}: tensor \"{}\" holds a value that is not finite", file_, name));
      }
    }
    Values values;
    values.values = numbers;
    values.source_bytes = numbers.size() * sizeof(float);
    if (!name.empty()) values.source = {name};
    const int32_t made = builder_.vector(unique(named ? name : otherwise), std::move(values));
    if (named) vectors_[name] = made;
    return made;
  }

  EpilogueSpec epilogue(const Chain& chain, const std::string& name) {
    EpilogueSpec spec;
    if (chain.activation >= 0) spec.activation = at(chain.activation).stage.activation;
    if (chain.gate >= 0) spec.gate = made_.at(chain.gate);
    if (chain.residual >= 0) spec.residual = made_.at(chain.residual);
    if (chain.norm < 0) return spec;
    const Block& norm = at(chain.norm);
    if (norm.stage.group != 0) fail(fmt::format("\"{}\" norms parts of rows that are not queries and keys", norm.name));
    std::vector<float> gamma = norm.stage.gamma;
    const std::vector<float>& beta = norm.stage.beta;
    spec.norm = norm.stage.norm;
    spec.epsilon = static_cast<float>(norm.stage.epsilon);
    if (norm.stage.kind == Stage::Kind::kAffine) spec.norm = fb::NormKind::affine;
    if (norm.stage.kind == Stage::Kind::kUnit) {
      spec.norm = fb::NormKind::rms;  // x / |x| is the RMS norm with gamma 1 / sqrt(width)
      spec.epsilon = 1e-24F;
      gamma.assign(norm.columns, 1.0F / std::sqrt(static_cast<float>(norm.columns)));
    }
    if (gamma.empty()) gamma.assign(norm.columns, 1.0F);
    spec.gamma = vector(gamma, norm.stage.gamma_name, name + ".gamma");
    spec.beta = vector(beta, norm.stage.beta_name, name + ".beta");
    return spec;
  }

  using Key = std::vector<std::tuple<const void*, bool, const void*>>;
  static void add_key(const Parameter& p, Key* key) {
    const void* of = p.tensor;
    if (p.tensor == nullptr) of = p.blocked != nullptr ? static_cast<const void*>(p.blocked.get()) : p.folded.get();
    key->emplace_back(of, p.turned, p.scale.get());
  }

  /// The matrices of one or several layers, stacked vertically.
  int32_t matrix(const std::vector<int32_t>& layers, const std::string& name) {
    Key key;
    for (const int32_t layer : layers) add_key(at(layer).weight, &key);
    const auto found = matrices_.find(key);
    if (found != matrices_.end()) return found->second;
    std::vector<Values> parts;
    auto rounded = std::make_shared<Rounded>();
    uint32_t rows = 0;
    bool whole = true;
    for (const int32_t layer : layers) {
      const Parameter& weight = at(layer).weight;
      MatrixValues read = matrix_of(weight, 0, at(layer).columns, model_);
      rows += at(layer).columns;
      if (weight.scale != nullptr) ++(read.rounded != nullptr ? out_.kept : out_.requantised);
      whole = whole && read.rounded != nullptr;
      if (whole) {
        rounded->integers.insert(rounded->integers.end(), read.rounded->integers.begin(), read.rounded->integers.end());
        rounded->scales.insert(rounded->scales.end(), read.rounded->scales.begin(), read.rounded->scales.end());
      }
      parts.push_back(std::move(read.values));
    }
    const auto columns = static_cast<uint32_t>(at(layers[0]).weight.dims()[1]);
    Values all = above_each_other(std::move(parts));
    for (const int32_t table : tables_) {
      if (builder_.rows(table) != rows || builder_.width(table) != columns || !builder_.holds(table, all)) continue;
      builder_.tie(table);
      return table;
    }
    const int32_t made = builder_.linear_weight(unique(name + ".weight"), rows, columns, std::move(all));
    if (whole) graph_.constants[static_cast<size_t>(made)]->rounded = std::move(rounded);
    matrices_[key] = made;
    return made;
  }

  int32_t bias(const std::vector<const Chain*>& chains, const std::string& name) {
    Values all;
    bool any = false;
    std::string only;
    for (const Chain* chain : chains) {
      const uint32_t columns = at(chain->members.front()).columns;
      if (chain->bias < 0) {
        all.values.resize(all.values.size() + columns, 0.0F);
        continue;
      }
      any = true;
      const Stage& stage = at(chain->bias).stage;
      all.values.insert(all.values.end(), stage.beta.begin(), stage.beta.end());
      if (!stage.beta_name.empty()) all.source.push_back(stage.beta_name);
      only = stage.beta_name;
    }
    if (!any) return kAbsent;
    if (chains.size() == 1) return vector(all.values, only, name + ".bias");
    return vector(all.values, name + ".bias", name + ".bias");
  }

  int32_t table(int32_t id) {
    const Block& block = at(id);
    const bool places = block.index == fb::IndexSource::positions, one = block.index == fb::IndexSource::zero;
    const auto rows = static_cast<uint32_t>(block.weight.dims()[0]);
    const uint32_t first = places || one ? block.first : 0, keep = places ? positions_ : one ? 1 : rows;
    MatrixValues read = matrix_of(block.weight, first, keep, model_);
    if (block.weight.scale != nullptr) ++out_.requantised;
    const std::string name = is_made_up(block.weight.name) ? "embeddings.weight" : block.weight.name;
    const int32_t made = builder_.embedding(unique(name), keep, block.columns, std::move(read.values));
    if (block.index == fb::IndexSource::ids) tables_.push_back(made);
    return made;
  }

  int32_t linear(const Chain& chain) {
    const std::string name = unique(module(chain));
    const int32_t head = chain.members.front();
    const int32_t weight = matrix({head}, name);
    const int32_t added = bias({&chain}, name);
    return builder_.linear(name, made_.at(at(head).inputs[0]), weight, added, epilogue(chain, name));
  }

  /// One linear layer for queries, keys and values, side by side.
  int32_t side_by_side(const Block& block, const std::string& prefix) {
    std::vector<const Chain*> chains;
    for (const int32_t part : block.inputs) {
      const auto chain = chains_.find(part);
      if (chain != chains_.end() && chain->second.attention >= 0) chains.push_back(&chain->second);
    }
    if (chains.size() != 3) {
      const int32_t both =
          builder_.join(unique(prefix + "queries_keys"), made_.at(block.inputs[0]), made_.at(block.inputs[1]));
      return builder_.join(unique(prefix + "queries_keys_values"), both, made_.at(block.inputs[2]));
    }
    const Block& first = at(chains[0]->members.front());
    if (first.kind == Block::Kind::kSlice) return made_.at(first.inputs[0]);
    const std::string name = unique(prefix + "qkv");
    std::vector<int32_t> heads;
    heads.reserve(chains.size());
    for (const Chain* chain : chains) heads.push_back(chain->members.front());
    const int32_t weight = matrix(heads, name);
    return builder_.linear(name, made_.at(first.inputs[0]), weight, bias(chains, name), {});
  }

  /// A table of cosines and sines, which layers share.
  int32_t rotary(const Turn& turn) {
    for (const auto& [known, table] : turns_) {
      if (known == turn) return table;
    }
    Values values;
    values.values = rotary_angles(positions_, turn.width, turn.rotary);
    const int32_t made = builder_.table(unique("rotary"), positions_, turn.width, std::move(values));
    turns_.emplace_back(turn, made);
    return made;
  }

  /// A table of biases by distance, which layers share.
  int32_t distances(const Block& block) {
    const auto found = distances_.find(block.biases);
    if (found != distances_.end()) return found->second;
    Values values;
    values.values = block.biases;
    const auto columns = static_cast<uint32_t>(block.biases.size() / block.heads);
    const int32_t made = builder_.table(unique("distances"), block.heads, columns, std::move(values));
    return distances_[block.biases] = made;
  }

  /// Adds rows of positions; neighboring distances that share a row are merged.
  void places(const Block& block, const std::string& prefix, AttentionSpec& spec) {
    const std::optional<PlaceTerm>&keys = block.places->keys, &queries = block.places->queries;
    const PlaceTerm& any = keys ? *keys : *queries;
    const auto known = static_cast<int64_t>(any.places.size() / 2), most = static_cast<int64_t>(positions_) - 1;
    const auto of = [&](const std::optional<PlaceTerm>& term, int64_t distance) {
      return term ? term->places[static_cast<size_t>(known + std::clamp(distance, -known, known))] : 0;
    };
    std::vector<std::pair<int64_t, int64_t>> rows;
    std::vector<float> by_distance;
    for (int64_t distance = -most; distance <= most; ++distance) {
      const std::pair both = {of(keys, distance), of(queries, distance)};
      if (rows.empty() || rows.back() != both) rows.push_back(both);
      by_distance.push_back(static_cast<float>(rows.size() - 1));
    }
    const uint32_t count = kernels::pad16(static_cast<uint32_t>(rows.size()));
    const auto table = [&](const PlaceTerm& term, bool of_keys, const char* name) {
      Values values;
      for (uint32_t i = 0; i < block.heads * count; ++i) {
        const size_t head = i / count, row = i % count;
        for (size_t c = 0; c < block.head_width; ++c) {
          const int64_t place = row < rows.size() ? (of_keys ? rows[row].first : rows[row].second) : -1;
          const auto from =
              (head * static_cast<size_t>(term.table->dims[1]) + static_cast<size_t>(std::max<int64_t>(place, 0))) *
                  block.head_width +
              c;
          values.values.push_back(place < 0 ? 0.0F : static_cast<float>(term.table->floats.at(from) * term.scale));
        }
      }
      return builder_.places(unique(prefix + name), block.heads * count, block.head_width, std::move(values));
    };
    auto found = place_rows_.find(by_distance);
    if (found == place_rows_.end()) {
      found = place_rows_.emplace(by_distance, vector(by_distance, "", "places.rows")).first;
    }
    spec.place_rows = found->second;
    if (keys) spec.place_keys = table(*keys, true, "places.keys");
    if (queries) spec.place_queries = table(*queries, false, "places.queries");
  }

  /// Adds the norms of queries and keys.
  TurnSpec norms(const Block& block, const std::string& prefix) {
    TurnSpec spec;
    if (block.norms == nullptr) return spec;
    const Stage &queries = block.norms->queries, &keys = block.norms->keys;
    const bool each = block.norms->each;
    const uint32_t of_queries = each ? block.head_width : block.columns,
                   of_keys = each ? block.head_width : block.kv_heads * block.head_width;
    const uint32_t padded = kernels::pad16(std::max(of_queries, of_keys));
    Values rows;
    const auto add = [&](const std::vector<float>& given, uint32_t columns, float otherwise, const std::string& name) {
      std::vector<float> row = given.empty() ? std::vector<float>(columns, otherwise) : given;
      row.resize(padded, 0.0F);
      rows.values.insert(rows.values.end(), row.begin(), row.end());
      if (!name.empty()) rows.source.push_back(name);
    };
    add(queries.gamma, of_queries, 1, queries.gamma_name);
    add(queries.beta, of_queries, 0, queries.beta_name);
    add(keys.gamma, of_keys, 1, keys.gamma_name);
    add(keys.beta, of_keys, 0, keys.beta_name);
    spec.norms = builder_.table(unique(prefix + "norms"), 4, padded, std::move(rows));
    spec.each_head = each;
    spec.norm = queries.norm;
    spec.epsilon = static_cast<float>(queries.epsilon);
    return spec;
  }

  int32_t attention(const Block& block) {
    // Named after the layer that computes its queries.
    const auto chain = chains_.find(block.inputs[0]);
    std::string prefix = chain == chains_.end() ? "" : module(chain->second);
    const size_t dot = prefix.rfind('.');
    prefix = dot == std::string::npos ? fmt::format("layer.{}.attention.", layer_) : prefix.substr(0, dot + 1);
    ++layer_;
    const int32_t qkv = side_by_side(block, prefix);
    TurnSpec turn = norms(block, prefix);
    if (block.turn != nullptr) turn.rotary = rotary(*block.turn);
    const Heads heads = builder_.split_heads(unique(prefix + "heads"), qkv, block.heads, block.kv_heads, turn);
    AttentionSpec spec;
    const double usual = 1 / std::sqrt(static_cast<double>(block.head_width));
    // Exporters compute the scale with f32 square roots.
    spec.scale = std::fabs(block.scale - usual) < 1e-6 * usual ? 0.0F : static_cast<float>(block.scale);
    spec.mask = block.mask;
    spec.window = block.window;
    if (!block.slopes.empty()) {
      spec.slopes = vector(block.slopes, "", "slopes");
    } else if (!block.biases.empty()) {
      spec.distance_bias = distances(block);
    }
    if (block.places != nullptr) places(block, prefix, spec);
    return builder_.attention(unique(prefix + "attention"), heads, spec);
  }

  int32_t recurrent(const Chain& chain) {
    const Block& block = at(chain.members.front());
    const std::string name = unique(module(chain));
    std::vector<RecurrentWeights> weights;
    for (size_t d = 0; d < block.states.size(); ++d) {
      const Parameter& states = block.states[d];
      const auto rows = static_cast<uint32_t>(states.dims()[0]);
      RecurrentWeights of;
      of.weights = builder_.linear_weight(unique(name + ".states"), rows, block.cells,
                                          matrix_of(states, 0, rows, model_).values);
      of.bias = vector(block.state_biases[d], "", name + ".states.bias");
      weights.push_back(of);
    }
    return builder_.recurrent(name, block.cell, made_.at(block.inputs[0]), weights, block.reverse);
  }

  void emit(int32_t last, const Chain& chain) {
    enter(last, chain);
    const Block& head = at(chain.members.front());
    int32_t made = kAbsent;
    switch (head.kind) {
      case Block::Kind::kEmbed: {
        std::vector<EmbedSpec> specs;
        for (const int32_t id : chain.tables) specs.push_back({table(id), at(id).index});
        const std::string name = unique("embeddings");
        made = builder_.embed(name, specs, epilogue(chain, name));
        break;
      }
      case Block::Kind::kLinear:
        made = linear(chain);
        break;
      case Block::Kind::kAttention:
        made = attention(head);
        break;
      case Block::Kind::kPool:
        if (chain.unit && head.skip != 0) fail("divides by its length what a convolution without padding gave");
        made = builder_.pool(unique("pooling"), made_.at(head.inputs[0]), head.pool, chain.unit,
                             head.skip == 0 ? std::vector<uint32_t>{} : std::vector<uint32_t>{head.skip});
        break;
      case Block::Kind::kSlice:
        made = builder_.slice(unique(module(chain)), made_.at(head.inputs[0]), head.begin, head.columns);
        break;
      case Block::Kind::kJoin:
        made = builder_.join(unique(module(chain)), made_.at(head.inputs[0]), made_.at(head.inputs[1]));
        break;
      case Block::Kind::kUnfold:
        made = builder_.unfold(unique(module(chain) + ".tokens"), made_.at(head.inputs[0]), head.before, head.after);
        break;
      case Block::Kind::kRecurrent:
        made = recurrent(chain);
        break;
      default: {
        const std::string name = unique(module(chain));
        made = builder_.row(name, made_.at(head.inputs[0]), epilogue(chain, name));
      }
    }
    made_[last] = made;
  }

  const std::vector<Block>& blocks_;
  const std::vector<int32_t>& outputs_;
  const uint32_t positions_;
  const std::shared_ptr<const Model> model_;
  const std::string file_;
  Graph& graph_;
  Builder& builder_;
  std::map<int32_t, Chain> chains_;
  Emitted out_;
  std::map<int32_t, int32_t> made_;  // tensors of blocks
  std::map<std::string, int32_t> vectors_;
  std::map<Key, int32_t> matrices_;
  std::vector<std::pair<Turn, int32_t>> turns_;
  std::map<std::vector<float>, int32_t> distances_, place_rows_;
  std::vector<int32_t> tables_;      // embedding tables of words
  std::vector<int32_t> attentions_;  // in ascending order
  std::set<std::string> names_;
  int32_t trunk_ = -1;
  int layer_ = 0, recurrent_ = 0;
};

}  // namespace

uint32_t positions_of(const std::vector<Block>& blocks, uint32_t max_tokens, uint32_t otherwise) {
  uint32_t positions = 0;
  for (const Block& block : blocks) {
    if (block.kind != Block::Kind::kEmbed || block.index != fb::IndexSource::positions) continue;
    const auto rows = static_cast<uint32_t>(block.weight.dims()[0]) - block.first;
    const uint32_t places = block.most_places == 0 ? rows : block.most_places;
    if (places == kAllPlaces) continue;
    positions = positions == 0 ? places : std::min(positions, places);
  }
  if (positions == 0) positions = std::max(max_tokens, otherwise);
  return max_tokens == 0 ? positions : std::min(positions, max_tokens);
}

Emitted emit(const std::vector<Block>& blocks, const std::vector<int32_t>& outputs, uint32_t positions,
             const std::shared_ptr<const Model>& model, Graph& graph, Builder& builder) {
  return Emitter(blocks, outputs, positions, model, graph, builder).run();
}

}  // namespace bantam::convert::onnx
