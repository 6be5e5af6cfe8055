// Labelled words, one after the other, to entities. A state machine of one open entity: no buffer.
#ifndef BANTAM_TASKS_ENTITIES_H_
#define BANTAM_TASKS_ENTITIES_H_

#include "bantam/tasks.h"
#include "tasks/labels.h"

namespace bantam::tasks {

/// IOB1, IOB2: B-X starts an entity; I-X continues one of the same X, else starts one. BIOES: also E-X ends it
/// and S-X is one by itself (E-X after anything but B-X or I-X: too). Plain: neighbours with the same label
/// are one entity. An entity's score is its words' smallest.
class EntityDecoder {
 public:
  /// The next word in text order, its tag taken apart. True: `done` holds an entity that ended before this word.
  bool push(Offset word, Tag tag, LabelScore label, Entity* done);
  /// After the last word. True: `done` holds the last entity.
  bool finish(Entity* done);

 private:
  bool open_ = false;
  bool closed_ = false;  // the open entity takes no further word (E-X, S-X)
  Entity entity_;
};

/// Tags of one label set of a model.
class TagSet {
 public:
  TagSet(const Model& model, uint32_t set) : model_(model), set_(set) {
    const fb::LabelSet* labels = label_set(model, set);
    if (labels != nullptr) scheme_ = labels->scheme();
  }
  Tag tag(uint32_t label) const { return parse_tag(model_.label(set_, label), scheme_); }

 private:
  const Model& model_;
  uint32_t set_;
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
