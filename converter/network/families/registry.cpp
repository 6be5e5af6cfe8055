#include <algorithm>
#include <iterator>
#include <numeric>

#include "network/family.h"

namespace bantam::convert {

#define BANTAM_FAMILY(name) Family name();
#include "network/families/families.inc"
#undef BANTAM_FAMILY

namespace {

/// The smallest number of inserted, deleted and changed letters that turns `a` into `b`.
size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), size_t{0});
  for (size_t i = 0; i < a.size(); ++i) {
    size_t before = row[0]++;
    for (size_t k = 0; k < b.size(); ++k) {
      const size_t changed = before + (a[i] == b[k] ? 0 : 1);
      before = row[k + 1];
      row[k + 1] = std::min({changed, before + 1, row[k] + 1});
    }
  }
  return row.back();
}

template <typename Visit>
void for_each_model_type(const Visit& visit) {
  for (const Family& family : families()) {
    for (const char* name : family.model_types) visit(family, name);
  }
}

}  // namespace

namespace {

/// The axes of tensors in layers without bottlenecks.
Axes plain_axes(Slot slot) {
  switch (slot) {
    case Slot::kWords:
      return {Axis::kVocabulary, Axis::kEmbedding};
    case Slot::kPositions:
      return {Axis::kPositions, Axis::kEmbedding};
    case Slot::kSegments:
    case Slot::kTaskTypes:
      return {Axis::kNone, Axis::kEmbedding};
    case Slot::kDistances:
    case Slot::kDistanceKeys:
    case Slot::kShortTaps:
    case Slot::kInputGate:
    case Slot::kRateGate:
    case Slot::kValueConvolution:
    case Slot::kFeatureMatrix:
      return {Axis::kNone, Axis::kNone};
    case Slot::kTokenProjection:
    case Slot::kKeyProjection:
    case Slot::kValueProjection:
      return {Axis::kNone, Axis::kPositions};
    case Slot::kFirstAxis:
    case Slot::kSecondAxis:
      return {Axis::kNone, Axis::kNone};
    case Slot::kEntities:
      return {Axis::kEntities, Axis::kEntity};
    case Slot::kEntityQuery:
    case Slot::kEntityKey:
    case Slot::kEntityValue:
    case Slot::kEntityOut:
      return {Axis::kEntity, Axis::kEntity};
    case Slot::kEntityUp:
      return {Axis::kFfn, Axis::kEntity};
    case Slot::kEntityDown:
      return {Axis::kEntity, Axis::kFfn};
    case Slot::kEntityAttentionNorm:
    case Slot::kEntityNorm:
      return {Axis::kEntity, Axis::kNone};
    case Slot::kPlaces:
    case Slot::kQueriesKeysValues:
      return {Axis::kNone, Axis::kHidden};
    case Slot::kQueryBias:
    case Slot::kValueBias:
    case Slot::kPlaceBias:
    case Slot::kSegmentBias:
    case Slot::kSegmentKeys:
    case Slot::kQueryNorm:
    case Slot::kKeyNorm:
      return {Axis::kScores, Axis::kNone};
    case Slot::kEmbeddingNorm:
      return {Axis::kEmbedding, Axis::kNone};
    case Slot::kEmbeddingProjection:
      return {Axis::kHidden, Axis::kEmbedding};
    case Slot::kLastProjection:
      return {Axis::kEmbedding, Axis::kHidden};
    case Slot::kConvolution:
    case Slot::kShortGate:
    case Slot::kShortOutGate:
    case Slot::kShortInput:
    case Slot::kShortOut:
    case Slot::kForget:
    case Slot::kCandidate:
      return {Axis::kHidden, Axis::kHidden};
    case Slot::kFactorProjection:
      return {Axis::kHidden, Axis::kNone};
    case Slot::kPooler:
      return {Axis::kHidden, Axis::kHidden};
    case Slot::kQuery:
    case Slot::kKey:
    case Slot::kQueryKey:
    case Slot::kGlobalQuery:
    case Slot::kGlobalKey:
    case Slot::kPlaceKey:
    case Slot::kPlaceQuery:
      return {Axis::kScores, Axis::kHidden};
    case Slot::kValue:
    case Slot::kGlobalValue:
      return {Axis::kValues, Axis::kHidden};
    case Slot::kAttentionOut:
    case Slot::kCrossOut:
      return {Axis::kHidden, Axis::kValues};
    case Slot::kCrossQuery:
    case Slot::kCrossKey:
      return {Axis::kScores, Axis::kHidden};
    case Slot::kCrossValue:
      return {Axis::kValues, Axis::kHidden};
    case Slot::kUp:
    case Slot::kGate:
      return {Axis::kFfn, Axis::kHidden};
    case Slot::kDown:
      return {Axis::kHidden, Axis::kFfn};
    case Slot::kRouter:
      return {Axis::kExperts, Axis::kHidden};
    case Slot::kChoiceBias:
      return {Axis::kExperts, Axis::kNone};
    case Slot::kSpanDepthwise:
      return {Axis::kHidden, Axis::kNone};
    case Slot::kSpanPointwise:
    case Slot::kSpanValues:
      return {Axis::kScores, Axis::kHidden};
    case Slot::kSpanBias:
      return {Axis::kScores, Axis::kNone};
    case Slot::kSpanScores:
      return {Axis::kNone, Axis::kScores};
    case Slot::kSinks:
      return {Axis::kHeads, Axis::kNone};
    case Slot::kAttentionGate:
      return {Axis::kValues, Axis::kHidden};
    case Slot::kSharedUp:
    case Slot::kSharedGate:
      return {Axis::kSharedFfn, Axis::kHidden};
    case Slot::kSharedDown:
      return {Axis::kHidden, Axis::kSharedFfn};
    case Slot::kSharedScale:
      return {Axis::kNone, Axis::kHidden};
    case Slot::kExpertUp:
    case Slot::kExpertGate:
      return {Axis::kExpertFfn, Axis::kHidden};
    case Slot::kExpertDown:
      return {Axis::kHidden, Axis::kExpertFfn};
    case Slot::kNarrow:
    case Slot::kNarrowScores:
      return {Axis::kInner, Axis::kHidden};
    case Slot::kWiden:
      return {Axis::kHidden, Axis::kInner};
    case Slot::kNarrowNorm:
    case Slot::kNarrowScoresNorm:
      return {Axis::kInner, Axis::kNone};
    case Slot::kContextNorm:
      return {Axis::kValues, Axis::kNone};
    case Slot::kWideNorm:
      return {Axis::kFfn, Axis::kNone};
    case Slot::kStackUp:
      return {Axis::kFfn, Axis::kHidden};
    case Slot::kStackDown:
      return {Axis::kHidden, Axis::kFfn};
    case Slot::kAttentionNorm:
    case Slot::kSumNorm:
    case Slot::kAttentionOutNorm:
    case Slot::kDownOutNorm:
    case Slot::kDownNorm:
    case Slot::kCrossNorm:
    case Slot::kStackDownNorm:
    case Slot::kWidenNorm:
    case Slot::kFinalNorm:
    case Slot::kPlacesNorm:
    case Slot::kConvolutionNorm:
    case Slot::kAttentionFactors:
    case Slot::kDownFactors:
    case Slot::kStateRates:
      return {Axis::kHidden, Axis::kNone};
    case Slot::kPatchPlaces:
    case Slot::kWholeImage:
    case Slot::kTeacherToken:
    case Slot::kPatches:
    case Slot::kCurveAbove:
    case Slot::kCurveBelow:
    case Slot::kCurveSlope:
      break;
    case Slot::kQkv:
    case Slot::kHeads:
    case Slot::kAttention:
    case Slot::kKeysValues:
    case Slot::kKeySums:
    case Slot::kGates:
    case Slot::kCells:
    case Slot::kCrossKeysValues:
    case Slot::kCrossAttention:
    case Slot::kEntityQkv:
    case Slot::kEntityHeads:
    case Slot::kEntityAttention:
    case Slot::kExperts:
    case Slot::kGlobalKeysValues:
    case Slot::kGlobalHeads:
    case Slot::kGlobalAttention:
      break;
  }
  return {Axis::kNone, Axis::kNone};
}

}  // namespace

