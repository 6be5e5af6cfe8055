// The functions that JavaScript calls: bantam's sessions and tasks for one model per instance, with numbers and
// addresses only. A result of more than one number is written to an address that the caller passes: see each function.
// The caller is targets/packages/npm/module.js.
#include <string.h>

#include "bantam/session.h"
#include "bantam/tasks.h"
#include "format/view.h"

#if defined(__wasm_relaxed_simd__)
#include <wasm_simd128.h>
#endif

namespace {

using bantam::Status;
using bantam::Text;

/// One model and one session. A page with several models has several instances.
struct Web {
  bantam::Model model;
  bantam::Session* session = nullptr;
  bantam::Fault fault;
} web;

int32_t number(Status status) { return static_cast<int32_t>(status); }

void put_text(Text text, uint32_t* out) {
  out[0] = static_cast<uint32_t>(reinterpret_cast<uintptr_t>(text.data));
  out[1] = static_cast<uint32_t>(text.size);
}
void put_float(float value, uint32_t* out) { memcpy(out, &value, 4); }

/// Writes two numbers for each: label or number, and score.
void put_scores(const bantam::LabelScore* scores, uint32_t count, uint32_t* out) {
  for (uint32_t i = 0; i < count; ++i, out += 2) {
    out[0] = scores[i].label;
    put_float(scores[i].score, out + 1);
  }
}

/// Writes six numbers for each: label, name, position and score. `found` may overlap `out`, because its elements are at
/// least as large.
void put_entities(const bantam::Entity* found, uint32_t count, uint32_t* out) {
  static_assert(sizeof(bantam::Entity) >= 24, "see below");
  for (uint32_t i = 0; i < count; ++i, out += 6) {
    const bantam::Entity entity = found[i];
    out[0] = entity.label;
    put_text(entity.name, out + 1);
    out[3] = entity.span.begin;
    out[4] = entity.span.end;
    put_float(entity.score, out + 5);
  }
}

#if defined(__wasm_relaxed_simd__)

/// Returns true if multiplications and additions of the kernels are fused. The product has bits beyond 24 that a
/// separate rounding would lose; the addition cancels its leading bits.
bool multiplies_fused() {
#if defined(BANTAM_WASM_OWN_FMA)
  return true;
#else
  volatile float factor = 1.0f + 0x1p-12f, addend = -(1.0f + 0x1p-11f);
  const v128_t x = wasm_f32x4_splat(factor);
  const v128_t rest = wasm_f32x4_relaxed_madd(x, x, wasm_f32x4_splat(addend));
  return wasm_i32x4_all_true(wasm_f32x4_eq(rest, wasm_f32x4_splat(0x1p-24f)));
#endif
}

/// Returns true if the relaxed SIMD instructions that the kernels use (dot product with 7-bit bytes, lane select by a
/// mask, table lookup) give the expected results for random and extreme operands.
bool relaxed_instructions_agree() {
  uint32_t state = 1;
  for (uint32_t round = 0; round < 64; ++round) {
    int8_t bytes[16], seven[16];
    int32_t sums[4] = {1, -2, 3, -4}, found[4];
    for (uint32_t i = 0; i < 16; ++i) {
      state = state * 1664525u + 1013904223u;
      bytes[i] =
          static_cast<int8_t>(round < 2 ? 127 - 255 * static_cast<int>(round) : static_cast<int>(state >> 24) - 128);
      seven[i] = static_cast<int8_t>(round < 2 ? 127 : static_cast<int>(state >> 16 & 127));
      sums[i / 4] += bytes[i] * seven[i];
    }
    const v128_t start = wasm_i32x4_make(1, -2, 3, -4);
    const v128_t v = wasm_v128_load(bytes), w = wasm_v128_load(seven);
    wasm_v128_store(found, wasm_i32x4_relaxed_dot_i8x16_i7x16_add(v, w, start));
    if (memcmp(found, sums, sizeof found) != 0) return false;
    const v128_t mask = wasm_i32x4_gt(v, w), places = wasm_v128_and(w, wasm_i8x16_splat(15));
    const v128_t chosen = wasm_v128_xor(wasm_i32x4_relaxed_laneselect(v, w, mask), wasm_v128_bitselect(v, w, mask));
    const v128_t looked_up = wasm_v128_xor(wasm_i8x16_relaxed_swizzle(v, places), wasm_i8x16_swizzle(v, places));
    if (wasm_v128_any_true(wasm_v128_or(chosen, looked_up))) return false;
  }
  return true;
}

#endif

}  // namespace

