#include "tasks/entities.h"

namespace bantam::tasks {

bool EntityDecoder::push(Offset word, Tag tag, LabelScore label, Entity* done) {
  const bool same = open_ && !closed_ && same_text(tag.name, name_);
  const bool continues = same && (tag.prefix == 'I' || tag.prefix == 'E' || tag.prefix == 0);
  if (continues) {
    entity_.span.end = word.end;
    if (mean_) {
      entity_.score += label.score;
    } else if (label.score < entity_.score) {
      entity_.score = label.score;
    }
    ++words_;
    closed_ = tag.prefix == 'E';
    return false;
  }
  const bool ended = finish(done);
  if (tag.prefix != 'O') {
    open_ = true;
    closed_ = tag.prefix == 'E' || tag.prefix == 'S';
    words_ = 1;
    name_ = tag.name;
    entity_ = {label.label, tag.entity, word, label.score};
  }
  return ended;
}

bool EntityDecoder::finish(Entity* done) {
  if (!open_) return false;
  *done = entity_;
  if (mean_) done->score /= static_cast<float>(words_);
  open_ = false;
  return true;
}

}  // namespace bantam::tasks

namespace bantam {

Status entities(const Model& model, uint32_t set, const Offset* words, const LabelScore* labels, uint32_t word_count,
                Entity* out, uint32_t capacity, uint32_t* count, Aggregation aggregation) {
  if (tasks::label_set(model, set) == nullptr) return Status::kNoSuchTask;
  if (count == nullptr || (word_count > 0 && (words == nullptr || labels == nullptr))) return Status::kInvalidArgument;
  if (capacity > 0 && out == nullptr) return Status::kInvalidArgument;
  for (uint32_t i = 0; i < word_count; ++i) {
    if (labels[i].label >= model.label_count(set)) return Status::kIndexOutOfRange;
  }
  if (aggregation == Aggregation::kFile) aggregation = file_aggregation(model, set);
  if (aggregation > Aggregation::kMax) return Status::kInvalidArgument;
  if (!linked::kStrategies && aggregation != Aggregation::kWords) return Status::kOpNotLinked;
  const tasks::TagSet tags(model, set, aggregation);
  tasks::EntityDecoder decoder = tags.decoder();
  tasks::EntitySink sink{out, capacity};
  Entity done;
  for (uint32_t i = 0; i < word_count; ++i) {
    if (decoder.push(words[i], tags.tag(labels[i].label), labels[i], &done)) sink.put(done);
  }
  if (decoder.finish(&done)) sink.put(done);
  *count = sink.count;
  return sink.count > capacity ? Status::kBufferTooSmall : Status::kOk;
}

}  // namespace bantam