bool Family::is_whole(Slot slot) const {
  const bool matrix = slot == Slot::kQuery || slot == Slot::kKey || slot == Slot::kValue ||
                      slot == Slot::kAttentionOut || slot == Slot::kPlaceKey;
  return is_vector(slot) || (block.by_head && matrix);
}

Axes axes_of(const Family& family, Slot slot) {
  if (slot == Slot::kQueryNorm || slot == Slot::kKeyNorm) {
    if (family.block.head_norms) return {Axis::kHead, Axis::kNone};
    if (family.settings.kv_heads.key != nullptr && slot == Slot::kKeyNorm) return {Axis::kShared, Axis::kNone};
  }
  const bool shared = family.settings.kv_heads.key != nullptr && (slot == Slot::kKey || slot == Slot::kValue);
  if (shared) return {Axis::kShared, Axis::kHidden};
  if (family.has(Slot::kSpanValues) && slot == Slot::kAttentionOut) return {Axis::kHidden, Axis::kHidden};
  if (family.block.by_head && family.is_whole(slot)) return {Axis::kNone, Axis::kNone};
  Axes axes = plain_axes(slot);
  if (family.block.reversible && slot == Slot::kFinalNorm) axes.rows = Axis::kStreams;
  if (family.block.sums_projected && slot == Slot::kEmbeddingNorm) axes.rows = Axis::kHidden;
  if (family.block.words_projected && slot == Slot::kPositions) axes.columns = Axis::kHidden;
  if (!family.block.bottlenecks) return axes;
  const auto change = [&](Axis from, Axis to) {
    if (axes.rows == from) axes.rows = to;
    if (axes.columns == from) axes.columns = to;
  };
  switch (slot) {
    case Slot::kPositions:
    case Slot::kSegments:
    case Slot::kEmbeddingNorm:
      change(Axis::kEmbedding, Axis::kHidden);
      break;
    case Slot::kEmbeddingProjection:
      change(Axis::kEmbedding, Axis::kWordInput);
      break;
    case Slot::kValue:
      change(Axis::kHidden, Axis::kValueInput);
      break;
    case Slot::kQuery:
    case Slot::kKey:
    case Slot::kAttentionOut:
    case Slot::kAttentionNorm:
    case Slot::kUp:
    case Slot::kDown:
    case Slot::kDownNorm:
    case Slot::kStackUp:
    case Slot::kStackDown:
    case Slot::kStackDownNorm:
      change(Axis::kHidden, Axis::kInner);
      break;
    default:
      break;
  }
  return axes;
}

