#include "run/perplexity.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/error.h"
#include "run/generate.h"
#include "run/status_error.h"

namespace bantam::convert {
namespace {

/// ln of the softmax of a row at `id`.
double log_probability(const float* row, uint32_t width, int32_t id) {
  const double largest = double{*std::max_element(row, row + width)};
  double sum = 0;
  for (uint32_t i = 0; i < width; ++i) sum += std::exp(double{row[i]} - largest);
  return double{row[id]} - largest - std::log(sum);
}

}  // namespace

double Likelihood::perplexity() const { return tokens == 0 ? 1 : std::exp(-log / static_cast<double>(tokens)); }
double Likelihood::bits_per_byte() const { return bytes == 0 ? 0 : -log / std::log(2.0) / static_cast<double>(bytes); }

void foretell(Engine& engine, const std::string& text, uint32_t overlap, Likelihood* all) {
  Session& session = engine.session();
  const std::vector<int32_t> ids = prompt_ids(engine.model(), text);
  all->bytes += text.size();
  const bool goes_on = session.max_context() != 0;  // else each run is a window of its own
  if (goes_on) check(session.truncate(0, 0), engine.file().path());
  size_t known = 0;  // tokens whose followers have been foretold
  for (size_t at = 0; at + 1 < ids.size();) {
    if (goes_on ? session.context_length(0) == session.max_context() : at != 0) {
      if (goes_on) check(session.truncate(0, 0), engine.file().path());
      at -= overlap;
    }
    const size_t room = goes_on ? session.max_context() - session.context_length(0) : session.max_tokens();
    Batch batch;
    batch.ids = ids.data() + at;
    batch.tokens = static_cast<uint32_t>(std::min({ids.size() - 1 - at, room, size_t{session.max_tokens()}}));
    check(session.run(batch), engine.file().path());
    OutputView view;
    check(session.output(0, 0, &view), engine.file().path());
    for (uint32_t row = 0; row < view.rows; ++row) {
      if (at + row < known) continue;
      all->log += log_probability(view.data + row * view.stride, view.width, ids[at + row + 1]);
      ++all->tokens;
    }
    at += batch.tokens;
    known = std::max(known, at);
  }
}

}  // namespace bantam::convert
