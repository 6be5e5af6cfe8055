#include "firmware/memory.h"

#include <fmt/format.h>

#include <set>

#include "graph/error.h"
#include "model/header.h"
#include "model/view.h"
#include "session/layout.h"
#include "session/state.h"

namespace bantam::firmware {
namespace {

uint64_t bytes_of(const fb::Blob* blob) { return blob == nullptr ? 0 : blob->size(); }

uint64_t bytes_of(const fb::Tensor& t) { return bytes_of(t.data()) + bytes_of(t.scales()) + bytes_of(t.sums()); }

}  // namespace

uint64_t sum(const Parts& parts) {
  uint64_t total = 0;
  for (const auto& [name, bytes] : parts) total += bytes;
  return total;
}

Parts model_parts(const Model& model) {
  const fb::Model& m = root(model);
  std::set<int32_t> counted;
  const auto take = [&](int32_t index) -> uint64_t {
    if (index < 0 || !is_constant(tensor(m, index)) || tensor(m, index).alias() >= 0) return 0;
    return counted.insert(index).second ? bytes_of(tensor(m, index)) : 0;
  };
  uint64_t embeddings = 0;
  uint64_t weights = 0;
  for (const fb::Op* op : *graph(m).ops()) {
    if (op->attributes_type() == fb::OpAttributes::Embed) {
      for (const fb::EmbedTable* table : *op->attributes_as_Embed()->tables()) embeddings += take(table->tensor());
    }
    if (op->attributes_type() == fb::OpAttributes::Linear) weights += take(operand(op->inputs(), 1));
  }
  uint64_t tokenizers = 0;
  for (uint32_t i = 0; i < count(m.tokenizers()); ++i) {
    const fb::Tokenizer& t = *m.tokenizers()->Get(i);
    for (const fb::Blob* blob :
         {t.token_text(), t.token_begin(), t.trie(), t.trie_aux(), t.merges(), t.scores(), t.charsmap()}) {
      tokenizers += bytes_of(blob);
    }
  }
  const auto tables = static_cast<uint64_t>(model.data() - model.bytes());
  Parts parts = {{"graph", tables}, {"linear weights", weights}, {"embeddings", embeddings}, {"tokenizer", tokenizers}};
  const uint64_t known = sum(parts);
  parts.emplace_back("biases, norms, padding", model.size() > known ? model.size() - known : 0);
  return parts;
}

Parts arena_parts(const Model& model, const SessionOptions& options) {
  Limits limits;
  Layout layout;
  Fault fault;
  if (resolve(model, options, &limits, &fault) != Status::kOk || !lay_out(model, limits, &layout)) {
    throw convert::Error(convert::ExitCode::kInternal, fmt::format("no session for an image: {}", fault.what));
  }
  return {{"session", layout.shared},
          {"activations", layout.worker_memory - layout.shared},
          {"tile and scratch", layout.ids - layout.worker_memory},
          {"ids and offsets", layout.size - layout.ids}};
}

SessionOptions image_options(uint32_t max_tokens) {
  SessionOptions options;
  options.max_tokens = max_tokens;
  options.tile_rows = 4;
  options.block_rows = 4;
  return options;
}

uint32_t tokens_that_fit(const Model& model, const Target& target, uint32_t wanted) {
  const auto fits = [&](uint32_t tokens) {
    return sum(arena_parts(model, image_options(tokens))) + kStackBytes + kOtherRam <= target.ram;
  };
  if (fits(wanted)) return wanted;
  uint32_t tokens = wanted / 4 * 4;
  while (tokens > 0 && !fits(tokens)) tokens -= 4;
  return tokens;
}

}  // namespace bantam::firmware
