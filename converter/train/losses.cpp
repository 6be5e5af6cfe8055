#include "train/losses.h"

#include <algorithm>
#include <cmath>

namespace bantam::train {
namespace {

/// Pairs of rows of student and teacher: all rows if both tokenizers made the same tokens; otherwise the first row and
/// each word's first piece.
std::vector<std::pair<uint32_t, uint32_t>> pairs(const Encoded& student, const Encoded& teacher) {
  std::vector<std::pair<uint32_t, uint32_t>> out;
  if (student.ids.size() == teacher.ids.size() && student.words == teacher.words) {
    for (uint32_t row = 0; row < student.ids.size(); ++row) out.emplace_back(row, row);
    return out;
  }
  out.emplace_back(0, 0);
  for (size_t w = 0; w < std::min(student.words.size(), teacher.words.size()); ++w) {
    if (student.words[w] != kNoRow && teacher.words[w] != kNoRow) out.emplace_back(student.words[w], teacher.words[w]);
  }
  return out;
}

/// Returns the rows of x [B, T, n] at index [B, A].
at::Tensor gather_rows(const at::Tensor& x, const at::Tensor& index) {
  return x.gather(1, index.unsqueeze(-1).expand({-1, -1, x.size(2)}));
}

/// Returns the mean of values [..., A] over the anchors that exist; `mask`: bool, of a shape that broadcasts.
at::Tensor masked_mean(const at::Tensor& values, const at::Tensor& mask) {
  const at::Tensor here = mask.expand_as(values);
  return values.masked_fill(here.logical_not(), 0).sum() / here.sum().clamp_min(1);
}

/// Returns KL(softmax(teacher) || softmax(student)) of scores [B, H, A, A] over the anchors that exist, as a mean over
/// rows.
at::Tensor score_divergence(const at::Tensor& student, const at::Tensor& teacher, const at::Tensor& mask) {
  const at::Tensor absent = mask.logical_not().unsqueeze(1).unsqueeze(1);
  const at::Tensor log_student = student.masked_fill(absent, -1e30).log_softmax(-1);
  const at::Tensor log_teacher = teacher.masked_fill(absent, -1e30).log_softmax(-1);
  const at::Tensor terms = (log_teacher.exp() * (log_teacher - log_student)).masked_fill(absent, 0);
  return masked_mean(terms.sum(-1), mask.unsqueeze(1));
}

/// Returns x [B, H, T, W] at the anchors as [B, heads, A, H * W / heads].
at::Tensor regroup(const at::Tensor& x, const at::Tensor& index, int64_t heads) {
  const at::Tensor rows = x.transpose(1, 2).reshape({x.size(0), x.size(2), -1});
  const at::Tensor chosen = gather_rows(rows, index);
  return chosen.view({chosen.size(0), chosen.size(1), heads, -1}).transpose(1, 2);
}

at::Tensor relation(const at::Tensor& x) {
  return x.matmul(x.transpose(2, 3)) / std::sqrt(static_cast<double>(x.size(3)));
}

/// Returns log-probabilities [B, H, T, T] at the anchors on both axes.
at::Tensor log_at(const at::Tensor& probabilities, const at::Tensor& index) {
  const int64_t heads = probabilities.size(1), width = probabilities.size(3), anchors = index.size(1);
  const at::Tensor rows = probabilities.gather(2, index.view({-1, 1, anchors, 1}).expand({-1, heads, anchors, width}));
  return rows.gather(3, index.view({-1, 1, 1, anchors}).expand({-1, heads, anchors, anchors})).clamp_min(1e-12).log();
}

}  // namespace

at::Tensor soft_loss(const at::Tensor& student, const at::Tensor& teacher, double temperature) {
  if (student.size(0) == 0) return student.sum();
  const at::Tensor log_student = (student / temperature).log_softmax(-1);
  const at::Tensor log_teacher = (teacher / temperature).log_softmax(-1);
  const at::Tensor divergence = (log_teacher.exp() * (log_teacher - log_student)).sum(-1).mean();
  return divergence * (temperature * temperature);
}

at::Tensor soft_binary_loss(const at::Tensor& student, const at::Tensor& teacher, double temperature) {
  const at::Tensor wanted = (teacher / temperature).sigmoid();
  const at::Tensor loss = at::binary_cross_entropy_with_logits(student / temperature, wanted);
  return (loss - at::binary_cross_entropy_with_logits(teacher / temperature, wanted)) * (temperature * temperature);
}

Anchors align(const std::vector<const Encoded*>& student, const std::vector<const Encoded*>& teacher) {
  std::vector<std::vector<std::pair<uint32_t, uint32_t>>> all;
  size_t longest = 1;
  for (size_t i = 0; i < student.size(); ++i) {
    all.push_back(pairs(*student[i], *teacher[i]));
    longest = std::max(longest, all.back().size());
  }
  const auto count = static_cast<int64_t>(all.size()), width = static_cast<int64_t>(longest);
  Anchors out{torch::zeros({count, width}, torch::kInt64), torch::zeros({count, width}, torch::kInt64),
              torch::zeros({count, width}, torch::kBool)};
  for (size_t i = 0; i < all.size(); ++i) {
    for (size_t a = 0; a < all[i].size(); ++a) {
      const size_t place = i * longest + a;
      out.student.data_ptr<int64_t>()[place] = all[i][a].first;
      out.teacher.data_ptr<int64_t>()[place] = all[i][a].second;
      out.mask.data_ptr<bool>()[place] = true;
    }
  }
  return out;
}

at::Tensor hidden_loss(const at::Tensor& student, const at::Tensor& teacher, const Anchors& anchors,
                       const at::Tensor& projection) {
  at::Tensor mine = gather_rows(student, anchors.student);
  if (projection.defined()) mine = at::linear(mine, projection);
  const at::Tensor difference = (mine - gather_rows(teacher, anchors.teacher)).square().mean(-1);
  return masked_mean(difference, anchors.mask);
}

at::Tensor attention_loss(const AttentionState& student, const AttentionState& teacher, const Anchors& anchors) {
  return score_divergence(log_at(student.probabilities, anchors.student),
                          log_at(teacher.probabilities, anchors.teacher), anchors.mask);
}

at::Tensor relation_loss(const AttentionState& student, const AttentionState& teacher, const Anchors& anchors,
                         int64_t heads) {
  at::Tensor sum;
  const std::pair<const at::Tensor*, const at::Tensor*> parts[] = {
      {&student.q, &teacher.q}, {&student.k, &teacher.k}, {&student.v, &teacher.v}};
  for (const auto& [mine, theirs] : parts) {
    const at::Tensor loss = score_divergence(relation(regroup(*mine, anchors.student, heads)),
                                             relation(regroup(*theirs, anchors.teacher, heads)), anchors.mask);
    sum = sum.defined() ? sum + loss : loss;
  }
  return sum / 3;
}

}  // namespace bantam::train
