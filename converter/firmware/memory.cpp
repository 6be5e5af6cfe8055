#include "firmware/memory.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "bantam/decode.h"
#include "bantam/generation.h"
#include "bantam/image.h"
#include "bantam/sound.h"
#include "base/error.h"
#include "firmware/linked.h"
#include "firmware/small_plan.h"
#include "format/header.h"
#include "format/view.h"
#include "graph/task_parts.h"
#include "model/shortlist.h"
#include "ops/matrices.h"
#include "session/layout.h"
#include "session/state.h"
#include "text/tables.h"

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
    if (ops::executed_kind(*op) == fb::OpAttributes::Embed) {
      for (const fb::EmbedTable* table : *op->attributes_as_Embed()->tables()) {
        embeddings += take(ops::named_input(*op, table->tensor()));
      }
    }
    ops::for_each_matrix(*op, [&](int32_t matrix) { weights += take(matrix); });
  }
  uint64_t tokenizers = 0;
  for (uint32_t i = 0; i < count(m.tokenizers()); ++i) {
    const auto* blobs = m.tokenizers()->Get(i)->blobs();
    for (uint32_t k = 0; k < count(blobs); ++k) tokenizers += bytes_of(blobs->Get(k)->data());
  }
  const fb::Shortlist* shortlist = shortlist_of(m);
  const auto tables = static_cast<uint64_t>(model.data() - model.bytes());
  Parts parts = {{"graph", tables}, {"linear weights", weights}, {"embeddings", embeddings}, {"tokenizer", tokenizers}};
  if (shortlist != nullptr) parts.emplace_back("shortlist", bytes_of(shortlist->lists()));
  const uint64_t known = sum(parts);
  parts.emplace_back("biases, norms, padding", model.size() > known ? model.size() - known : 0);
  return parts;
}

namespace {

Limits limits_of(const Model& model, const SessionOptions& options) {
  Limits limits;
  Fault fault;
  if (resolve(model, options, &limits, &fault) != Status::kOk) {
    throw convert::Error(convert::ExitCode::kInternal, fmt::format("no session for an image: {}", fault.what));
  }
  return limits;
}

Parts planned_parts(const fb::Model& model, const Limits& limits) {
  Layout layout;
  if (!lay_out(model, limits, &layout)) throw convert::Error(convert::ExitCode::kInternal, "no session for an image");
  return {{"session", layout.shared},
          {"activations", layout.worker_memory - layout.shared},
          {"tile and scratch", layout.ids - layout.worker_memory},
          {"ids and offsets", layout.contexts - layout.ids},
          {"contexts", layout.size - layout.contexts}};
}

}  // namespace

Parts arena_parts(const Model& model, const SessionOptions& options) {
  return planned_parts(root(model), limits_of(model, options));
}

bool goes_on(const Model& model) {
  if (!has_part(model.task(), kNextWordsPart)) return false;
  Tokenizer tokenizer;
  TextDecoder decoder;
  const auto ignore = [](void*, const char*, size_t) {};
  if (Tokenizer::open(model, 0, &tokenizer) != Status::kOk) return false;
  if (TextDecoder::open(tokenizer, true, ignore, nullptr, &decoder) != Status::kOk) return false;
  SessionOptions options;
  options.max_context = 1;
  return arena_bytes(model, options) != 0;
}

namespace {

/// Returns the number of tokens for which an encoder-decoder's decoder has room: the file's number of new tokens, or
/// else the number of source tokens.
uint32_t answer_tokens(const Model& model, uint32_t max_tokens) {
  Generation said;
  const bool says = generation(model, 0, &said) == Status::kOk && said.beams.max_new != 0;
  const uint32_t wanted = says ? said.beams.max_new + 1 : max_tokens;
  return model.max_sequence() != 0 ? std::min(wanted, model.max_sequence()) : wanted;
}

}  // namespace

uint32_t longest_text(const Model& model) {
  const uint32_t places = model.source_vocabulary() != 0 ? model.max_source() : model.max_sequence();
  return places == 0 ? kUsualTokens : places;
}

void set_lengths(const Model& model, uint32_t max_tokens, SessionOptions* options) {
  const bool pair = model.source_vocabulary() != 0, continues = goes_on(model);
  options->max_tokens = !continues ? max_tokens : pair ? 1 : std::min(max_tokens, kPieceTokens);
  options->max_context = !continues ? 0 : pair ? answer_tokens(model, max_tokens) : max_tokens;
  options->max_source = pair ? max_tokens : 0;
}

