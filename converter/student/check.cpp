#include "student/check.h"

#include <fmt/format.h>

#include <algorithm>
#include <system_error>

#include "base/error.h"
#include "source/gliner.h"

namespace bantam::convert {
namespace {

class Checker {
 public:
  Checker(const Recipe& recipe, const Draft& teacher) : recipe_(recipe), teacher_(teacher), config_(teacher.config()) {}

  Widths check() {
    check_family();
    const EncoderConfig* source = teacher_.source_config();
    layers_ = check_layers("layers", recipe_.layers, source != nullptr ? source->layers : config_.layers);
    if (source != nullptr) check_pair();
    if (source == nullptr && recipe_.decoder_layers.given()) {
      problem("decoder_layers",
              fmt::format("{} is not an encoder-decoder: its layers are \"layers\"", config_.model_type));
    }
    const Widths widths = resolve();
    if (recipe_.positions > config_.positions) {
      problem("positions", fmt::format("{} are more than the teacher's {}", recipe_.positions, config_.positions));
    }
    if (recipe_.embedding_rank >= widths.hidden) {
      problem("embedding_rank", fmt::format("{} columns are no fewer than the hidden width of {}",
                                            recipe_.embedding_rank, widths.hidden));
    }
    if (recipe_.share > layers_) {
      problem("share", fmt::format("{} groups are more than the {} layers", recipe_.share, layers_));
    }
    if (recipe_.share != 0 && (recipe_.heads_across || recipe_.ffn_across)) {
      problem("share",
              "layers of different widths (\"across\": \"model\") cannot share matrices; use \"across\": \"layer\"");
    }
    if (widths.hidden < config_.hidden && !teacher_.origin().modules.empty()) {
      problems_.add(ExitCode::kUnsupported,
                    "recipe: \"hidden\": a sentence-transformers model's other modules state its width; leave it out");
    }
    check_files();
    problems_.raise();
    return widths;
  }

 private:
  void problem(const char* key, const std::string& what) {
    problems_.add(ExitCode::kInvalid, fmt::format("recipe: \"{}\": {}", key, what));
  }

  /// Returns `amount` of `all` units; adds a problem if that is more than `all`.
  uint32_t part(const char* key, const Amount& amount, uint32_t all) {
    if (!amount.given()) return all;
    const uint32_t count = amount.of(all);
    if (count > all) problem(key, fmt::format("{} are more than the teacher's {}", count, all));
    return std::min(count, all);
  }

  /// Refuses steps that the teacher's family does not support.
  void check_family() {
    const char* name = teacher_.config().model_type.c_str();
    const Family& family = teacher_.family();
    const auto refuse = [&](const char* key, bool asked, const char* what, const char* why) {
      if (!asked || why == nullptr) return false;
      problems_.add(ExitCode::kUnsupported,
                    fmt::format("recipe: \"{}\": {} of {} stay, because {}; leave it out", key, what, name, why));
      return true;
    };
    refuse("layers", recipe_.layers.given(), "layers", family.why_layers_stay());
    refuse("decoder_layers", recipe_.decoder_layers.given() && family.source != nullptr, "layers",
           family.why_layers_stay());
    refuse("ffn", recipe_.ffn.given(), "feed-forward columns", family.why_columns_stay());
    refuse("share", recipe_.share != 0, "matrices", family.why_matrices_stay());
    refuse("hidden", recipe_.hidden.given(), "hidden columns", family.why_hidden_stays());
    const bool heads = refuse("heads", recipe_.heads.given(), "heads", family.why_heads_stay());
    const bool width = refuse("head_width", recipe_.head_width != 0, "heads", family.why_heads_stay());
    if (!heads && !width) check_heads();
    const bool place = teacher_.family().has(Slot::kFactorProjection) && !config_.projects;
    if (recipe_.embedding_rank != 0 && !place) {
      problems_.add(ExitCode::kUnsupported, fmt::format("recipe: \"embedding_rank\": embeddings of {} are factorised "
                                                        "already, or have no place for factors",
                                                        name));
    }
    const Json& settings = teacher_.origin().config;
    if (has_gliner(settings) && recipe_.hidden.given() &&
        settings[kGliner].value("hidden_size", 512U) == config_.hidden) {
      problem("hidden",
              "hidden columns stay, because words and labels have as many and nothing projects them; leave "
              "it out");
    }
    if (config_.projects && recipe_.hidden.given() && recipe_.hidden.of(config_.hidden) == config_.embedding) {
      problem("hidden", fmt::format("{} columns are those of the embeddings, which would need no projection any more; "
                                    "name another number",
                                    config_.embedding));
    }
  }

  void check_heads() {
    const char* name = teacher_.config().model_type.c_str();
    const bool rotary = teacher_.family().settings.rotary.otherwise != 0 || teacher_.family().block.places ||
                        teacher_.config().relative.vectors;
    const bool narrow = recipe_.hidden.given();
    const char* why = teacher_.family().why_heads_stay();
    if (why != nullptr && narrow && teacher_.family().why_hidden_stays() == nullptr) {
      problems_.add(ExitCode::kUnsupported,
                    fmt::format("recipe: \"hidden\": heads of {} stay, because {}, and would be "
                                "more than fill fewer hidden columns; leave it out",
                                name, why));
    }
    if (rotary && (recipe_.head_width != 0 || (narrow && recipe_.heads.given()))) {
      problems_.add(ExitCode::kUnsupported, fmt::format("recipe: heads of {} keep their width, because places turn or "
                                                        "multiply all of its columns; leave out \"head_width\", and "
                                                        "\"heads\" beside \"hidden\"",
                                                        name));
    }
  }

