#include "train/objective.h"

#include <fmt/format.h>

#include <cmath>

#include "base/error.h"
#include "train/next_words.h"
#include "train/random.h"
#include "train/teacher.h"

namespace bantam::train {
namespace {

using convert::Error;
using convert::ExitCode;
using convert::Problems;

/// The internal dimensions of a network, for losses on its internal states.
struct Inside {
  uint32_t layers = 0, heads = 0, width = 0;
};

Inside inside_of(const convert::Graph& graph) {
  Inside out;
  for (const auto& op : graph.model.subgraphs.front()->ops) {
    if (const auto* attention = op->attributes.AsAttention()) {
      ++out.layers;
      out.heads = attention->heads;
      out.width = attention->heads * attention->head_width;
    }
  }
  return out;
}

/// Pairs each of the student's layers with the teacher's layer at the same relative depth, from the embeddings to the
/// last layer.
std::vector<std::pair<uint32_t, uint32_t>> spread(uint32_t student, uint32_t teacher) {
  std::vector<std::pair<uint32_t, uint32_t>> layers;
  for (uint32_t i = 0; i <= student; ++i) layers.emplace_back(i, (i * teacher + student / 2) / std::max(1U, student));
  return layers;
}

at::Tensor rows_of(const std::vector<float>& values, int64_t width) {
  at::Tensor rows = torch::empty({static_cast<int64_t>(values.size()) / width, width}, torch::kFloat32);
  std::copy(values.begin(), values.end(), rows.data_ptr<float>());
  return rows;
}

at::Tensor index_of(const std::vector<int64_t>& values) { return torch::tensor(values, torch::kInt64); }

/// Returns the mean over the labels that exist; 0 if there are none.
at::Tensor cross_entropy(const at::Tensor& logits, const std::vector<int64_t>& labels) {
  const at::Tensor wanted = index_of(labels);
  const auto known = std::count_if(labels.begin(), labels.end(), [](int64_t label) { return label >= 0; });
  if (known == 0) return logits.sum() * 0;
  return at::cross_entropy_loss(logits, wanted, {}, at::Reduction::Mean, -1);
}

/// Returns the mean over the texts with a label, and those out of scope, whose target is the uniform distribution: as
/// "outlier exposure" has it (arXiv 1812.04606), so that no score of such a text is large.
at::Tensor label_loss(const at::Tensor& logits, const std::vector<int64_t>& labels,
                      const std::vector<int64_t>& outside) {
  const at::Tensor loss = cross_entropy(logits, labels);
  if (outside.empty()) return loss;
  const auto known = std::count_if(labels.begin(), labels.end(), [](int64_t label) { return label >= 0; });
  const at::Tensor flat = logits.index_select(0, index_of(outside)).log_softmax(-1).mean(-1).sum();
  return (loss * known - flat) / static_cast<double>(known + static_cast<int64_t>(outside.size()));
}

}  // namespace

struct Objective::Batch {
  const std::vector<uint32_t>& members;
  const Forward& student;
  at::Tensor labels() const { return student.outputs[static_cast<size_t>(class_output)]; }
  /// Returns the logits [n, tags] of these rows, which are numbered through the batch.
  at::Tensor tags(const std::vector<int64_t>& rows) const {
    const at::Tensor& all = student.outputs[static_cast<size_t>(tag_output)];
    return all.reshape({-1, all.size(2)}).index_select(0, index_of(rows));
  }
  int64_t longest = 0;
  int32_t class_output = -1, tag_output = -1;
  std::vector<const Encoded*> mine, theirs;
};

Objective::Objective(const Job& job, const Network& student, const Network* teacher)
    : job_(job), student_(student), teacher_(teacher) {
  const LossWeights& loss = job.settings.loss;
  if (!loss.needs_states()) return;
  if (job.heads.next != 0) {
    throw Error(
        ExitCode::kUnsupported,
        "--hidden, --attention and --relation compare encoders; models that generate learn from --hard and --soft");
  }
  const Inside mine = inside_of(*job.student), theirs = inside_of(*job.teacher);
  layers_ = job.settings.layers.empty() ? spread(mine.layers, theirs.layers) : job.settings.layers;
  Problems problems;
  for (const auto& [s, t] : layers_) {
    if (s > mine.layers || t > theirs.layers) {
      problems.add(ExitCode::kUsage,
                   fmt::format("--layers {}:{}: the student has layers 0 to {} and the teacher 0 to {}", s, t,
                               mine.layers, theirs.layers));
    }
  }
  if (loss.attention > 0 && mine.heads != theirs.heads) {
    problems.add(ExitCode::kUsage,
                 fmt::format("--attention: the student has {} heads, the teacher {}; their probabilities cannot be "
                             "compared, use --relation",
                             mine.heads, theirs.heads));
  }
  relation_heads_ = job.settings.relation_heads != 0 ? job.settings.relation_heads : mine.heads;
  if (loss.relation > 0 && (mine.width % relation_heads_ != 0 || theirs.width % relation_heads_ != 0)) {
    problems.add(ExitCode::kUsage, fmt::format("--relation-heads {}: does not divide {} and {} columns",
                                               relation_heads_, mine.width, theirs.width));
  }
  problems.raise();
  if (loss.hidden <= 0 || mine.width == theirs.width) return;
  Random random(job.settings.seed, 0x70726f6a);
  for (size_t i = 0; i < layers_.size(); ++i) {
    at::Tensor projection = torch::empty({theirs.width, mine.width}, torch::kFloat32);
    const double bound = std::sqrt(3.0 / mine.width);
    for (int64_t k = 0; k < projection.numel(); ++k) {
      projection.data_ptr<float>()[k] = static_cast<float>((2 * random.fraction() - 1) * bound);
    }
    projections_.push_back(projection.set_requires_grad(true));
  }
}

void Objective::ask_teacher(uint32_t batch) {
  const auto progress = [&](uint64_t done, uint64_t of) {
    if (job_.progress) job_.progress({"asking the teacher", done, of, 0, 0});
  };
  ForwardOptions options;
  options.precision = job_.settings.precision;
  targets_ = answers(*teacher_, job_.examples, true, job_.teacher_heads, options, batch, progress);
  reorder(job_.teacher_labels, job_.teacher_tags, &targets_);
}

at::Tensor Objective::hard(const Batch& batch) const {
  at::Tensor sum;
  const auto add = [&](const at::Tensor& loss) { sum = sum.defined() ? sum + loss : loss; };
  if (job_.heads.classes != 0 && job_.heads.values) {
    std::vector<float> wanted;
    for (const uint32_t i : batch.members) {
      wanted.insert(wanted.end(), job_.examples[i].values.begin(), job_.examples[i].values.end());
    }
    const at::Tensor values = rows_of(wanted, job_.heads.classes);
    add(job_.heads.bounded ? at::binary_cross_entropy_with_logits(batch.labels(), values)
                           : at::mse_loss(batch.labels(), values));
  } else if (job_.heads.classes != 0) {
    std::vector<int64_t> labels, outside;
    for (size_t b = 0; b < batch.members.size(); ++b) {
      const Example& example = job_.examples[batch.members[b]];
      labels.push_back(example.label);
      if (example.out_of_scope) outside.push_back(static_cast<int64_t>(b));
    }
    add(label_loss(batch.labels(), labels, outside));
  }
  if (job_.heads.tags == 0) return sum;
  std::vector<int64_t> rows, tags;
  for (size_t b = 0; b < batch.members.size(); ++b) {
    const Example& example = job_.examples[batch.members[b]];
    for (size_t w = 0; w < example.tags.size(); ++w) {
      if (example.student.words[w] == kNoRow) continue;
      rows.push_back(static_cast<int64_t>(b) * batch.longest + example.student.words[w]);
      tags.push_back(example.tags[w]);
    }
  }
  if (!rows.empty()) add(cross_entropy(batch.tags(rows), tags));
  return sum.defined() ? sum : batch.student.outputs[0].sum() * 0;
}

// The teacher knows no text out of scope.
at::Tensor Objective::soft(const Batch& batch) const {
  const double t = job_.settings.temperature;
  at::Tensor sum;
  const auto add = [&](const at::Tensor& loss) { sum = sum.defined() ? sum + loss : loss; };
  if (job_.heads.classes != 0) {
    std::vector<int64_t> inside;
    std::vector<float> wanted;
    for (size_t b = 0; b < batch.members.size(); ++b) {
      const uint32_t i = batch.members[b];
      if (job_.examples[i].out_of_scope) continue;
      inside.push_back(static_cast<int64_t>(b));
      wanted.insert(wanted.end(), targets_[i].label.begin(), targets_[i].label.end());
    }
    const at::Tensor teacher = rows_of(wanted, job_.heads.classes);
    const at::Tensor labels = batch.labels().index_select(0, index_of(inside));
    add(!job_.heads.values   ? soft_loss(labels, teacher, t)
        : job_.heads.bounded ? soft_binary_loss(labels, teacher, t)
                             : at::mse_loss(labels, teacher));
  }
  if (job_.heads.tags == 0) return sum;
  std::vector<int64_t> rows;
  std::vector<float> wanted;
  for (size_t b = 0; b < batch.members.size(); ++b) {
    const Example& example = job_.examples[batch.members[b]];
    if (example.out_of_scope) continue;
    const std::vector<float>& words = targets_[batch.members[b]].words;
    size_t known = 0;  // number of words for which the teacher has a row
    for (size_t w = 0; w < example.student.words.size(); ++w) {
      if (example.teacher.words[w] == kNoRow) continue;
      const auto place = static_cast<std::ptrdiff_t>(known++ * job_.heads.tags);
      if (example.student.words[w] == kNoRow) continue;
      rows.push_back(static_cast<int64_t>(b) * batch.longest + example.student.words[w]);
      wanted.insert(wanted.end(), words.begin() + place, words.begin() + place + job_.heads.tags);
    }
  }
  if (!rows.empty()) add(soft_loss(batch.tags(rows), rows_of(wanted, job_.heads.tags), t));
  return sum;
}

void Objective::inside(const Batch& batch, Parts* parts) const {
  const LossWeights& weights = job_.settings.loss;
  ForwardOptions options;
  options.states = true;
  options.precision = job_.settings.precision;
  Forward teacher;
  {
    const at::NoGradGuard guard;
    teacher = teacher_->run(pad(batch.theirs), options);
  }
  const Anchors anchors = align(batch.mine, batch.theirs);
  at::Tensor hidden, attention, relation;
  double attentions = 0;
  const auto add = [](at::Tensor* sum, const at::Tensor& loss) { *sum = sum->defined() ? *sum + loss : loss; };
  for (size_t i = 0; i < layers_.size(); ++i) {
    const auto& [s, t] = layers_[i];
    if (weights.hidden > 0) {
      add(&hidden, hidden_loss(batch.student.hidden[s], teacher.hidden[t], anchors,
                               projections_.empty() ? at::Tensor() : projections_[i]));
    }
    if (s == 0 || t == 0) continue;
    ++attentions;
    if (weights.attention > 0) {
      add(&attention, attention_loss(batch.student.attention[s - 1], teacher.attention[t - 1], anchors));
    }
    // MiniLM: only the last pair of layers is used, because it is the most informative.
    if (weights.relation > 0 && i + 1 == layers_.size()) {
      relation = relation_loss(batch.student.attention[s - 1], teacher.attention[t - 1], anchors, relation_heads_);
    }
  }
  if (hidden.defined()) parts->push_back({weights.hidden, {"hidden", hidden / static_cast<double>(layers_.size())}});
  if (attention.defined()) parts->push_back({weights.attention, {"attention", attention / attentions}});
  if (relation.defined()) parts->push_back({weights.relation, {"relation", relation}});
}

Objective::Losses Objective::of_next_words(const std::vector<uint32_t>& members, const ForwardOptions& options) const {
  const LossWeights& weights = job_.settings.loss;
  std::vector<const Encoded*> sides;
  std::vector<const Example*> batch;
  for (const uint32_t i : members) {
    sides.push_back(&job_.examples[i].student);
    batch.push_back(&job_.examples[i]);
  }
  const Rows rows = pad(sides);
  const NextWords words = next_words(batch);
  const auto logits = [&](const Network& network, const Heads& heads, const ForwardOptions& how) {
    return logits_at(network.run(rows, how).outputs[static_cast<size_t>(heads.next_output)], words);
  };
  const at::Tensor mine = logits(student_, job_.heads, options);
  Parts parts;
  if (weights.hard > 0) {
    parts.push_back({weights.hard, {"hard", next_word_loss(mine, words, job_.settings.smoothing)}});
  }
  if (weights.soft > 0) {
    at::Tensor theirs;
    {
      const at::NoGradGuard guard;
      ForwardOptions plain;
      plain.precision = job_.settings.precision;
      theirs = logits(*teacher_, job_.teacher_heads, plain);
    }
    parts.push_back({weights.soft, {"soft", soft_loss(mine, theirs, job_.settings.temperature)}});
  }
  return sum_of(parts);
}

Objective::Losses Objective::sum_of(const Parts& parts) {
  Losses losses;
  losses.parts.emplace_back("loss", 0.0);
  for (const auto& [weight, part] : parts) {
    const at::Tensor weighted = part.second * weight;
    losses.total = losses.total.defined() ? losses.total + weighted : weighted;
    losses.parts.emplace_back(part.first, part.second.item<double>());
  }
  losses.parts.front().second = losses.total.item<double>();
  return losses;
}

Objective::Losses Objective::compute(const std::vector<uint32_t>& members, const ForwardOptions& options) const {
  if (job_.heads.next != 0) return of_next_words(members, options);
  const LossWeights& weights = job_.settings.loss;
  std::vector<const Encoded*> mine, theirs;
  for (const uint32_t i : members) {
    mine.push_back(&job_.examples[i].student);
    theirs.push_back(&job_.examples[i].teacher);
  }
  const Rows rows = pad(mine);
  const Forward student = student_.run(rows, options);
  Batch batch{members, student, rows.ids.size(1), job_.heads.class_output, job_.heads.tag_output, mine, theirs};
  Parts parts;
  if (weights.hard > 0) parts.push_back({weights.hard, {"hard", hard(batch)}});
  if (weights.soft > 0) parts.push_back({weights.soft, {"soft", soft(batch)}});
  if (weights.needs_states()) inside(batch, &parts);
  return sum_of(parts);
}

}  // namespace bantam::train
