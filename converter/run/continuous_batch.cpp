#include "run/continuous_batch.h"

#include <algorithm>

#include "base/status_error.h"

namespace bantam::convert {

ContinuousBatch::ContinuousBatch(Engine& engine)
    : engine_(engine),
      session_(engine.session()),
      pair_(engine.model().source_vocabulary() != 0),
      members_(std::min(engine.batch(), engine.session().max_tokens())) {}

void ContinuousBatch::join(GeneratedSequence* sequence) {
  const auto free = std::find_if(members_.begin(), members_.end(), [](const Member& m) { return !m.sequence; });
  const auto context = static_cast<uint32_t>(free - members_.begin());
  check(session_.truncate(context, 0), engine_.file().path());
  if (pair_) {
    const std::vector<int32_t>& ids = sequence->input().given.ids;
    Batch batch;
    batch.ids = ids.data();
    batch.tokens = static_cast<uint32_t>(ids.size());
    batch.sources = &context;
    check(session_.encode(batch), engine_.file().path());
  }
  *free = {};
  free->sequence = sequence;
  ++count_;
}

void ContinuousBatch::leave(const GeneratedSequence* sequence) {
  const auto found =
      std::find_if(members_.begin(), members_.end(), [&](const Member& m) { return m.sequence == sequence; });
  if (found == members_.end()) return;
  *found = {};
  --count_;
}

uint32_t ContinuousBatch::waiting(const Member& member) {
  if (!member.runs()) return 0;
  const size_t all = member.sequence->input().prompt.size() + member.sequence->ids().size();
  return static_cast<uint32_t>(all) - member.held;
}

bool ContinuousBatch::gather() {
  ids_.clear();
  contexts_.clear();
  offsets_.assign(1, 0);
  take_.assign(members_.size(), 0);
  uint32_t room = session_.max_tokens();
  // Every sequence has at least one token a step, so that long prompts do not stop the others.
  for (size_t i = 0; i < members_.size(); ++i) {
    take_[i] = std::min(waiting(members_[i]), 1U);
    room -= take_[i];
  }
  // Prompts take turns: the first to read its tokens changes from step to step.
  const auto size = static_cast<uint32_t>(members_.size());
  for (uint32_t k = 0; k < size; ++k) {
    const uint32_t i = (next_prompt_ + k) % size;
    const uint32_t more = std::min(waiting(members_[i]) - take_[i], room);
    take_[i] += more;
    room -= more;
  }
  next_prompt_ = (next_prompt_ + 1) % size;
  for (uint32_t i = 0; i < size; ++i) {
    if (take_[i] == 0) continue;
    const Member& member = members_[i];
    const std::vector<int32_t>& prompt = member.sequence->input().prompt;
    const std::vector<int32_t>& made = member.sequence->ids();
    for (uint32_t k = member.held; k < member.held + take_[i]; ++k) {
      ids_.push_back(k < prompt.size() ? prompt[k] : made[k - prompt.size()]);
    }
    contexts_.push_back(i);
    offsets_.push_back(static_cast<uint32_t>(ids_.size()));
  }
  return !contexts_.empty();
}

void ContinuousBatch::choose(uint32_t sequence, const Failed& failed) {
  Member& member = members_[contexts_[sequence]];
  try {
    NextToken next;
    check(next_token(session_, sequence, member.sequence->settings(), &next), engine_.file().path());
    member.sequence->add(next, member.held);
  } catch (const std::exception&) {
    member.stuck = true;
    failed(member.sequence, std::current_exception());
  }
}

void ContinuousBatch::step(const Failed& failed) {
  if (!gather()) return;
  Batch batch;
  batch.ids = ids_.data();
  batch.tokens = static_cast<uint32_t>(ids_.size());
  batch.sequences = static_cast<uint32_t>(contexts_.size());
  batch.offsets = offsets_.data();
  batch.contexts = contexts_.data();
  batch.sources = pair_ ? contexts_.data() : nullptr;
  batch.last_rows = true;
  batch.listed = std::all_of(contexts_.begin(), contexts_.end(), [this](uint32_t i) {
    const GeneratedSequence& sequence = *members_[i].sequence;
    return sequence.input().keeps_shortlist(sequence.decoding());
  });
  check(session_.run(batch), engine_.file().path());
  for (uint32_t i = 0; i < contexts_.size(); ++i) {
    Member& member = members_[contexts_[i]];
    member.held += take_[contexts_[i]];
    if (waiting(member) == 0) choose(i, failed);
  }
}

}  // namespace bantam::convert