  /// Checks the recipe for a stack of `layers` layers; returns the number of layers to keep.
  uint32_t check_layers(const char* key, const LayerRecipe& asked, uint32_t layers) {
    if (layers == 0) return 0;  // the family explains why there is none
    for (const uint32_t layer : asked.list) {
      if (layer >= layers) {
        problem(key, fmt::format("layer {} is not there; the teacher has layers 0 to {}", layer, layers - 1));
      }
    }
    return asked.by == LayerChoice::kList ? static_cast<uint32_t>(asked.list.size()) : part(key, asked.keep, layers);
  }

  /// Checks the recipe for an encoder-decoder, which keeps everything that its two stacks share.
  void check_pair() {
    check_layers("decoder_layers", recipe_.decoder_layers, config_.layers);
    const auto refuse = [&](const char* key, bool asked, const char* why) {
      if (!asked) return;
      problems_.add(ExitCode::kUnsupported, fmt::format("recipe: \"{}\": {}; leave it out", key, why));
    };
    refuse("vocabulary", recipe_.vocabulary.has_value(), "an encoder-decoder's two languages keep their vocabulary");
    refuse("positions", recipe_.positions != 0, "both sides of an encoder-decoder keep their positions");
    for (const auto& [key, asked] :
         {std::pair("layers.by", &recipe_.layers), std::pair("decoder_layers.by", &recipe_.decoder_layers)}) {
      refuse(key, asked->by == LayerChoice::kImportance,
             "what a layer of an encoder-decoder does is not measured; name the layers, or alternate, first or last");
    }
  }

  Widths resolve() {
    Widths widths;
    widths.hidden = part("hidden", recipe_.hidden, config_.hidden);
    widths.heads = part("heads", recipe_.heads, config_.heads);
    widths.ffn = part("ffn", recipe_.ffn, config_.intermediate);
    widths.heads_across = recipe_.heads_across;
    widths.ffn_across = recipe_.ffn_across;
    widths.head_width = config_.head_width;
    const bool narrow = widths.hidden < config_.hidden;
    if (recipe_.head_width > config_.head_width) {
      problem("head_width", fmt::format("{} is more than the teacher's {}", recipe_.head_width, config_.head_width));
    } else if (recipe_.head_width != 0) {
      widths.head_width = recipe_.head_width;
    } else if (narrow && recipe_.heads.given() && widths.hidden % widths.heads == 0 &&
               widths.hidden / widths.heads < config_.head_width) {
      widths.head_width = widths.hidden / widths.heads;
    }
    if (narrow && !recipe_.heads.given()) {
      widths.heads = std::min(config_.heads, widths.hidden / widths.head_width);
      if (widths.heads == 0 || widths.hidden % widths.head_width != 0) {
        problem("hidden",
                fmt::format("{} is not a multiple of the heads' {} columns; name a multiple, or \"heads\", or "
                            "\"head_width\"",
                            widths.hidden, widths.head_width));
      }
    }
    return widths;
  }

  void check_file(const char* key, const std::filesystem::path& file) {
    std::error_code error;
    if (std::filesystem::exists(file, error)) return;
    problems_.add(ExitCode::kIo, fmt::format("recipe: \"{}\": {}: no such file", key, file.string()));
  }

  void check_files() {
    const TokenizerFiles& tokenizer = teacher_.origin().tokenizer;
    const bool has_tokenizer = tokenizer.json.is_object() || tokenizer.vocab || tokenizer.merges || tokenizer.pieces;
    if (!has_tokenizer && (recipe_.measures() || recipe_.vocabulary)) {
      problems_.add(ExitCode::kInvalid, fmt::format("{}: has no tokenizer, so that no texts can be run to see what is "
                                                    "important; add tokenizer.json or vocab.txt",
                                                    teacher_.origin().directory().string()));
    }
    if (!recipe_.data.empty()) check_file("data", recipe_.data);
    if (!recipe_.vocabulary) return;
    for (const auto& file : recipe_.vocabulary->corpus) check_file("vocabulary.corpus", file);
  }

  const Recipe& recipe_;
  const Draft& teacher_;
  const EncoderConfig& config_;
  uint32_t layers_ = 0;
  Problems problems_;
};

}  // namespace

Widths check_recipe(const Recipe& recipe, const Draft& teacher) { return Checker(recipe, teacher).check(); }

Indices choose_layers(const LayerRecipe& recipe, LayerStack stack, const Draft& teacher,
                      const std::function<Probe()>& probe) {
  const uint32_t all = stack == LayerStack::kSource ? teacher.source_config()->layers : teacher.config().layers;
  const uint32_t count = recipe.keep.given() ? recipe.keep.of(all) : 0;
  Indices kept;
  switch (recipe.by) {
    case LayerChoice::kList:
      return recipe.list;
    case LayerChoice::kImportance:
      return important_layers(teacher, count, probe());
    case LayerChoice::kFirst:
      for (uint32_t i = 0; i < count; ++i) kept.push_back(i);
      return kept;
    case LayerChoice::kLast:
      for (uint32_t i = all - count; i < all; ++i) kept.push_back(i);
      return kept;
    case LayerChoice::kAlternate:
      break;
  }
  // Evenly spaced from the first layer: 0, 2, 4 of 6, as in DistilBERT (arXiv 1910.01108).
  for (uint32_t i = 0; i < count; ++i) kept.push_back(static_cast<uint32_t>(uint64_t{i} * all / count));
  return kept;
}

}  // namespace bantam::convert
