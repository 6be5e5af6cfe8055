// Draft: a teacher's settings, tensors and tokenizer in memory, which the steps of a recipe make smaller.
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

/// A stack of layers: kOwn is the model's own, or the decoder's of an encoder-decoder; kSource is the encoder's there.
enum class LayerStack { kOwn, kSource };

/// Ascending.
using Indices = std::vector<uint32_t>;

/// Sizes of a model; those of its first layer where widths differ.
struct LayoutSize {
  uint32_t decoder_layers = 0;  // of encoder-decoders, whose `layers` are the encoder's
  uint32_t layers = 0, heads = 0, head_width = 0, ffn = 0, hidden = 0, vocabulary = 0;
  uint64_t parameters = 0;          // each once where layers share them
  uint64_t encoder_parameters = 0;  // of them in layers
};

class Draft {
 public:
  /// Reads every tensor as f32. `source` must be one that import_source accepts. Leaves out tensors that no part of
  /// such a model uses, with a note.
  explicit Draft(ModelSource source);

  /// Returns the same model for import_source. Copies the tensors.
  ModelSource source() const;

  const EncoderConfig& config() const { return config_; }
  /// The configuration of the encoder in an encoder-decoder, whose decoder has config(); null: the model is none.
  const EncoderConfig* source_config() const { return source_config_ ? &*source_config_ : nullptr; }
  const Family& family() const { return *config_.family; }
  Json& settings() { return source_.config; }
  TokenizerFiles& tokenizer() { return source_.tokenizer; }
  const ModelSource& origin() const { return source_; }
  std::vector<std::string>& notes() { return notes_; }

  /// A table of the encoder; the weight or the bias of a layer's module.
  MemoryTensor& table(Slot slot) { return tensors_.at(base_ + family().name(slot)); }
  MemoryTensor& weight(uint32_t layer, Slot slot) { return tensors_.at(name_in(layer, slot) + ".weight"); }
  MemoryTensor& bias(uint32_t layer, Slot slot) { return tensors_.at(name_in(layer, slot) + ".bias"); }
  bool has_bias(uint32_t layer, Slot slot) const { return tensors_.count(name_in(layer, slot) + ".bias") != 0; }
  const MemoryTensor& weight(uint32_t layer, Slot slot) const { return tensors_.at(name_in(layer, slot) + ".weight"); }
  /// Returns the tensors by the names of files: joins the parts of one tensor (tensor_part) again.
  std::map<std::string, MemoryTensor> tensors() const;

  /// Keeps these indices of an axis: in layer `layer` for kScores, kValues and kFfn, everywhere for the others.
  void keep(Axis axis, uint32_t layer, const Indices& indices);
  void keep_layers(const Indices& layers, LayerStack stack = LayerStack::kOwn);
  /// Records the heads that keep() left: widths follow from tensors, the number of heads does not.
  void set_heads(uint32_t layer, uint32_t heads) { config_.widths.heads[layer] = heads; }
  void set_head_width(uint32_t width) { config_.head_width = width; }
  /// Makes layer i use the matrices of layer owners[i].
  void share(const std::vector<uint32_t>& owners);
  /// Word embeddings = rows * projection^t + bias. [vocabulary, rank], [hidden, rank], [hidden].
  void factorise(MemoryTensor rows, MemoryTensor projection, MemoryTensor bias);
  /// Multiplies the factors to one table again; for directories.
  void multiply_factors();

  /// Returns true if transformers' own settings can describe the layout: every layer has the same number of heads and
  /// feed-forward columns, and heads fill the hidden width or have a setting for their own.
  bool uniform() const;

  LayoutSize size() const;

 private:
  struct Role {
    Axis rows = Axis::kNone, columns = Axis::kNone;
    int64_t layer = -1;  // the first of those that have it
    bool known = false;
    LayerStack stack = LayerStack::kOwn;
  };
  Role role_of(const std::string& name) const;
  /// Returns the axis that counts if nothing projects embeddings to the hidden width.
  Axis resolved(Axis axis) const;
  std::string name_in(uint32_t layer, Slot slot) const;
  /// Adds a tensor of the file, or each of its parts; returns false if no role knows it.
  bool take(const std::string& name, const MemoryTensor& tensor);
  /// Writes config_ into the settings.
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
  std::string base_;   // before encoder names
  std::string outer_;  // before head names
  /// Linear layers over the hidden state that no family names: those of intents and slots, and of label sets.
  std::vector<std::string> classifiers_ = {"intent_classifier", "slot_classifier"};
  std::map<std::string, Place> places_;  // what the names of layers' tensors begin with; the first layer of each
  std::map<std::string, MemoryTensor> tensors_;
  std::vector<std::string> notes_;
};

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_STUDENT_DRAFT_H_
