// The parts of the runtime that this build links. A host links everything. A firmware image names a header in
// BANTAM_LINKED_HEADER, which `bantam firmware` writes: its BANTAM_LINKS lists the parts that its model needs, by their
// names in links.inc. The image does not contain other parts, and a file that needs one gets kOpNotLinked.
#ifndef BANTAM_LINKED_H_
#define BANTAM_LINKED_H_

#include <stdint.h>

#if defined(BANTAM_LINKED_HEADER)
#include BANTAM_LINKED_HEADER
#endif
#ifndef BANTAM_LINKS
#define BANTAM_LINKS
#endif

// `#if BANTAM_IF_LINKED(name)` encloses includes and code that only some models need. `name` is a name of links.inc
// (Contexts, mask_globals, op_Crf, token_model_bpe), normalizer_any (any but BERT's), Static (an integer operator),
// part_NAME (a part of the task's answer, k##NAME##Part of model/task_traits.h), or kernel_NAME (an operator calls it).
// `bantam firmware` evaluates the conditions (converter/firmware/conditions.h) and writes only the code that its model
// links. All other builds compile everything, and the constants below choose.
#define BANTAM_IF_LINKED(name) 1

// The most rows that kernels process at a time, where they can choose; they process more rows in several blocks. Only
// kernels read it.
#ifndef BANTAM_LINK_ROWS
#define BANTAM_LINK_ROWS 16
#endif
// Options that only programs on an operating system use: several workers, linear back ends, observers, f32 attention
// for comparison, choice of the instruction set. A session of a firmware image refuses them with kUnavailable.
#if defined(BANTAM_FIRMWARE)
#define BANTAM_LINK_HOST 0
#else
#define BANTAM_LINK_HOST 1
#endif

