#include "score/perplexity.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

#include "base/error.h"
#include "base/status_error.h"
#include "run/generate.h"

namespace bantam::convert {
namespace {

/// Returns the logarithm of the softmax of a row at `id`.
double log_probability(const float* row, uint32_t width, int32_t id) {
  const double largest = double{*std::max_element(row, row + width)};
  double sum = 0;
  for (uint32_t i = 0; i < width; ++i) sum += std::exp(double{row[i]} - largest);
  return double{row[id]} - largest - std::log(sum);
}

}  // namespace

double Likelihood::perplexity() const { return tokens == 0 ? 1 : std::exp(-log / static_cast<double>(tokens)); }
double Likelihood::bits_per_byte() const { return bytes == 0 ? 0 : -log / std::log(2.0) / static_cast<double>(bytes); }

void foretell(Engine& engine, const std::string& text, uint32_t overlap, const Retrieve& retrieve, Likelihood* all) {
  Session& session = engine.session();
  const std::vector<int32_t> ids = prompt_ids(engine.model(), text);
  all->bytes += text.size();
  const bool goes_on = session.max_context() != 0;  // otherwise each run is a separate window
  std::optional<ChunkedText> pieces;
  if (goes_on) pieces.emplace(session, engine.file().path(), 0, 0, retrieve);
  size_t known = 0;  // number of tokens whose next token has been predicted
  for (size_t at = 0; at + 1 < ids.size();) {
    if (goes_on ? session.context_length(0) == session.max_context() : at != 0) {
      if (pieces) pieces->clear();
      at -= overlap;
    }
    const size_t room = goes_on ? session.max_context() - session.context_length(0) : session.max_tokens();
    const size_t count = std::min({ids.size() - 1 - at, room, size_t{session.max_tokens()}});
    const auto take = [&](size_t first, uint32_t rows) {
      OutputView view;
      check(session.output(0, 0, &view), engine.file().path());
      for (uint32_t row = 0; row < rows; ++row) {
        const size_t token = at + first + row;
        if (token < known) continue;
        all->log += log_probability(view.data + row * view.stride, view.width, ids[token + 1]);
        ++all->tokens;
      }
    };
    if (pieces) {
      pieces->run(ids.data() + at, count, false, take);
    } else {
      Batch batch;
      batch.ids = ids.data() + at;
      batch.tokens = static_cast<uint32_t>(count);
      check(session.run(batch), engine.file().path());
      take(0, batch.tokens);
    }
    at += count;
    known = std::max(known, at);
  }
}

}  // namespace bantam::convert