const Head* Family::head(fb::TaskKind task) const {
  const auto found = std::find_if(heads.begin(), heads.end(), [&](const Head& head) { return head.task == task; });
  return found == heads.end() ? nullptr : &*found;
}

namespace {

constexpr const char* kWhyPairsKeep = "encoder and decoder have one width";

}  // namespace

const char* Family::why_layers_stay() const {
  if (block.averaged) return "there are none";
  if (own.add != nullptr) return own.why_they_stay;
  if (block.reversible) return "they pass on two streams of rows";
  if (block.patches) return "students of models of images are not made yet";
  if (has(Slot::kDistances) && std::string_view(name(Slot::kDistances)).find("{}") != std::string_view::npos)
    return "each has biases of distances of its own";
  if (has(Slot::kSpanValues)) return "students of convolutions beside attention are not made yet";
  if (has(Slot::kForget)) return "Marian's own files are not written";
  if (has(Slot::kShortTaps)) return "some have attention and others a convolution";
  if (has(Slot::kRouter)) return "students of models of experts are not made yet";
  if (has(Slot::kEntities)) return "each reads entities in a way of its own";
  return shares_layers() ? "several run the same weights" : nullptr;
}

const char* Family::why_columns_stay() const {
  if (const char* why = why_layers_stay()) return why;
  if (source != nullptr) return kWhyPairsKeep;
  return has(Slot::kStackUp) ? "several feed-forward layers of one width stand in each" : nullptr;
}

