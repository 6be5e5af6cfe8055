#include "run/token_vectors.h"

#include <algorithm>

#include "bantam/tasks.h"
#include "base/status_error.h"
#include "format/view.h"

namespace bantam::convert {

TokenEmbedder::TokenEmbedder(Engine& engine) : engine_(engine) {
  if (engine.session().tokenizer() == nullptr) check(Status::kNoTokenizer, engine.file().path());
  const fb::Model& model = root(engine.model());
  for (uint32_t i = 0; i < count(model.properties()); ++i) {
    const fb::Property& property = *model.properties()->Get(i);
    if (to_string(as_text(property.key())) != kLateInteraction) continue;
    settings_ = parse_late_interaction(to_string(as_text(property.value())), engine.file().path());
  }
}

std::vector<int32_t> TokenEmbedder::tokens(const std::string& text, TextRole role, bool* truncated) const {
  const LateInteraction::Side& side = role == TextRole::kQuery ? settings_.query : settings_.document;
  const uint32_t filled = role == TextRole::kQuery ? settings_.filled : 0;
  const Tokenizer& tokenizer = *engine_.session().tokenizer();
  uint32_t most = engine_.longest();
  for (const uint32_t limit : {filled != 0 ? filled : side.max_tokens, filled != 0 ? 0 : tokenizer.max_tokens(),
                               engine_.model().max_sequence()}) {
    if (limit != 0) most = std::min(most, limit);
  }
  const uint32_t marks = side.marker >= 0 ? 1 : 0;
  if (most <= tokenizer.special_count(false) + marks) {
    fail(ExitCode::kInvalid, "{}: texts of at most {} tokens have no room beside special tokens", engine_.file().path(),
         most);
  }
  std::vector<int32_t> ids(most);
  TokenBuffer buffer;
  buffer.ids = ids.data();
  buffer.capacity = most - marks;
  EncodeOptions options;
  options.max_tokens = most - marks;
  EncodeResult result;
  const std::string whole = side.prompt + text;
  check(tokenizer.encode({whole.data(), whole.size()}, {}, options, buffer, &result), engine_.file().path());
  *truncated = result.truncated;
  ids.resize(result.count);
  if (side.marker >= 0) ids.insert(ids.begin() + (ids.empty() ? 0 : 1), side.marker);
  if (ids.empty()) fail(ExitCode::kInvalid, "{}: the tokenizer finds no token in a text", engine_.file().path());
  if (ids.size() < std::min(filled, most)) ids.resize(std::min(filled, most), settings_.filler);
  return ids;
}

std::vector<TokenVectors> TokenEmbedder::embed(const std::vector<std::string>& texts, TextRole role) {
  std::vector<TokenVectors> all(texts.size());
  std::vector<int32_t> ids;
  std::vector<uint32_t> offsets = {0};
  size_t begin = 0;
  const auto run = [&](size_t end) {
    if (begin == end) return;
    run_ids(ids, offsets, role, &all[begin]);
    ids.clear();
    offsets = {0};
    begin = end;
  };
  for (size_t i = 0; i < texts.size(); ++i) {
    const std::vector<int32_t> own = tokens(texts[i], role, &all[i].truncated);
    if (ids.size() + own.size() > engine_.session().max_tokens()) run(i);
    ids.insert(ids.end(), own.begin(), own.end());
    offsets.push_back(static_cast<uint32_t>(ids.size()));
    if (engine_.is_full(static_cast<uint32_t>(offsets.size() - 1), offsets.back())) run(i + 1);
  }
  run(texts.size());
  return all;
}

void TokenEmbedder::run_ids(const std::vector<int32_t>& ids, const std::vector<uint32_t>& offsets, TextRole role,
                            TokenVectors* out) {
  Batch batch;
  batch.ids = ids.data();
  batch.offsets = offsets.data();
  batch.sequences = static_cast<uint32_t>(offsets.size() - 1);
  batch.tokens = offsets.back();
  check(engine_.session().run(batch), engine_.file().path());
  for (uint32_t i = 0; i < batch.sequences; ++i) {
    OutputView view;
    check(embed_tokens(engine_.session(), i, &view), engine_.file().path());
    out[i].width = view.width;
    for (uint32_t row = 0; row < view.rows; ++row) {
      const int32_t id = ids[offsets[i] + row];
      const bool skips = role != TextRole::kQuery;
      if (skips && std::binary_search(settings_.skipped.begin(), settings_.skipped.end(), id)) continue;
      const float* vector = view.data + row * view.stride;
      out[i].ids.push_back(id);
      out[i].values.insert(out[i].values.end(), vector, vector + view.width);
    }
  }
}

float max_similarity(const TokenVectors& query, const TokenVectors& document) {
  if (document.ids.empty() || query.width != document.width) return 0;
  const size_t width = query.width;
  double sum = 0;
  for (size_t q = 0; q < query.ids.size(); ++q) {
    float best = 0;
    for (size_t d = 0; d < document.ids.size(); ++d) {
      float product = 0;
      for (size_t i = 0; i < width; ++i) product += query.values[q * width + i] * document.values[d * width + i];
      if (d == 0 || product > best) best = product;
    }
    sum += double{best};
  }
  return static_cast<float>(sum);
}

}  // namespace bantam::convert
