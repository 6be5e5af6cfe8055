// Recipe: the parts that a student keeps of its teacher, as JSON; schemas/student.schema.json describes it for editors.
#ifndef BANTAM_CONVERTER_STUDENT_RECIPE_H_
#define BANTAM_CONVERTER_STUDENT_RECIPE_H_

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/json_file.h"

namespace bantam::convert {

/// A number of units, or a share of the teacher's units.
struct Amount {
  uint32_t count = 0;
  double share = 0;
  bool given() const { return count != 0 || share > 0; }
  /// Returns the amount for a total of `all`: at least 1. The caller refuses more than `all`.
  uint32_t of(uint32_t all) const;
};

enum class LayerChoice { kAlternate, kFirst, kLast, kImportance, kList };

/// Layers of a stack.
struct LayerRecipe {
  Amount keep;
  LayerChoice by = LayerChoice::kAlternate;
  std::vector<uint32_t> list;  // kList: increasing
  bool given() const { return keep.given() || !list.empty(); }
};

/// Members that are not given leave that part of the teacher unchanged.
struct Recipe {
  LayerRecipe layers;          // of an encoder-decoder those of its encoder
  LayerRecipe decoder_layers;  // of encoder-decoders

  /// Units are kept by importance. `across`: the least important units of all layers are removed, so that layers get
  /// different widths; else every layer keeps the same number.
  Amount heads;
  bool heads_across = false;
  Amount ffn;
  bool ffn_across = false;
  Amount hidden;
  uint32_t head_width = 0;  // columns of a head; 0: the teacher's

  struct Vocabulary {
    std::vector<std::filesystem::path> corpus;  // files of texts
    std::vector<std::string> scripts;           // tokens of these scripts stay, whatever the corpus holds
    uint32_t size = 0;                          // at most so many tokens, the most used; 0: all that are used
    uint32_t min_count = 1;                     // of uses in the corpus
  };
  std::optional<Vocabulary> vocabulary;

  uint32_t positions = 0;       // the first so many; 0: all
  uint32_t embedding_rank = 0;  // word embeddings in two factors with so many columns between; 0: in one
  uint32_t share = 0;           // groups of neighbouring layers with the same matrices; 0: each has its own

  std::filesystem::path data;  // texts on which importance is measured; empty: built-in texts

  bool measures() const {
    return layers.by == LayerChoice::kImportance || decoder_layers.by == LayerChoice::kImportance || heads.given() ||
           ffn.given() || hidden.given() || head_width != 0;
  }
};

/// Reads an object; problems call it `where`, and relative paths start from `base`. Throws Error (invalid) listing
/// every unknown key, with the nearest known one, and every impossible value.
Recipe parse_recipe(const Json& json, const std::string& where, const std::filesystem::path& base);

/// Throws Error as parse_recipe and read_json_object do.
Recipe read_recipe(const std::filesystem::path& file);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_STUDENT_RECIPE_H_
