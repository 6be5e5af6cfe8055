#include "run/runner.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "bantam/sampling.h"
#include "bantam/steps.h"
#include "bantam/tasks.h"
#include "base/status_error.h"
#include "format/view.h"
#include "model/task_traits.h"
#include "run/passes.h"

namespace bantam::convert {
namespace {

std::string in_quotes(const std::string& text) { return "\"" + text + "\""; }

}  // namespace

Runner::Runner(const FileBytes& bytes, uint32_t max_tokens, Linears linears)
    : scratch_(bytes.get_allocator().in_scratch(bytes.capacity()) ? &bytes : nullptr), arena_(nullptr, std::free) {
  check(Model::open(bytes.data(), bytes.size(), &model_), "the packed model");
  SessionOptions options;
  options.max_tokens = max_tokens;
  if (model_.chunk_tokens() != 0) options.max_context = max_tokens;
  if (model_.source_vocabulary() != 0) {
    const uint32_t places = model_.max_source();
    options.max_source = places == 0 ? max_tokens : std::min(max_tokens, places);
  }
  if (linears == Linears::kFastest && host::XnnpackBackend::available()) {
    backend_ = std::make_unique<host::XnnpackBackend>();
    if (backend_->create(model_) == Status::kOk) options.backend = backend_->backend();
  }
  const size_t size = arena_bytes(model_, options);
  if (size == 0) throw Error(ExitCode::kInternal, fmt::format("no session for {} tokens can be made", max_tokens));
  // aligned_alloc requires a multiple of the alignment; the session gets the exact size.
  arena_.reset(static_cast<uint8_t*>(std::aligned_alloc(64, (size + 63) / 64 * 64)));
  if (!arena_) throw Error(ExitCode::kOutOfSpace, fmt::format("out of memory: an arena of {} bytes is needed", size));
  check(Session::create(model_, options, arena_.get(), size, &session_), "the packed model");
}

Runner::~Runner() = default;

const std::vector<std::string>& common_labels() {
  static const std::vector<std::string> kLabels = {"person", "organization", "location", "date", "product"};
  return kLabels;
}

Status add_labelled(Session& session, const std::string& text, const std::vector<std::string>& labels) {
  std::vector<Text> views;
  views.reserve(labels.size());
  for (const std::string& label : labels) views.push_back({label.data(), label.size()});
  return session.add_labelled({text.data(), text.size()}, views.data(), static_cast<uint32_t>(views.size()));
}

bool Runner::takes(const std::string& text, const std::string& second) {
  if (has_part(model_.task(), kFoundPart)) return true;
  session_->clear();
  const Text other = second.empty() ? Text{} : Text{second.data(), second.size()};
  return session_->add({text.data(), text.size()}, other, {}) != Status::kInvalidArgument;
}

Sample Runner::encode(const std::string& text, const std::string& second) {
  session_->clear();
  const Text other = second.empty() ? Text{} : Text{second.data(), second.size()};
  if (has_part(model_.task(), kFoundPart)) {
    std::vector<std::string> labels = common_labels();
    Status status = convert::add_labelled(*session_, text, labels);
    // A file with few tokens may not have room for all labels.
    for (; status == Status::kTooManyTokens && !labels.empty();
         status = convert::add_labelled(*session_, text, labels)) {
      labels.pop_back();
    }
    check(status, in_quotes(text));
  } else {
    check(session_->add({text.data(), text.size()}, other, {}), in_quotes(text));
  }
  const EncodedSequence encoded = session_->sequence(0);
  Sample sample;
  sample.text = text;
  sample.ids.assign(encoded.ids, encoded.ids + encoded.row_count);
  // Models without segments accept pairs too, although their tokenizers may still number the segments.
  if (model_.segment_types() > 1) {
    sample.segments.assign(encoded.segments, encoded.segments + encoded.row_count);
  }
  if (encoded.marks != nullptr) sample.marks.assign(encoded.marks, encoded.marks + encoded.row_count);
  for (uint32_t i = 0; i < encoded.row_count; ++i) sample.content.push_back(encoded.sequences[i] != 255);
  return sample;
}

std::vector<Sample> Runner::encode_all(const std::vector<std::string>& texts) {
  constexpr size_t kChunks = 3;
  std::vector<Sample> samples;
  for (const std::string& text : texts) {
    Sample sample = encode(text);
    const bool joins = !samples.empty() && samples.back().ids.size() < kChunks * model_.chunk_tokens() &&
                       samples.back().ids.size() + sample.ids.size() <= session_->max_context();
    if (!joins) {
      samples.push_back(std::move(sample));
      continue;
    }
    Sample& last = samples.back();
    last.text.append(" ").append(text);
    last.ids.insert(last.ids.end(), sample.ids.begin(), sample.ids.end());
    last.segments.insert(last.segments.end(), sample.segments.begin(), sample.segments.end());
    last.content.insert(last.content.end(), sample.content.begin(), sample.content.end());
  }
  return samples;
}

void Runner::encode_source(const Sample& sample) {
  Batch source;
  source.ids = sample.ids.data();
  source.tokens = static_cast<uint32_t>(sample.ids.size());
  check(session_->encode(source), in_quotes(sample.text));
}

Status Runner::run(const Batch& batch) {
  // A back end keeps the weights elsewhere too.
  if (scratch_ == nullptr || backend_ != nullptr || batch.last_rows) return session_->run(batch);
  SteppedRun steps;
  Status status = SteppedRun::begin(session_, batch, &steps);
  constexpr uint32_t kOperators = 4;
  for (bool done = false; status == Status::kOk && !done;) {
    status = steps.advance(kOperators, &done);
    let_go(scratch_->data(), scratch_->size());
  }
  return status;
}

std::vector<OutputRows> Runner::run(const Sample& sample) {
  if (model_.chunk_tokens() != 0) return run_chunks(sample);
  if (session_->max_source() != 0) {
    if (sample.decoder_ids.empty()) {
      Sample whole = sample;
      complete(&whole, 0);
      return run(whole);
    }
    encode_source(sample);
    std::vector<OutputRows> outputs(model_.output_count());
    add_outputs(sample.text, &outputs);
    Batch batch;
    batch.ids = sample.decoder_ids.data();
    batch.tokens = static_cast<uint32_t>(sample.decoder_ids.size());
    check(run(batch), in_quotes(sample.text));
    add_outputs(sample.text, &outputs);
    return outputs;
  }
  Batch batch;
  batch.ids = sample.ids.data();
  batch.segments = sample.segments.empty() ? nullptr : sample.segments.data();
  batch.marks = sample.marks.empty() ? nullptr : sample.marks.data();
  batch.tokens = static_cast<uint32_t>(sample.ids.size());
  batch.features = sample.features.empty() ? nullptr : sample.features.data();
  check(run(batch), in_quotes(sample.text));
  std::vector<OutputRows> outputs(model_.output_count());
  add_outputs(sample.text, &outputs);
  return outputs;
}

std::vector<OutputRows> Runner::run_chunks(const Sample& sample) {
  Retrieve retrieve;
  if (!sample.neighbours.empty()) {
    retrieve = [&sample](uint32_t chunk, const std::vector<int32_t>&) {
      return chunk < sample.neighbours.size() ? sample.neighbours[chunk] : Neighbours();
    };
  }
  std::vector<OutputRows> outputs(model_.output_count());
  ChunkedText text(*session_, in_quotes(sample.text), 0, 0, retrieve);
  text.watch([&] { add_outputs(sample.text, &outputs); });
  text.run(sample.ids.data(), sample.ids.size(), false, [&](size_t, uint32_t) { add_outputs(sample.text, &outputs); });
  return outputs;
}

void Runner::complete(Sample* sample, uint32_t most) {
  const uint32_t chunk = model_.chunk_tokens();
  if (chunk != 0 && sample->neighbours.empty()) {
    const std::vector<int32_t>& all = sample->ids;
    for (size_t begin = 0; begin + chunk <= all.size(); begin += chunk) {
      Neighbours texts(most_neighbours(model_));
      for (size_t i = 0; i < texts.size() * most_neighbour_tokens(model_); ++i) {
        const size_t text = i % texts.size();
        texts[text].push_back(all[(begin + i / texts.size() + text) % all.size()]);
      }
      sample->neighbours.push_back(std::move(texts));
    }
  }
  if (chunk != 0) return;
  if (session_->max_source() == 0 || !sample->decoder_ids.empty()) return;
  std::vector<int32_t>& ids = sample->decoder_ids;
  ids = default_decoder_ids(model_, sample->ids);
  if (!has_part(model_.task(), kNextWordsPart)) return;
  encode_source(*sample);
  // Runs the whole text again for each token: texts are short, and a session without contexts keeps nothing.
  for (uint32_t i = 0; i < most && ids.size() < session_->max_tokens(); ++i) {
    Batch batch;
    batch.ids = ids.data();
    batch.tokens = static_cast<uint32_t>(ids.size());
    batch.last_rows = true;
    check(run(batch), in_quotes(sample->text));
    NextToken next;
    check(next_token(*session_, 0, {}, &next), in_quotes(sample->text));
    if (ends_text(model_, next.id)) return;
    ids.push_back(next.id);
  }
}

void Runner::add_outputs(const std::string& text, std::vector<OutputRows>* outputs) {
  for (uint32_t i = 0; i < model_.output_count(); ++i) {
    OutputView view;
    const Status status = session_->output(i, &view);
    if (status == Status::kNotRun) continue;  // another pass computes it
    check(status, in_quotes(text));
    OutputRows& out = (*outputs)[i];
    out.name.assign(view.name.data, view.name.size);
    out.rows += view.rows;
    out.width = view.width;
    out.per_token = view.per_token;
    out.values.reserve(size_t{out.rows} * view.width);
    for (uint32_t r = 0; r < view.rows; ++r) {
      const float* row = view.data + size_t{r} * view.stride;
      out.values.insert(out.values.end(), row, row + view.width);
    }
  }
}

}  // namespace bantam::convert
