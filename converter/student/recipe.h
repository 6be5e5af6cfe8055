// Recipe: the parts of its teacher that a student keeps, as JSON; schemas/student.schema.json describes it for editors.
#ifndef BANTAM_CONVERTER_STUDENT_RECIPE_H_
#define BANTAM_CONVERTER_STUDENT_RECIPE_H_

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/json_file.h"

namespace bantam::convert {

/// A number of units, or a fraction of the teacher's units.
struct Amount {
  uint32_t count = 0;
  double share = 0;
  bool given() const { return count != 0 || share > 0; }
  /// Returns the number for a total of `all`: at least 1. The caller must refuse more than `all`.
  uint32_t of(uint32_t all) const;
};

enum class LayerChoice { kAlternate, kFirst, kLast, kImportance, kList };

/// The layers of a stack to keep.
struct LayerRecipe {
  Amount keep;
  LayerChoice by = LayerChoice::kAlternate;
  std::vector<uint32_t> list;  // kList: in ascending order
  bool given() const { return keep.given() || !list.empty(); }
};

/// If a member is not given, that part of the teacher does not change.
struct Recipe {
  LayerRecipe layers;          // for an encoder-decoder, the layers of its encoder
  LayerRecipe decoder_layers;  // for encoder-decoders

  /// Units are kept by importance. `across`: the least important units of all layers are removed, so that layers get
  /// different widths; otherwise every layer keeps the same number.
  Amount heads;
  bool heads_across = false;
  Amount ffn;
  bool ffn_across = false;
  Amount hidden;
  uint32_t head_width = 0;  // columns of a head; 0: the teacher's

  struct Vocabulary {
    std::vector<std::filesystem::path> corpus;  // files of texts
    std::vector<std::string> scripts;           // tokens of these scripts stay even if the corpus does not use them
    uint32_t size = 0;                          // largest number of tokens, the most used ones; 0: all that are used
    uint32_t min_count = 1;                     // least number of uses in the corpus
  };
  std::optional<Vocabulary> vocabulary;

  uint32_t positions = 0;       // number of positions to keep, from the first; 0: all
  uint32_t embedding_rank = 0;  // number of columns between two factors of the word embeddings; 0: one table
  uint32_t share = 0;           // number of groups of neighboring layers that share their matrices; 0: no sharing

  std::filesystem::path data;  // texts on which importance is measured; empty: built-in texts

  bool measures() const {
    return layers.by == LayerChoice::kImportance || decoder_layers.by == LayerChoice::kImportance || heads.given() ||
           ffn.given() || hidden.given() || head_width != 0;
  }
};

/// Parses an object; problems name it `where`, and relative paths are relative to `base`. Throws Error (invalid) that
/// lists every unknown key, with the nearest known one, and every invalid value.
Recipe parse_recipe(const Json& json, const std::string& where, const std::filesystem::path& base);

/// Throws Error as parse_recipe and read_json_object do.
Recipe read_recipe(const std::filesystem::path& file);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_STUDENT_RECIPE_H_
