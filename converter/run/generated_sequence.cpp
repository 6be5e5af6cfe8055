#include "run/generated_sequence.h"

#include <algorithm>

#include "base/error.h"
#include "format/view.h"

namespace bantam::convert {
namespace {

bool is_pair(const Model& model) { return model.source_vocabulary() != 0; }

/// Checks that the context has room for a token after the prompt.
void require_room(Engine& engine, const std::vector<int32_t>& prompt) {
  if (prompt.empty()) {
    fail(ExitCode::kInvalid, "the prompt is empty, and this model's texts begin with no token of their own");
  }
  const uint32_t most = engine.session().max_context();
  if (prompt.size() < most) return;
  const uint32_t places = root(engine.model()).max_sequence();
  fail(ExitCode::kInvalid, "the prompt has {} tokens, which leave no room for another in a context of {}; shorten it{}",
       prompt.size(), most, places == 0 || most < places ? ", or give a larger --context" : "");
}

/// `text`: the prompt's text; empty if it is not the decoder's.
void constrain(Engine& engine, const Decoding& decoding, const std::string& text, SequenceInput* input) {
  if (!decoding.form.is_given()) return;
  std::vector<int32_t> prompt = input->prompt;
  // Without beams, the last token of a text is not run.
  const auto used = static_cast<uint32_t>(prompt.size()) - (decoding.has_beams() ? 0 : 1);
  const uint32_t forced = SequenceInput::forced_first(decoding);
  const uint32_t room = std::min(decoding.said.beams.max_new, engine.session().max_context() - used);
  if (forced != 0) prompt.push_back(decoding.said.beams.first_id);
  input->constraint =
      std::make_unique<TextConstraint>(engine.model(), decoding, text, prompt, room - std::min(room, forced));
}

}  // namespace

SequenceInput read_sequence(Engine& engine, const Decoding& decoding, const std::string& text) {
  const Model& model = engine.model();
  SequenceInput input;
  std::string before;
  if (is_pair(model)) {
    input.given = source_ids(model, decoding, text, engine.session().max_source());
    input.prompt = {decoding.said.start_id};
  } else {
    before = to_string(decoding.said.prefix) + text;
    input.given = text_ids(model, 0, before, 0, decoding.special_tokens);
    input.prompt = input.given.ids;
  }
  require_room(engine, input.prompt);
  if (input.given.ids.empty() || (is_pair(model) && text.empty())) {
    fail(ExitCode::kInvalid, "the text is empty, and becomes no token");
  }
  constrain(engine, decoding, before, &input);
  return input;
}

SequenceInput read_sequence(Engine& engine, const Decoding& decoding, std::vector<int32_t> ids) {
  SequenceInput input;
  input.prompt = ids;
  input.given.ids = std::move(ids);
  require_room(engine, input.prompt);
  constrain(engine, decoding, "", &input);
  return input;
}

Sampling GeneratedSequence::settings() {
  const BeamOptions& said = decoding_.said.beams;
  const size_t made = ids_.size();
  const uint32_t forced = SequenceInput::forced_first(decoding_);
  Sampling sampling = decoding_.sampling;
  sampling.seed = seed_;
  banned_.assign(said.banned, said.banned + said.banned_count - (made == forced ? 0 : said.begin_banned));
  if (made < said.min_new) banned_.insert(banned_.end(), decoding_.ends.begin(), decoding_.ends.end());
  sampling.banned = banned_.data();
  sampling.banned_count = static_cast<uint32_t>(banned_.size());
  sampling.source_no_repeat_ngram = said.source_no_repeat_ngram;
  sampling.source_ids = input_.given.ids.data();
  sampling.source_count = static_cast<uint32_t>(input_.given.ids.size());
  if (made == 0) sampling.forced = said.first_id;
  if (input_.constraint == nullptr) {
    if (made + 1 == said.max_new && said.last_id >= 0) sampling.forced = said.last_id;
  } else if (made >= forced) {
    sampling.constraint = &input_.constraint->constraint();
    sampling.prompt = static_cast<uint32_t>(input_.prompt.size()) + forced;
    sampling.max_new = input_.constraint->room();
  }
  return sampling;
}

void GeneratedSequence::add(const NextToken& next, uint32_t held) {
  ids_.push_back(next.id);
  logs_.push_back(next.log_probability);
  log_sum_ += static_cast<double>(next.log_probability);
  done_ = true;
  if (decoding_.ends_text(next.id)) {
    finish_ = Finish::kEnd;
  } else if (!stream_.add(next.id)) {
    finish_ = Finish::kStop;
  } else if (ids_.size() >= decoding_.said.beams.min_new && is_complete()) {
    finish_ = Finish::kEnd;
  } else if (ids_.size() >= decoding_.said.beams.max_new) {
    finish_ = Finish::kLength;
  } else if (held == max_context_) {
    finish_ = Finish::kContext;
  } else {
    done_ = false;
  }
}

/// Returns true if only an end token may follow.
bool GeneratedSequence::is_complete() const {
  if (input_.constraint == nullptr) return false;
  const auto forced = static_cast<ptrdiff_t>(SequenceInput::forced_first(decoding_));
  return input_.constraint->must_end({ids_.begin() + forced, ids_.end()});
}

}  // namespace bantam::convert
