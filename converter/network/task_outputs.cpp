#include "network/task_outputs.h"

#include <fmt/format.h>

#include <utility>

#include "graph/task_parts.h"
#include "model/task_traits.h"
#include "network/aggregation.h"
#include "network/blocks/chain.h"
#include "network/token_vectors.h"
#include "source/generation.h"
#include "source/labels.h"
#include "source/token_vectors.h"
#include "tokenizer/chat/chat.h"

namespace bantam::convert {

TaskOutputs::TaskOutputs(fb::TaskKind kind, Builder& builder, const Fields& fields, const ImportOptions& options)
    : builder_(builder), fields_(fields), options_(options), task_(std::make_unique<fb::TaskT>()) {
  task_->kind = kind;
}

void TaskOutputs::labels(const std::string& output, fb::OutputRole role, int32_t scores, NamedLabels set) {
  auto added = std::make_unique<fb::LabelSetT>();
  if (role == fb::OutputRole::tags) {
    const std::string& stated = options_.tag_scheme;
    added->scheme = stated.empty() ? guess_tag_scheme(set.labels) : parse_tag_scheme(stated);
  }
  added->output = builder_.output(output, role, scores);
  added->labels = std::move(set.labels);
  added->name = std::move(set.name);
  added->parents = std::move(set.parents);
  task_->label_sets.push_back(std::move(added));
}

void TaskOutputs::label_sets(fb::OutputRole role, int32_t scores, std::vector<NamedLabels> sets) {
  uint32_t begin = 0;
  for (NamedLabels& set : sets) {
    const std::string output = begin == 0 ? "logits" : set.name + "_logits";
    const auto width = static_cast<uint32_t>(set.labels.size());
    const int32_t part = sets.size() == 1 ? scores : builder_.slice(output, scores, begin, width);
    begin += width;
    labels(output, role, part, std::move(set));
  }
}

void TaskOutputs::answer(int32_t begin, int32_t end) {
  builder_.output("start_logits", fb::OutputRole::begin, begin, true);
  builder_.output("end_logits", fb::OutputRole::end, end, true);
}

void TaskOutputs::words(const std::string& output, int32_t scores) {
  builder_.output(output, fb::OutputRole::words, scores);
}

void TaskOutputs::next_words(int32_t scores, uint32_t vocabulary, bool starts, const char* start_otherwise) {
  builder_.output("logits", fb::OutputRole::next_words, scores);
  task_->end_ids = read_end_ids(fields_, vocabulary);
  task_->generations = read_generations(fields_, vocabulary, starts, start_otherwise);
}

void TaskOutputs::choice(int32_t scores) { builder_.output("logits", fb::OutputRole::choice, scores); }

void TaskOutputs::next_sentence(const std::string& output, int32_t scores) {
  builder_.output(output, fb::OutputRole::next, scores);
}

void TaskOutputs::vector(int32_t x, const SentencePooling& pooling) {
  task_->prompt = pooling.prompt;
  builder_.output("sentence_embedding", fb::OutputRole::embedding, x);
}

void TaskOutputs::token_vectors(int32_t x) { builder_.output("token_embeddings", fb::OutputRole::token_embeddings, x); }

void TaskOutputs::terms(int32_t scores, const SentencePooling& pooling, Problems& problems) {
  const int32_t weights = builder_.make_terms(scores, pooling.terms.saturations, pooling.terms.sums);
  if (weights == kAbsent) {
    problems.add(ExitCode::kUnsupported, "--task sparse-embed: the scores of words are more than a linear layer's");
    return;
  }
  task_->prompt = pooling.prompt;
  builder_.output("sentence_embedding", fb::OutputRole::embedding, weights);
}

namespace {

/// Stores config.json's "reject_below": the score below which a text is out of scope.
void read_limit(const Fields& fields, fb::TaskT& task) {
  if (task.label_sets.empty() || !gives_one_label(traits(task.kind))) return;
  constexpr const char* kKey = "reject_below";
  const double limit = fields.number(kKey, 0);
  if (limit >= 0 && limit < 1) {
    task.label_sets.front()->reject_below = static_cast<float>(limit);
  } else {
    fields.problem(ExitCode::kInvalid, kKey, fmt::format("{} is not a score, 0 or more and less than 1", limit));
  }
}

}  // namespace

void finish_task(Graph& graph, const ModelSource& source, const Fields& fields, const ImportOptions& options,
                 Problems& problems) {
  const uint32_t parts = traits(graph.model.task->kind).parts;
  if ((parts & kTokenVectorsPart) != 0) {
    resolve_token_vectors(graph, read_token_vector_settings(source, problems), problems);
  }
  if ((parts & kNextWordsPart) != 0) add_chat(graph, source.tokenizer);
  read_limit(fields, *graph.model.task);
  choose_members(graph, fields, problems);
  choose_aggregation(options, graph, problems);
}

}  // namespace bantam::convert