extern "C" {

#define BANTAM_WEB(name) __attribute__((export_name(#name))) name

/// Returns 1 if this module gives the same bits as native builds on this machine, otherwise 0.
int32_t BANTAM_WEB(self_test)() {
#if defined(__wasm_relaxed_simd__)
  return multiplies_fused() && relaxed_instructions_agree() ? 1 : 0;
#else
  return 1;
#endif
}

/// Returns the name of this module.
const char* BANTAM_WEB(variant)() {
#if defined(BANTAM_WASM_OWN_FMA)
  return "relaxed-dot";
#elif defined(__wasm_relaxed_simd__)
  return "relaxed";
#else
  return "simd128";
#endif
}

const char* BANTAM_WEB(status_message)(int32_t status) { return bantam::status_message(static_cast<Status>(status)); }
/// Returns the fault that open() or create() found in the file, or null; writes the address and size of its name to
/// out[0, 2).
const char* BANTAM_WEB(fault)(uint32_t* out) {
  put_text({web.fault.name, web.fault.name_size}, out);
  return web.fault.what;
}

int32_t BANTAM_WEB(open)(const void* bytes, uint32_t size) {
  web = Web{};
  return number(bantam::Model::open(bytes, size, &web.model, &web.fault));
}

/// Writes to out[0, 6): task, largest number of tokens of a text, number of label sets, number of the task's label
/// sets, number of outputs, whether there is a tokenizer.
void BANTAM_WEB(describe)(uint32_t* out) {
  out[0] = static_cast<uint32_t>(web.model.task());
  out[1] = web.model.max_sequence();
  out[2] = web.model.label_set_count();
  out[3] = bantam::task_label_sets(web.model);
  out[4] = web.model.output_count();
  out[5] = web.model.has_tokenizer() ? 1 : 0;
}
uint32_t BANTAM_WEB(label_count)(uint32_t set) { return web.model.label_count(set); }
void BANTAM_WEB(label)(uint32_t set, uint32_t index, uint32_t* out) { put_text(web.model.label(set, index), out); }
int32_t BANTAM_WEB(has_levels)(uint32_t set) { return web.model.has_levels(set) ? 1 : 0; }
void BANTAM_WEB(label_set_name)(uint32_t set, uint32_t* out) { put_text(web.model.label_set_name(set), out); }
void BANTAM_WEB(output_name)(uint32_t index, uint32_t* out) { put_text(web.model.output_name(index), out); }
void BANTAM_WEB(model_name)(uint32_t* out) { put_text(web.model.name(), out); }
/// Writes the prompt for texts of a bantam::TextRole.
void BANTAM_WEB(prompt)(uint32_t role, uint32_t* out) {
  const bool known = role <= static_cast<uint32_t>(bantam::TextRole::kDocument);
  put_text(known ? bantam::text_prompt(web.model, static_cast<bantam::TextRole>(role)) : Text{}, out);
}

/// Writes how vectors are compared: "dot", "euclidean" or "manhattan"; empty: by their cosine.
void BANTAM_WEB(similarity)(uint32_t* out) { put_text(bantam::property(web.model, {"similarity", 10}), out); }

/// Returns 0 if the settings are refused; see create().
uint32_t BANTAM_WEB(arena_bytes)(uint32_t max_tokens, uint32_t max_sequences) {
  bantam::SessionOptions options;
  options.max_tokens = max_tokens;
  options.max_sequences = max_sequences;
  return static_cast<uint32_t>(bantam::arena_bytes(web.model, options));
}
int32_t BANTAM_WEB(create)(void* arena, uint32_t size, uint32_t max_tokens, uint32_t max_sequences) {
  bantam::SessionOptions options;
  options.max_tokens = max_tokens;
  options.max_sequences = max_sequences;
  return number(bantam::Session::create(web.model, options, arena, size, &web.session, &web.fault));
}

void BANTAM_WEB(clear)() { web.session->clear(); }
/// `second` is null for a single text.
int32_t BANTAM_WEB(add)(const char* first, uint32_t first_size, const char* second, uint32_t second_size) {
  return number(web.session->add({first, first_size}, {second, second_size}, {}));
}
/// labels[count]: the address and size of each label.
int32_t BANTAM_WEB(add_labelled)(const char* text, uint32_t size, Text* labels, uint32_t count) {
  static_assert(sizeof(Text) == 8, "address and size");
  return number(web.session->add_labelled({text, size}, labels, count, {}));
}
/// Runs token ids that the caller supplies, for models whose file has no tokenizer.
int32_t BANTAM_WEB(run_ids)(const int32_t* ids, uint32_t count) {
  bantam::Batch batch;
  batch.ids = ids;
  batch.tokens = count;
  return number(web.session->run(batch));
}
int32_t BANTAM_WEB(run)() { return number(web.session->run()); }
/// Returns the number of tokens of a sequence of the batch.
uint32_t BANTAM_WEB(tokens)(uint32_t sequence) { return web.session->sequence(sequence).row_count; }
int32_t BANTAM_WEB(truncated)(uint32_t sequence) { return web.session->sequence(sequence).result.truncated ? 1 : 0; }

// Answers. All functions return a status, and write `count` and `above` if they have these parameters. Buffers must
// have room for `capacity` records of 32 bytes each.

int32_t BANTAM_WEB(classify)(uint32_t sequence, uint32_t set, uint32_t* out, uint32_t capacity, uint32_t* count,
                             uint32_t* above) {
  auto* scores = reinterpret_cast<bantam::LabelScore*>(out);
  const Status status = bantam::classify(*web.session, sequence, scores, capacity, count, above, set);
  if (status == Status::kOk) put_scores(scores, *count, out);
  return number(status);
}
int32_t BANTAM_WEB(choose)(uint32_t choices, uint32_t* out, uint32_t capacity, uint32_t* count) {
  auto* scores = reinterpret_cast<bantam::LabelScore*>(out);
  const Status status = bantam::choose(*web.session, 0, choices, scores, capacity, count);
  if (status == Status::kOk) put_scores(scores, *count, out);
  return number(status);
}
/// `set`: 0xFFFFFFFF for the task's own. `aggregation`: a value of bantam::Aggregation.
int32_t BANTAM_WEB(tag)(uint32_t sequence, uint32_t set, uint32_t aggregation, const char* text, uint32_t size,
                        uint32_t* out, uint32_t capacity, uint32_t* count) {
  auto* found = reinterpret_cast<bantam::Entity*>(out);
  const auto how = static_cast<bantam::Aggregation>(aggregation);
  const Status status = bantam::tag(*web.session, sequence, {text, size}, found, capacity, count, set, how);
  if (status == Status::kOk) put_entities(found, *count, out);
  return number(status);
}
int32_t BANTAM_WEB(find)(uint32_t sequence, float threshold, int32_t nested, int32_t several, uint32_t* out,
                         uint32_t capacity, uint32_t* count) {
  auto* found = reinterpret_cast<bantam::Entity*>(out);
  const bantam::FindOptions options = {threshold, nested != 0, several != 0};
  const Status status = bantam::find(*web.session, sequence, options, found, capacity, count);
  if (status == Status::kOk) put_entities(found, *count, out);
  return number(status);
}
/// Writes to out[0, 4): begin, end, score, answerable.
int32_t BANTAM_WEB(answer)(uint32_t sequence, uint32_t* out) {
  bantam::Answer answer;
  const Status status = bantam::answer(*web.session, sequence, &answer);
  out[0] = answer.span.begin;
  out[1] = answer.span.end;
  put_float(answer.score, out + 2);
  out[3] = answer.answerable ? 1 : 0;
  return number(status);
}
/// Writes to out[0, 2): address and number of floats.
int32_t BANTAM_WEB(embed)(uint32_t sequence, uint32_t* out) {
  const float* data = nullptr;
  const Status status = bantam::embed(*web.session, sequence, &data, out + 1);
  out[0] = static_cast<uint32_t>(reinterpret_cast<uintptr_t>(data));
  return number(status);
}
/// For mask number `mask`, writes four numbers per candidate: token, score, and the address and size of the token's
/// text.
int32_t BANTAM_WEB(fill)(uint32_t sequence, uint32_t mask, uint32_t* out, uint32_t capacity, uint32_t* count) {
  auto* found = reinterpret_cast<bantam::Candidate*>(out);
  const Status status = bantam::fill(*web.session, sequence, mask, found, capacity, count);
  if (status != Status::kOk) return number(status);
  for (uint32_t i = *count; i-- > 0;) {  // from the last to the first, because the written records are longer
    const bantam::Candidate candidate = found[i];
    out[4 * i] = static_cast<uint32_t>(candidate.id);
    put_float(candidate.score, out + 4 * i + 1);
    put_text(web.session->tokenizer()->piece(static_cast<uint32_t>(candidate.id)), out + 4 * i + 2);
  }
  return 0;
}
int32_t BANTAM_WEB(next_sentence)(uint32_t sequence, float* probability) {
  return number(bantam::next_sentence(*web.session, sequence, probability));
}
/// The rows of a sequence. Writes to out[0, 4): address, number of rows, width, and floats from row to row.
int32_t BANTAM_WEB(output)(uint32_t index, uint32_t sequence, uint32_t* out) {
  bantam::OutputView view;
  const Status status = web.session->output(index, sequence, &view);
  out[0] = static_cast<uint32_t>(reinterpret_cast<uintptr_t>(view.data));
  out[1] = view.rows;
  out[2] = view.width;
  out[3] = static_cast<uint32_t>(view.stride);
  return number(status);
}

}  // extern "C"
