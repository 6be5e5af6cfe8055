#include "run/guesses.h"

#include <algorithm>

#include "base/error.h"
#include "base/status_error.h"
#include "graph/task_parts.h"
#include "run/generate.h"

namespace bantam::convert {
namespace {

/// Returns why `draft` cannot guess for `target`; empty if it can.
std::string why_not(const Model& draft, const Model& target) {
  if (target.source_vocabulary() != 0) return "guesses for decoders; --lookup guesses for an encoder-decoder";
  if (!has_part(draft.task(), kNextWordsPart) || draft.source_vocabulary() != 0 || !keeps_contexts(draft)) {
    return "is not a decoder that keeps contexts";
  }
  if (!forgets_tokens(draft)) return "keeps states of its tokens, and cannot forget wrong guesses";
  if (draft.vocabulary() != target.vocabulary()) {
    return fmt::format("has {} tokens, and the model {}", draft.vocabulary(), target.vocabulary());
  }
  constexpr const char* kProbe = "Two models share their tokens: 12,345 of them, say.";
  const bool known = draft.has_tokenizer() && target.has_tokenizer();
  const bool same = !known || prompt_ids(draft, kProbe, false) == prompt_ids(target, kProbe, false);
  return same ? "" : "splits texts into other tokens than the model";
}

EngineOptions options_of(const ModelFile& file, const ModelFile& target, EngineOptions options, uint32_t texts,
                         uint32_t context) {
  const std::string why = why_not(file.model(), target.model());
  if (!why.empty()) {
    fail(ExitCode::kUnsupported, "--draft {}: {}; a draft is a smaller decoder with the model's tokenizer", file.path(),
         why);
  }
  options.batch = texts;
  const uint32_t places = file.model().max_sequence();
  options.max_context = places == 0 ? context : std::min(places, context);
  options.max_source = 0;
  return options;
}

}  // namespace

DraftModel::DraftModel(const ModelFile& file, const ModelFile& target, const EngineOptions& options, uint32_t texts,
                       uint32_t context)
    : engine_(file, options_of(file, target, options, texts, context)) {}

void DraftModel::run(uint32_t context, const int32_t* ids, uint32_t count) {
  Session& session = engine_.session();
  for (uint32_t at = 0; at < count; at += session.max_tokens()) {
    Batch batch;
    batch.ids = ids + at;
    batch.tokens = std::min(session.max_tokens(), count - at);
    batch.contexts = &context;
    batch.last_rows = true;
    check(session.run(batch), engine_.file().path());
  }
}

void DraftModel::follow(uint32_t context, const std::vector<int32_t>& ids) {
  Session& session = engine_.session();
  const int32_t* held = session.context_ids(context);
  const auto most = std::min<size_t>(session.context_length(context), ids.size() - 1);
  const auto same = std::mismatch(ids.begin(), ids.begin() + static_cast<std::ptrdiff_t>(most), held).first;
  const auto kept = static_cast<uint32_t>(same - ids.begin());
  check(session.truncate(context, kept), engine_.file().path());
  run(context, ids.data() + kept, static_cast<uint32_t>(ids.size()) - kept);
}

void DraftModel::guess(uint32_t text, const std::vector<int32_t>& ids, Sampling sampling, uint32_t most,
                       std::vector<int32_t>* out) {
  const Session& session = engine_.session();
  if (most == 0 || ids.size() >= session.max_context()) return;
  // The draft needs none of what only the model's own choice must obey.
  sampling.constraint = nullptr;
  sampling.log_probability = false;
  follow(text, ids);
  const auto room = session.max_context() - static_cast<uint32_t>(ids.size());
  for (uint32_t i = 0; i < std::min(most, room + 1); ++i) {
    if (i != 0) run(text, &out->back(), 1);
    NextToken next;
    check(next_token(engine_.session(), 0, sampling, &next), engine_.file().path());
    out->push_back(next.id);
  }
}

}  // namespace bantam::convert
