#include "network/embeddings.h"

#include <string>
#include <utility>
#include <vector>

#include "graph/places.h"
#include "network/blocks/adaptive.h"
#include "network/blocks/chunk_attention.h"
#include "network/blocks/patches.h"

namespace bantam::convert {
namespace {

class Embeddings {
 public:
  Embeddings(Builder& builder, Weights& weights, const EncoderConfig& config, const Beside& beside, Modules& modules,
             const std::string& side)
      : builder_(builder),
        weights_(weights),
        config_(config),
        beside_(beside),
        modules_(modules),
        family_(*config.family),
        base_(std::string(config.family->base) + "."),
        side_(side) {}

  int32_t run(uint32_t positions, Encoder* out) {
    builder_.enter(fb::Part::embeddings);
    if (family_.block.patches) {
      const bool normed = family_.has(Slot::kEmbeddingNorm);
      return embed_patches(builder_, weights_, config_, base_,
                           normed ? modules_.norm(family_.name(Slot::kEmbeddingNorm), config_.hidden) : EpilogueSpec{});
    }
    // Tables are added in the order of transformers.
    std::vector<EmbedSpec> tables;
    const bool of_source = beside_.phase == fb::Phase::source;
    builder_.input(beside_.source == nullptr ? "input_ids" : "decoder_input_ids",
                   of_source ? fb::InputKind::source_ids : fb::InputKind::ids, config_.vocabulary);
    if (!config_.clusters.empty()) return embed_clusters(builder_, weights_, config_, base_, out);
    const bool words_apart = family_.block.bottlenecks && config_.projects;
    if (config_.embedding_rank == 0 && !words_apart) {
      out->word_embeddings = words(&out->words);
      tables.push_back({out->word_embeddings, fb::IndexSource::ids, config_.embedding_factor});
    }
    if (config_.segments != 0 && !family_.has(Slot::kSegments)) {
      builder_.input("token_type_ids", fb::InputKind::segments, config_.segments);
    } else if (config_.segments == 1 && family_.settings.lone_segment) {
      tables.push_back({table(Slot::kSegments, 1), fb::IndexSource::zero});
    } else if (config_.segments != 0) {
      tables.push_back({table(Slot::kSegments, config_.segment_rows, config_.first_segment, config_.segments),
                        fb::IndexSource::segments});
      builder_.input("token_type_ids", fb::InputKind::segments, config_.segments);
    }
    const bool sinusoids = family_.settings.sinusoids != Settings::Sinusoids::kNone;
    if (config_.position_table && !sinusoids) {
      tables.push_back(
          {table(Slot::kPositions, config_.first_position + config_.positions, config_.first_position, positions),
           fb::IndexSource::positions});
    }
    if (has_role(config_, Slot::kFirstAxis)) {
      const int32_t places = builder_.embedding(base_ + "position_embeddings", positions, config_.embedding,
                                                places_by_axes(weights_, config_, positions));
      tables.push_back({places, fb::IndexSource::positions});
    }
    if (sinusoids) {
      out->sinusoids = sinusoid_table(positions);
      tables.push_back({out->sinusoids, fb::IndexSource::positions});
    }
    if (config_.task_types != 0) {
      tables.push_back({table(Slot::kTaskTypes, config_.task_types, 0, 1), fb::IndexSource::zero});
    }
    if (words_apart) return widened(tables);
    if (config_.embedding_rank != 0) return factorised(tables);
    if (family_.block.words_projected && config_.projects) {
      EpilogueSpec others;
      others.residual = builder_.embed(side_ + "embeddings.places", {tables.begin() + 1, tables.end()}, {});
      return modules_.dense(family_.name(Slot::kEmbeddingProjection),
                            builder_.embed(side_ + "embeddings.words", {tables.front()}, {}), config_.hidden, others);
    }
    if (!family_.has(Slot::kEmbeddingNorm)) return builder_.embed(side_ + "embeddings", tables, {});
    if (family_.block.sums_projected && config_.projects) return projected(tables);
    if (family_.block.words_normed) {
      EpilogueSpec words;
      words.residual = builder_.embed(side_ + "embeddings.words", {tables.front()},
                                      modules_.norm(family_.name(Slot::kEmbeddingNorm), config_.embedding));
      return builder_.embed(side_ + "embeddings", {tables.begin() + 1, tables.end()}, words);
    }
    const int32_t sum = builder_.embed(side_ + "embeddings", tables,
                                       modules_.norm(family_.name(Slot::kEmbeddingNorm), config_.embedding));
    return config_.projects ? modules_.dense(family_.name(Slot::kEmbeddingProjection), sum, config_.hidden, {}) : sum;
  }

