// Labelled words, one after the other, to entities. A state machine of one open entity: no buffer.
#ifndef BANTAM_TASKS_ENTITIES_H_
#define BANTAM_TASKS_ENTITIES_H_

#include "bantam/tasks.h"
#include "linked.h"
#include "tasks/labels.h"

namespace bantam::tasks {

/// IOB1, IOB2: B-X starts an entity; I-X continues one of the same X, else starts one. BIOES: also E-X ends it
/// and S-X is one by itself (E-X after anything but B-X or I-X: too). Plain: neighbours with the same label
/// are one entity. An entity's score is its words' smallest, or their mean.
class EntityDecoder {
 public:
  explicit EntityDecoder(bool mean = false) : mean_(mean) {}
  /// The next word in text order, its tag taken apart. True: `done` holds an entity that ended before this word.
  bool push(Offset word, Tag tag, LabelScore label, Entity* done);
  /// After the last word. True: `done` holds the last entity.
  bool finish(Entity* done);

 private:
  bool mean_;
  bool open_ = false;
  bool closed_ = false;  // the open entity takes no further word (E-X, S-X)
  uint32_t words_ = 0;   // of the open entity
  Text name_;            // Tag::name of the open entity's words
  Entity entity_;        // its score: the sum, if they are averaged
};

/// Tags of one label set of a model, as `aggregation` reads them.
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
  /// Entities of these tags.
  EntityDecoder decoder() const { return EntityDecoder(linked::kStrategies && aggregation_ != Aggregation::kWords); }

 private:
  const Model& model_;
  uint32_t set_;
  Aggregation aggregation_;
  fb::TagScheme scheme_ = fb::TagScheme::plain;
};

/// Where decoders put entities: the first `capacity` are kept, all are counted.
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
