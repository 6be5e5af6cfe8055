// Converts labelled words in text order to entities. A state machine with one open entity: no buffer.
#ifndef BANTAM_TASKS_ENTITIES_H_
#define BANTAM_TASKS_ENTITIES_H_

#include "bantam/tasks.h"
#include "linked.h"
#include "tasks/labels.h"

namespace bantam::tasks {

/// IOB1, IOB2: B-X begins an entity; I-X continues an entity of the same X, else begins one. BIOES: E-X also ends it,
/// and S-X is an entity of one word (so is E-X after anything but B-X or I-X). Plain: adjacent words with the same
/// label form one entity. An entity's score is the smallest of its words' scores, or their mean.
class EntityDecoder {
 public:
  explicit EntityDecoder(bool mean = false) : mean_(mean) {}
  /// Adds the next word in text order, with its parsed tag. Returns true if `done` holds an entity that ended before
  /// this word.
  bool push(Offset word, Tag tag, LabelScore label, Entity* done);
  /// Ends the text. Returns true if `done` holds the last entity.
  bool finish(Entity* done);

 private:
  bool mean_;
  bool open_ = false;
  bool closed_ = false;  // the open entity takes no further word (E-X, S-X)
  uint32_t words_ = 0;   // number of words of the open entity
  Text name_;            // Tag::name of the open entity's words
  Entity entity_;        // its score is the sum if scores are averaged
};

/// The tags of a label set of a model, as `aggregation` interprets them.
class TagSet {
 public:
  TagSet(const Model& model, uint32_t set, Aggregation aggregation)
      : model_(model), set_(set), aggregation_(aggregation) {
    const fb::LabelSet* labels = label_set(model, set);
    if (labels != nullptr) scheme_ = labels->scheme();
  }
  Tag tag(uint32_t label) const {
    const Text name = model_.label(set_, label);
    const bool own = !linked::kStrategies || aggregation_ == Aggregation::kWords;
    return own ? parse_tag(name, scheme_) : parse_tag(name, aggregation_);
  }
  /// Returns a decoder of entities with these tags.
  EntityDecoder decoder() const { return EntityDecoder(linked::kStrategies && aggregation_ != Aggregation::kWords); }

 private:
  const Model& model_;
  uint32_t set_;
  Aggregation aggregation_;
  fb::TagScheme scheme_ = fb::TagScheme::plain;
};

/// Receives entities: stores the first `capacity` and counts all.
struct EntitySink {
  Entity* out;
  uint32_t capacity;
  uint32_t count = 0;
  void put(const Entity& entity) {
    if (count < capacity) out[count] = entity;
    ++count;
  }
};

}  // namespace bantam::tasks

#endif  // BANTAM_TASKS_ENTITIES_H_