namespace bantam::linked {

namespace links {

/// Every row of links.inc. set_all is the whole set; its members follow it.
enum Link : uint16_t {
  nothing,
#define BANTAM_LINK(name, ...) name,
#define BANTAM_LINK_CODE(name) name,
#define BANTAM_LINK_SET(set, ...) set##_all,
#define BANTAM_LINK_MEMBER(set, name) set##_##name,
#include "links.inc"
  kCount
};

/// Number of members of a set.
constexpr uint32_t size_of(Link set) {
  uint32_t size = 0;
#define BANTAM_LINK_MEMBER(own, name) size += own##_all == set ? 1 : 0;
#include "links.inc"
  return size;
}

/// The member of a set with this number.
template <class Number>
constexpr Link of(Link set, Number number) {
  return static_cast<Link>(set + 1 + static_cast<uint32_t>(number));
}

struct Linked {
  bool is[kCount] = {};
};

constexpr Linked linked_ones() {
  Linked linked;
#if defined(BANTAM_LINKED_HEADER)
  constexpr Link kNamed[] = {nothing, BANTAM_LINKS};
  for (const Link named : kNamed) linked.is[named] = true;
#define BANTAM_LINK_MEMBER(set, name) linked.is[set##_##name] = linked.is[set##_##name] || linked.is[set##_all];
#define BANTAM_LINK_MASK(name, Code, Kernel) \
  BANTAM_LINK_MEMBER(mask, name)             \
  linked.is[Code] = linked.is[Code] || linked.is[mask_##name];
#include "links.inc"
#define BANTAM_LINK_ONLY_WITH(name, other) linked.is[name] = linked.is[name] && linked.is[other];
#include "links.inc"
#else
  for (bool& is : linked.is) is = true;
#endif
  return linked;
}
constexpr Linked kLinked = linked_ones();

/// Bit i: member i of a set is linked; with kAlways the first member always is. If the whole set is linked, bits of
/// members that only newer files have are set, too.
template <Link kSet, bool kAlways>
struct Bits {
  static constexpr uint32_t kSize = size_of(kSet);
  static constexpr uint32_t kWords = (kSize + 31) / 32;
  uint32_t words[kWords] = {};

  constexpr Bits() {
    for (uint32_t& word : words) word = kLinked.is[kSet] ? ~0u : 0u;
    for (uint32_t i = 0; i < kSize; ++i) {
      if ((kAlways && i == 0) || kLinked.is[of(kSet, i)]) words[i / 32] |= 1u << i % 32;
    }
  }
};

/// Computed once, because compilers limit the steps of constant evaluation.
template <Link kSet, bool kAlways>
inline constexpr Bits<kSet, kAlways> kBits{};

/// Tests a bit of a set. A small set is one word, so that a value from a file is tested with one instruction.
template <Link kSet, bool kAlways>
constexpr bool holds(uint32_t i) {
  if constexpr (kBits<kSet, kAlways>.kWords == 1) {
    constexpr uint32_t kOnly = kBits<kSet, kAlways>.words[0];
    return (kOnly >> i & 1u) != 0;
  } else {
    return (kBits<kSet, kAlways>.words[i / 32] >> i % 32 & 1u) != 0;
  }
}
template <Link kSet>
constexpr uint32_t word() {
  return kBits<kSet, false>.words[0];
}

}  // namespace links

using links::Link;

constexpr bool is(Link link) { return links::kLinked.is[link]; }

// k##name: a switch. set(number): tests a member of a set.
#define BANTAM_LINK(name, ...) constexpr bool k##name = is(links::name);
#define BANTAM_LINK_CODE(name) constexpr bool k##name = is(links::name);
#define BANTAM_LINK_SET(set, Kind, always, words) \
  constexpr bool set(uint32_t number) { return links::holds<links::set##_all, always>(number); }
#include "links.inc"

/// Rows of ops/ops.inc.
enum Op : uint32_t {
#define BANTAM_OP(name, ...) kOp##name,
#include "ops/ops.inc"
#undef BANTAM_OP
  kOps
};

/// Bits of kernels, by their names in kernels/kernels.inc.
struct Kernels {
  enum class Number : uint8_t {
#define BANTAM_KERNEL(name, Args) name,
#include "kernels/kernels.inc"
#undef BANTAM_KERNEL
  };
#define BANTAM_KERNEL(name, Args) static constexpr uint64_t name = uint64_t{1} << static_cast<uint32_t>(Number::name);
#include "kernels/kernels.inc"
#undef BANTAM_KERNEL
  static constexpr uint64_t kNone = 0;

  /// Kernels that the operator in this row calls.
  static constexpr uint64_t of(uint32_t row) {
    constexpr uint64_t kOfRows[] = {
#define BANTAM_OP(name, kind, numerics, inputs, required, outputs, whole, macs, matrices, kernels, ...) kernels,
#include "ops/ops.inc"
#undef BANTAM_OP
    };
    return kOfRows[row];
  }
};

/// The values of fb::Numerics, which this header does not include.
enum Numerics : uint32_t { dynamic = 0, static_int = 1 };
/// Returns true if an operator with these numerics is linked.
constexpr bool any_op(Numerics of) {
  bool any = false;
#define BANTAM_OP(name, kind, numerics, ...) any = any || (numerics == of && op(kOp##name));
#include "ops/ops.inc"
#undef BANTAM_OP
  return any;
}
constexpr bool every_op() {
  for (uint32_t row = 0; row < kOps; ++row) {
    if (!op(row)) return false;
  }
  return true;
}
constexpr bool kEveryOp = every_op();
constexpr bool kStatic = any_op(Numerics::static_int);

/// Returns true if this build has the layouts of weights with this number. It always has the dense int8 ones, which
/// static quantization and embedding tables also use.
constexpr bool weights(Link number) { return number == links::Dynamic || is(number); }

constexpr bool kHost = BANTAM_LINK_HOST != 0;
/// Rows of features besides ids (InputKind.features).
constexpr bool kFeatures = op(kOpFeatures);
/// Bit i: the task of number i.
constexpr uint32_t kTasks = links::word<links::task_all>();
static_assert(links::size_of(links::task_all) <= 32, "sets of tasks are words");
/// A mask other than none.
constexpr bool kMasks = links::word<links::mask_all>() >> 1 != 0;
/// Attention that lists the key pages that some query attends to.
constexpr bool kKeyLists = kGlobals || kBlocks;
/// Pages of keys and values need not be contiguous.
constexpr bool kPageLists = kContexts || kKeyLists;
/// Features of attention that add a bias to the scores, or use the code path for biased scores.
constexpr bool kBias = kDistanceBias || kSlopes || kPlaceScores || kSegmentKeys || kSoftCap || kMarked || kKeyLists;
/// A normalizer other than BERT's.
constexpr bool kNormalSequence = links::word<links::normalizer_all>() >> 1 != 0;
/// Byte pair encoding as modified by TokenModel.traits.
constexpr bool kBpeTraits = kBpeWithUnknown || kWordMarks || kWordLevel || kMergesInAnyOrder;

}  // namespace bantam::linked

#endif  // BANTAM_LINKED_H_
