#include "bantam/generation.h"

#include <string.h>

#include "linked.h"
#include "tasks/labels.h"

#if BANTAM_IF_LINKED(Contexts)

namespace bantam {
namespace {

static_assert(static_cast<int>(EarlyStopping::kNever) == static_cast<int>(fb::EarlyStopping::never));
static_assert(static_cast<int>(LanguagePlace::kSource) == static_cast<int>(fb::LanguagePlace::source));

}  // namespace

uint32_t generation_count(const Model& model) {
  const fb::Task* task = tasks::task_of(model);
  return task == nullptr ? 0 : count(task->generations());
}

Status generation(const Model& model, uint32_t index, Generation* out) {
  if (out == nullptr) return Status::kInvalidArgument;
  if (index >= generation_count(model)) return Status::kIndexOutOfRange;
  const fb::Generation& said = *tasks::task_of(model)->generations()->Get(index);
  *out = {};
  out->name = as_text(said.name());
  out->prefix = as_text(said.prefix());
  out->start_id = said.start_id();
  BeamOptions& beams = out->beams;
  beams.beams = said.beams() < kMostBeams ? said.beams() : kMostBeams;
  beams.max_new = said.max_new();
  beams.min_new = said.min_new();
  beams.length_penalty = said.length_penalty();
  beams.early_stopping = static_cast<EarlyStopping>(said.early_stopping());
  beams.repetition_penalty = said.repetition_penalty();
  beams.no_repeat_ngram = said.no_repeat_ngram();
  beams.banned_count = count(said.banned());
  beams.banned = beams.banned_count == 0 ? nullptr : said.banned()->data();
  beams.begin_banned = said.begin_banned();
  beams.source_no_repeat_ngram = said.source_no_repeat_ngram();
  beams.first_id = said.first_id();
  beams.last_id = said.last_id();
  return Status::kOk;
}

LanguagePlace language_place(const Model& model) {
  const fb::Task* task = tasks::task_of(model);
  return task == nullptr ? LanguagePlace::kNone : static_cast<LanguagePlace>(task->language_place());
}

uint32_t language_count(const Model& model) {
  const fb::Task* task = tasks::task_of(model);
  return task == nullptr ? 0 : count(task->languages());
}

Status language(const Model& model, uint32_t index, Language* out) {
  if (out == nullptr) return Status::kInvalidArgument;
  if (index >= language_count(model)) return Status::kIndexOutOfRange;
  const fb::Language& said = *tasks::task_of(model)->languages()->Get(index);
  *out = {as_text(said.code()), said.token()};
  return Status::kOk;
}

Status find_language(const Model& model, Text code, Language* out) {
  if (out == nullptr) return Status::kInvalidArgument;
  for (uint32_t i = 0; i < language_count(model); ++i) {
    Language found;
    language(model, i, &found);
    if (found.code.size != code.size || memcmp(found.code.data, code.data, code.size) != 0) continue;
    *out = found;
    return Status::kOk;
  }
  return Status::kIndexOutOfRange;
}

}  // namespace bantam

#endif  // BANTAM_IF_LINKED(Contexts)