const char* Family::why_heads_stay() const {
  if (const char* why = why_layers_stay()) return why;
  if (source != nullptr) return kWhyPairsKeep;
  if (block.bottlenecks) return "they stand between bottlenecks";
  if (block.shifted) return "their attention is stored head by head";
  if (!has(Slot::kQuery)) return "their queries, keys and values are mixed in one matrix";
  if (block.projected) return "each may sum keys and values over tokens by a matrix of its own";
  if (settings.kv_heads.key != nullptr) return "several may share keys and values";
  if (has(Slot::kValueConvolution)) return "values of each have a convolution of its own";
  if (has(Slot::kDistances)) return "all layers add one table of biases a head";
  return settings.slopes ? "scores of each head fall with the distance by a slope of its own" : nullptr;
}

const char* Family::why_hidden_stays() const {
  if (const char* why = why_layers_stay()) return why;
  if (source != nullptr) return kWhyPairsKeep;
  if (block.bottlenecks) return "they stand between bottlenecks";
  return block.shifted ? "their attention is stored head by head" : nullptr;
}

const char* Family::why_matrices_stay() const {
  if (const char* why = why_layers_stay()) return why;
  if (source != nullptr) return kWhyPairsKeep;
  if (block.bottlenecks) return "they stand between bottlenecks";
  if (block.shifted) return "their attention is stored head by head";
  return has(Slot::kQuery) ? nullptr : "their queries, keys and values are mixed in one matrix";
}

uint32_t Family::tasks() const {
  uint32_t tasks = 0;
  for (const Head& head : heads) {
    tasks |= 1u << static_cast<uint32_t>(head.task);
    if (head.task != fb::TaskKind::classify) continue;
    for (const fb::TaskKind also : {fb::TaskKind::multi_label, fb::TaskKind::regress}) {
      tasks |= 1u << static_cast<uint32_t>(also);
    }
  }
  return tasks;
}

const std::vector<Family>& families() {
  static const std::vector<Family> kFamilies = [] {
    // Functions, not families: a list of families would lie on the stack.
    constexpr Family (*kMake[])() = {
#define BANTAM_FAMILY(name) name,
#include "network/families/families.inc"
#undef BANTAM_FAMILY
    };
    std::vector<Family> made;
    made.reserve(std::size(kMake));
    for (const auto& make : kMake) made.push_back(make());
    return made;
  }();
  return kFamilies;
}

const Family* find_family(std::string_view model_type) {
  const Family* found = nullptr;
  for_each_model_type([&](const Family& family, std::string_view name) {
    if (name == model_type) found = &family;
  });
  return found;
}

const Family* find_published(const Json& config, const std::vector<std::string>& tensors) {
  const auto says = [&](const char* key, const char* value) {
    if (!config.contains(key)) return false;
    const Json& said = config.at(key);
    return said.is_string() ? said.get_ref<const std::string&>() == value : said.is_boolean() && said.dump() == value;
  };
  for (const Family& family : families()) {
    const Published& published = family.published;
    const bool bears = published.model_type != nullptr && says("model_type", published.model_type) &&
                       (published.key == nullptr || says(published.key, published.value));
    if (published.architecture != nullptr &&
        (!config.contains("architectures") || config.at("architectures") != Json::array({published.architecture}))) {
      continue;
    }
    const auto has_part = [&](const std::string& name) { return name.find(published.tensor) != std::string::npos; };
    if (bears && std::any_of(tensors.begin(), tensors.end(), has_part)) return &family;
  }
  return nullptr;
}

std::string nearest_model_type(std::string_view model_type) {
  constexpr size_t kLongest = 64;  // longer than any family's name
  if (model_type.size() > kLongest) return "";
  std::string nearest;
  // A name with more than a third of its letters changed is another word.
  size_t least = model_type.size() / 3 + 1;
  for_each_model_type([&](const Family&, std::string_view name) {
    const size_t distance = edit_distance(model_type, name);
    if (distance >= least) return;
    least = distance;
    nearest = name;
  });
  if (!nearest.empty()) return nearest;
  // Otherwise the first name that begins with most of its letters: "siglip2" is near "siglip_text_model".
  size_t most = std::max<size_t>(3, model_type.size() / 2);
  for_each_model_type([&](const Family&, std::string_view name) {
    const auto end = std::mismatch(model_type.begin(), model_type.end(), name.begin(), name.end()).first;
    const auto same = static_cast<size_t>(end - model_type.begin());
    if (same <= most) return;
    most = same;
    nearest = name;
  });
  return nearest;
}

}  // namespace bantam::convert