 private:
  /// The rows [skip, skip + keep) of a table.
  int32_t table(Slot slot, uint32_t rows, uint32_t skip, uint32_t keep) {
    const std::string name = family_.name(slot);
    const uint32_t width = extent_of(config_, axes_of(family_, slot).columns);
    Values values = weights_.encoder(name, {rows, width}, skip + keep);
    if (!values.values.empty())
      values.values.erase(values.values.begin(),
                          values.values.begin() + static_cast<std::ptrdiff_t>(size_t{skip} * width));
    return builder_.embedding(base_ + name, keep, width, std::move(values));
  }
  int32_t table(Slot slot, uint32_t rows) { return table(slot, rows, 0, rows); }

  /// The table of words, which an encoder and its decoder may share.
  int32_t words(std::string* tensor) {
    const char* own = family_.own_words;
    const std::string name = own != nullptr && weights_.has_encoder(own) ? own : family_.name(Slot::kWords);
    *tensor = name;
    Values values = weights_.encoder_matrix(name, config_.vocabulary, config_.embedding);
    const int32_t shared = beside_.source == nullptr ? kAbsent : beside_.source->word_embeddings;
    if (shared != kAbsent && builder_.holds(shared, values)) return shared;
    return builder_.embedding(base_ + name, config_.vocabulary, config_.embedding, std::move(values));
  }

  /// Rows of sinusoids, from the file or from the settings; a decoder uses its encoder's table if both are equal.
  int32_t sinusoid_table(uint32_t positions) {
    const std::string name = family_.name(Slot::kPositions);
    const uint32_t in_front = config_.first_position;  // the rows of padding
    const auto behind = [&](Values values) {
      if (!values.values.empty()) {
        const auto skipped = static_cast<std::ptrdiff_t>(size_t{in_front} * config_.embedding);
        values.values.erase(values.values.begin(), values.values.begin() + skipped);
      }
      return values;
    };
    if (weights_.has_encoder(name)) {
      const std::vector<uint32_t> shape = {in_front + config_.positions, config_.embedding};
      return own_or_shared(base_ + name, positions, behind(weights_.encoder(name, shape, in_front + positions)));
    }
    const bool halves = family_.settings.sinusoids == Settings::Sinusoids::kHalves;
    Values values;
    values.values = halves ? precise_sinusoids(positions, config_.embedding)
                           : stepped_sinusoids(positions + in_front, config_.embedding);
    if (!halves) values = behind(std::move(values));
    return own_or_shared(side_ + "sinusoids", positions, std::move(values));
  }
  int32_t own_or_shared(const std::string& name, uint32_t positions, Values values) {
    const int32_t shared = beside_.source == nullptr ? kAbsent : beside_.source->sinusoids;
    if (shared != kAbsent && builder_.holds(shared, values)) return shared;
    return builder_.table(name, positions, config_.embedding, std::move(values));
  }

  /// Factorized words: narrow rows, and a matrix that widens them (as in ALBERT, arXiv 1909.11942).
  int32_t factorised(const std::vector<EmbedSpec>& others) {
    const uint32_t rank = config_.embedding_rank;
    const std::string words = family_.name(Slot::kWords);
    const int32_t narrow = builder_.embedding(base_ + words, config_.vocabulary, rank,
                                              weights_.encoder(words, {config_.vocabulary, rank}));
    const int32_t rows = builder_.embed(side_ + "embeddings.words", {{narrow, fb::IndexSource::ids}}, {});
    EpilogueSpec epilogue = modules_.norm(family_.name(Slot::kEmbeddingNorm), config_.hidden);
    epilogue.residual = builder_.embed(side_ + "embeddings.positions", others, {});
    return modules_.dense(family_.name(Slot::kFactorProjection), rows, config_.hidden, epilogue);
  }

