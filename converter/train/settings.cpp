#include "train/settings.h"

#include <fmt/format.h>

namespace bantam::train {

std::string describe(const Settings& s) {
  std::string layers;
  for (const auto& [student, teacher] : s.layers) layers += fmt::format("{}:{},", student, teacher);
  return fmt::format(
      "loss={}/{}/{}/{}/{} temperature={} layers={} relation_heads={} learning_rate={} weight_decay={} warmup={} "
      "dropout={} clip={} ema={} epochs={} batch={} patience={} seed={} threads={} freeze={} quantize={}/{}/{} "
      "prune={}/{}/{}/{}/{}/{} precision={} smoothing={}",
      s.loss.hard, s.loss.soft, s.loss.hidden, s.loss.attention, s.loss.relation, s.temperature, layers,
      s.relation_heads, s.learning_rate, s.weight_decay, s.warmup, s.dropout, s.clip, s.ema, s.epochs, s.batch,
      s.patience, s.seed, s.threads, static_cast<int>(s.freeze), static_cast<int>(s.quantize), s.group,
      s.quantize_begin, s.prune.sparsity, s.prune.pattern, s.prune.begin, s.prune.end, static_cast<int>(s.prune.by),
      static_cast<int>(s.prune.scope), static_cast<int>(s.precision), s.smoothing);
}

}  // namespace bantam::train