SessionOptions image_options(const Model& model, uint32_t max_tokens, uint32_t block_rows) {
  SessionOptions options;
  set_lengths(model, max_tokens, &options);
  options.tile_rows = 4;
  options.block_rows = block_rows;
  options.text_offsets = answers_with_places(model.task());
  return options;
}

uint64_t stack_bytes(const Model& model) {
  // Measured stack plus a quarter. Without a chain of normalizers: 7.6 KB if words are gathered from code points, 19.5
  // KB for unigram words. With normalizers that only strip and prepend: 12.1 KB. With other normalizers: 30 KB more for
  // buffers.
  constexpr uint64_t kGathering = 10240, kInPlace = 16384, kLattice = 24576, kReplacing = 49152;
  uint64_t bytes = kStackBytes;
  const auto* tokenizers = root(model).tokenizers();
  for (uint32_t i = 0; i < count(tokenizers); ++i) {
    if ((tokenizers->Get(i)->model()->traits() & text::kCodePoints) != 0) bytes = std::max(bytes, kGathering);
    if (tokenizers->Get(i)->model()->kind() == fb::TokenModelKind::unigram) bytes = std::max(bytes, kLattice);
    const auto* normalizers = tokenizers->Get(i)->normalizers();
    for (uint32_t k = 0; k < count(normalizers); ++k) {
      const fb::NormalizerKind kind = normalizers->Get(k)->kind();
      const bool in_place = kind == fb::NormalizerKind::strip || kind == fb::NormalizerKind::prepend;
      if (kind != fb::NormalizerKind::bert) bytes = std::max(bytes, in_place ? kInPlace : kReplacing);
    }
  }
  return bytes;
}

uint64_t pixel_bytes(const Model& model) {
  ImageForm form;
  return image_form(model, &form) == Status::kOk ? uint64_t{form.width} * form.height * form.channels : 0;
}

uint64_t feature_bytes(const Model& model) {
  ImageForm form;
  return image_form(model, &form) == Status::kOk ? uint64_t{form.tokens} * form.columns * sizeof(float) : 0;
}

uint64_t sound_bytes(const Model& model) {
  constexpr uint64_t kPointer = 4, kOfCore = (sizeof(SoundRows) - sizeof(void*) + kPointer + 7) / 8 * 8;
  return takes_sound(model) ? kOfCore : 0;
}

uint64_t other_ram(const Model& model) {
  return stack_bytes(model) + kOtherRam + (goes_on(model) ? kPromptRam : 0) + pixel_bytes(model) +
         feature_bytes(model) + sound_bytes(model);
}

uint32_t tokens_that_fit(const Model& model, const Target& target, uint32_t wanted, uint32_t block_rows) {
  const auto fits = [&](uint32_t tokens) {
    const SessionOptions options = image_options(model, tokens, block_rows);
    return sum(arena_parts(model, options)) + other_ram(model) <= target.ram;
  };
  if (fits(wanted)) return wanted;
  uint32_t tokens = wanted / 4 * 4;
  while (tokens > 0 && !fits(tokens)) tokens -= 4;
  return tokens;
}

namespace {

/// Returns the options of convert that make a small plan; empty if the model has no small plan.
std::string small_plan_option(const fb::Model& m) {
  bool int8 = false;
  bool f32_residual = false;
  for (const fb::Op* op : *graph(m).ops()) {
    if (ops::executed_kind(*op) == fb::OpAttributes::Linear)
      int8 = int8 || integer_weights(tensor(m, operand(op->inputs(), 1)));
    const int32_t residual = op->epilogue() == nullptr ? -1 : ops::named_input(*op, op->epilogue()->residual());
    if (residual >= 0) f32_residual = f32_residual || tensor(m, residual).type() == fb::DType::f32;
  }
  return !int8 ? "" : f32_residual ? "--residual i8" : "--plan small";
}

}  // namespace

std::vector<Saving> savings(const Model& model, const SessionOptions& options) {
  const Parts now = arena_parts(model, options);
  const uint64_t least = sum(now) / 20;
  std::vector<Saving> found;
  if (options.block_rows > 1) {
    SessionOptions narrow = options;
    narrow.block_rows = 1;
    const uint64_t bytes = sum(now) - sum(arena_parts(model, narrow));
    if (bytes > least) found.push_back({"--block-rows 1", false, bytes});
  }
  const std::string option = small_plan_option(root(model));
  if (option.empty()) return found;
  const flatbuffers::DetachedBuffer tables = small_plan_tables(model);
  const uint64_t small = sum(planned_parts(*fb::GetModel(tables.data()), limits_of(model, options)));
  if (sum(now) > small && sum(now) - small > least) found.push_back({option, true, sum(now) - small});
  return found;
}

}  // namespace bantam::firmware
