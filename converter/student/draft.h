// Draft: a teacher's settings, tensors and tokenizer in memory, which the steps of a recipe reduce.
#ifndef BANTAM_CONVERTER_STUDENT_DRAFT_H_
#define BANTAM_CONVERTER_STUDENT_DRAFT_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "network/settings/config.h"
#include "source/model_source.h"

namespace bantam::convert {

/// A stack of layers. kOwn: the model's own, or the decoder's in an encoder-decoder; kSource: the encoder's in an
/// encoder-decoder.
enum class LayerStack { kOwn, kSource };

/// In ascending order.
using Indices = std::vector<uint32_t>;

/// Sizes of a model; if widths differ, those of its first layer.
struct LayoutSize {
  uint32_t decoder_layers = 0;  // of encoder-decoders, whose encoder has `layers` layers
  uint32_t layers = 0, heads = 0, head_width = 0, ffn = 0, hidden = 0, vocabulary = 0;
  uint64_t parameters = 0;          // shared parameters count once
  uint64_t encoder_parameters = 0;  // those of layers
};

class Draft {
 public:
  /// Reads every tensor as f32. `source` must be one that import_source accepts. Omits tensors that no part of such a
  /// model uses, with a note.
  explicit Draft(ModelSource source);

  /// Returns the model in the form for import_source. Copies the tensors.
  ModelSource source() const;

  const EncoderConfig& config() const { return config_; }
  /// Returns the configuration of an encoder-decoder's encoder (config() is the decoder's), or null for other models.
  const EncoderConfig* source_config() const { return source_config_ ? &*source_config_ : nullptr; }
  const Family& family() const { return *config_.family; }
  Json& settings() { return source_.config; }
  TokenizerFiles& tokenizer() { return source_.tokenizer; }
  const ModelSource& origin() const { return source_; }
  std::vector<std::string>& notes() { return notes_; }

  /// table(): a table of the encoder; weight() and bias(): those of a module in a layer.
  MemoryTensor& table(Slot slot) { return tensors_.at(base_ + family().name(slot)); }
  MemoryTensor& weight(uint32_t layer, Slot slot) { return tensors_.at(name_in(layer, slot) + ".weight"); }
  MemoryTensor& bias(uint32_t layer, Slot slot) { return tensors_.at(name_in(layer, slot) + ".bias"); }
  bool has_bias(uint32_t layer, Slot slot) const { return tensors_.count(name_in(layer, slot) + ".bias") != 0; }
  const MemoryTensor& weight(uint32_t layer, Slot slot) const { return tensors_.at(name_in(layer, slot) + ".weight"); }
  /// Returns the tensors by their names in files, with the parts of a tensor (tensor_part) joined again.
  std::map<std::string, MemoryTensor> tensors() const;

  /// Keeps these indices of an axis: of layer `layer` for kScores, kValues and kFfn, of all layers for the others.
  void keep(Axis axis, uint32_t layer, const Indices& indices);
  void keep_layers(const Indices& layers, LayerStack stack = LayerStack::kOwn);
  /// Records the number of heads after keep(): widths follow from tensors, the number of heads does not.
  void set_heads(uint32_t layer, uint32_t heads) { config_.widths.heads[layer] = heads; }
  void set_head_width(uint32_t width) { config_.head_width = width; }
  /// Makes layer i use the matrices of layer owners[i].
  void share(const std::vector<uint32_t>& owners);
  /// Replaces the word embeddings by rows * projection^t + bias, of shapes [vocabulary, rank], [hidden, rank],
  /// [hidden].
  void factorise(MemoryTensor rows, MemoryTensor projection, MemoryTensor bias);
  /// Multiplies the factors to a single table again, for directories.
  void multiply_factors();

  /// Returns true if transformers' own settings can describe the layout: all layers have the same number of heads and
  /// feed-forward columns, and the heads fill the hidden width or have a setting for their width.
  bool uniform() const;

  LayoutSize size() const;

 private:
  struct Role {
    Axis rows = Axis::kNone, columns = Axis::kNone;
    int64_t layer = -1;  // the first of the layers that share it
    bool known = false;
    LayerStack stack = LayerStack::kOwn;
  };
  Role role_of(const std::string& name) const;
  /// Returns the axis that applies: the hidden axis if no projection follows the embeddings.
  Axis resolved(Axis axis) const;
  std::string name_in(uint32_t layer, Slot slot) const;
  /// Adds a tensor of the file, or each of its parts; returns false if its role is unknown.
  bool take(const std::string& name, const MemoryTensor& tensor);
  /// Writes config_ to the settings.
  void put_settings();

  /// The layer that names with a given prefix belong to.
  struct Place {
    LayerStack stack;
    uint32_t layer;
  };
  const EncoderConfig& config_of(LayerStack stack) const {
    return stack == LayerStack::kSource ? *source_config_ : config_;
  }

  ModelSource source_;
  EncoderConfig config_;
  std::optional<EncoderConfig> source_config_;
  std::vector<std::pair<Slot, std::string>> roles_;
  std::string base_;   // prefix of encoder names
  std::string outer_;  // prefix of head names
  /// Linear layers over the hidden state that no family names: those for intents and slots, and for label sets.
  std::vector<std::string> classifiers_ = {"intent_classifier", "slot_classifier"};
  std::map<std::string, Place> places_;  // by prefix of the names of a layer's tensors: the first layer that has them
  std::map<std::string, MemoryTensor> tensors_;
  std::vector<std::string> notes_;
};

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_STUDENT_DRAFT_H_