  /// Narrow sums, and a matrix that widens them before their norm.
  int32_t projected(const std::vector<EmbedSpec>& tables) {
    const std::string name = family_.name(Slot::kEmbeddingProjection) + std::string(".weight");
    const uint32_t width = config_.embedding, hidden = config_.hidden;
    const int32_t sum = builder_.embed(side_ + "embeddings", tables, {});
    const int32_t widens = builder_.linear_weight(base_ + name, hidden, width, weights_.encoder(name, {hidden, width}));
    return builder_.linear(base_ + family_.name(Slot::kEmbeddingProjection), sum, widens, kAbsent,
                           modules_.norm(family_.name(Slot::kEmbeddingNorm), hidden));
  }

  /// Narrow words, or each word with both neighbors, and a matrix that widens them to the columns of the other tables.
  int32_t widened(const std::vector<EmbedSpec>& others) {
    const std::string name = family_.name(Slot::kEmbeddingProjection), words = family_.name(Slot::kWords);
    const uint32_t width = config_.embedding, hidden = config_.hidden;
    Values rows = weights_.encoder(words, {config_.vocabulary, width});
    // An extra row of zeros stands for the neighbors before the first and after the last token.
    if (config_.trigrams && !rows.values.empty()) rows.values.resize(rows.values.size() + width);
    const uint32_t count = config_.vocabulary + (config_.trigrams ? 1 : 0);
    const int32_t table = builder_.embedding(base_ + words, count, width, std::move(rows));
    EpilogueSpec epilogue;
    epilogue.residual = builder_.embed(side_ + "embeddings.places", others, {});
    const auto normed = [&] {
      EpilogueSpec last = modules_.norm(family_.name(Slot::kEmbeddingNorm), hidden);
      last.residual = epilogue.residual;
      return last;
    };
    if (!config_.trigrams) {
      const int32_t x = builder_.embed(side_ + "embeddings.words", {{table, fb::IndexSource::ids}}, {});
      return modules_.dense(name, x, hidden, normed());
    }
    const Values weight = weights_.encoder(name + ".weight", {hidden, 3 * width});
    struct Part {
      const char* name;
      fb::IndexSource source;
    };
    constexpr Part kParts[] = {
        {".next", fb::IndexSource::next}, {".self", fb::IndexSource::ids}, {".previous", fb::IndexSource::previous}};
    for (uint32_t i = 0; i < 3; ++i) {
      const std::string op = base_ + name + kParts[i].name;
      const int32_t x = builder_.embed(side_ + "embeddings.words" + kParts[i].name, {{table, kParts[i].source}}, {});
      const int32_t columns =
          builder_.linear_weight(op + ".weight", hidden, width, keep_columns(weight, i * width, width));
      const int32_t bias = i == 1 ? modules_.bias_of(name, hidden) : kAbsent;
      epilogue.residual = builder_.linear(op, x, columns, bias, i == 2 ? normed() : epilogue);
    }
    return epilogue.residual;
  }
  /// Columns [first, first + count) of a matrix with 3 * count columns.
  static Values keep_columns(const Values& from, uint32_t first, uint32_t count) {
    Values kept;
    kept.source = from.source;
    kept.source_type = from.source_type;
    kept.source_bytes = from.source_bytes / 3;
    for (size_t at = first; at < from.values.size(); at += size_t{3} * count) {
      const auto begin = from.values.begin() + static_cast<std::ptrdiff_t>(at);
      kept.values.insert(kept.values.end(), begin, begin + static_cast<std::ptrdiff_t>(count));
    }
    return kept;
  }

  Builder& builder_;
  Weights& weights_;
  const EncoderConfig& config_;
  const Beside& beside_;
  Modules& modules_;
  const Family& family_;
  std::string base_;
  std::string side_;  // the prefix of names that encoder and decoder would otherwise share
};

}  // namespace

int32_t import_embeddings(Builder& builder, Weights& weights, const EncoderConfig& config, const Beside& beside,
                          Modules& modules, const std::string& side, uint32_t positions, Encoder* out) {
  return Embeddings(builder, weights, config, beside, modules, side).run(positions, out);
}

}  // namespace bantam::convert
