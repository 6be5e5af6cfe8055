// Model: a verified view of a .bantam file's bytes.
#ifndef BANTAM_MODEL_H_
#define BANTAM_MODEL_H_

#include <stddef.h>
#include <stdint.h>

#include "bantam/export.h"
#include "bantam/status.h"

BANTAM_EXPORT_BEGIN
namespace bantam {

/// Bytes that somebody else owns; not zero-terminated.
struct Text {
  const char* data = nullptr;
  size_t size = 0;
};

/// Same values as fb::TaskKind in schemas/bantam.fbs.
enum class TaskKind : uint8_t {
  kNone = 0,
  kClassify = 1,
  kMultiLabel = 2,
  kRegress = 3,
  kChoose = 4,
  kTag = 5,
  kJoint = 6,
  kAnswer = 7,
  kEmbed = 8,
  kFill = 9,
  kNextSentence = 10,
  kPretraining = 11,
  kTokenVectors = 12,
  kGenerate = 13,
  kFind = 14,
  kSparseEmbed = 15,
};

/// Marks of tokens in models that find spans: the token stands for a label, or begins a word. 0: neither. (In models
/// with a table of entities, a mark is the number of an entity, counted from 1.)
constexpr int32_t kLabelMark = 1, kWordMark = 2;

/// The most levels in a hierarchy of labels.
constexpr uint32_t kMostLevels = 16;

/// Copyable view, at most 128 bytes. The file's bytes must outlive it and every session created from it. Threads may
/// share it: nothing is ever written through it.
class Model {
 public:
  Model() = default;

  /// Verifies structure and meaning of `bytes[0, size)` (16-byte aligned; 64 for full speed) and fills `out`. On
  /// failure `out` is unchanged and `fault`, if given, says what is wrong. O(graph size): the data section is only
  /// bounds-checked, never read.
  static Status open(const void* bytes, size_t size, Model* out, Fault* fault = nullptr);

  bool is_open() const { return root_ != nullptr; }

  // The functions below need an open model.
  TaskKind task() const;
  Text name() const;
  Text tool() const;
  Text licence() const;
  /// Most tokens (specials included) of one sequence; 0: no limit.
  uint32_t max_sequence() const;
  /// Encoder-decoders: the most tokens of a source (0: no limit) and the size of the source's vocabulary; 0 for other
  /// models.
  uint32_t max_source() const;
  uint32_t source_vocabulary() const;
  /// Models that use texts retrieved for chunks of a text (RETRO): tokens of a chunk; 0 for others. See "Chunks" in
  /// session.h.
  uint32_t chunk_tokens() const;
  uint32_t input_count() const;
  uint32_t output_count() const;
  Text output_name(uint32_t output) const;
  bool has_tokenizer() const;
  /// Index limits of input ids and segment ids: legal values are [0, limit).
  uint32_t vocabulary() const;
  uint32_t segment_types() const;
  /// Legal marks of tokens are [0, mark_types()): 1 where the model takes none.
  uint32_t mark_types() const;
  /// Numbers in a token's row of features; 0 if the model takes none. For images these are patches of pixels (image.h).
  uint32_t feature_width() const;
  /// The name of the entity that a mark stands for ("Q42"); empty if the file does not contain it.
  Text mark_name(uint32_t mark) const;
  /// Label sets: joint models have two (sentence, slots); further sets follow the task's own.
  uint32_t label_set_count() const;
  uint32_t label_count(uint32_t set) const;
  Text label(uint32_t set, uint32_t index) const;
  /// The subject of a label set ("sentiment"); empty for the task's own sets.
  Text label_set_name(uint32_t set) const;
  /// Labels of a set may form a hierarchy of at most kMostLevels levels. label_above returns the parent of a label; -1:
  /// it has none.
  bool has_levels(uint32_t set) const;
  int32_t label_above(uint32_t set, uint32_t index) const;

  /// For the rest of the runtime (runtime/format/view.h): the verified FlatBuffer root, the data section and the whole
  /// file.
  const void* root() const { return root_; }
  const uint8_t* data() const { return data_; }
  const uint8_t* bytes() const { return bytes_; }
  uint64_t size() const { return size_; }

 private:
  const uint8_t* bytes_ = nullptr;
  uint64_t size_ = 0;
  const void* root_ = nullptr;
  const uint8_t* data_ = nullptr;
};

static_assert(sizeof(Model) <= 128, "Model is a small copyable view");

}  // namespace bantam
BANTAM_EXPORT_END

#endif  // BANTAM_MODEL_H_
