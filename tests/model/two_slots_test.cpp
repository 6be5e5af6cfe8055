// examples/two_slots.h: an over-the-air update, interrupted at every step.
#include "examples/two_slots.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "bantam/model.h"
#include "tests/session/bert.h"

namespace bantam::testing::two_slots_test {
namespace {

constexpr size_t kSector = 4096;
constexpr size_t kPage = 256;

/// Flash memory whose power fails after a number of steps: half of the next operation is done, and nothing after it.
class CutFlash final : public example::Flash {
 public:
  explicit CutFlash(size_t slot) : memory_(kSector + 2 * kSector + 2 * slot, 0x5A), slot_(slot) {}

  example::Places places() const {
    const uint8_t* first = memory_.data() + kSector - reinterpret_cast<uintptr_t>(memory_.data()) % kSector;
    const uint8_t* slots = first + 2 * kSector;
    return {{slots, slots + slot_}, slot_, {first, first + kSector}, kSector};
  }

  bool erase(const uint8_t* at, size_t size) override {
    for (size_t i = 0; i < size; i += kSector) {
      if (!step(at + i, std::vector<uint8_t>(kSector, 0xFF))) return false;
    }
    return true;
  }
  bool write(const uint8_t* at, const void* bytes, size_t size) override {
    const auto* from = static_cast<const uint8_t*>(bytes);
    for (size_t i = 0; i < size; i += kPage) {
      const size_t part = std::min(kPage, size - i);
      for (size_t k = 0; k < part; ++k) EXPECT_EQ(at[i + k], 0xFF) << "written where it is not erased";
      if (!step(at + i, std::vector<uint8_t>(from + i, from + i + part))) return false;
    }
    return true;
  }

  void power_for(size_t steps) { left_ = steps; }
  void restart() {
    cut_ = false;
    left_ = SIZE_MAX;
  }

 private:
  bool step(const uint8_t* at, const std::vector<uint8_t>& bytes) {
    const bool whole = left_ > 0;
    if (cut_) return false;
    cut_ = !whole;
    std::copy_n(bytes.begin(), whole ? bytes.size() : bytes.size() / 2, memory_.begin() + (at - memory_.data()));
    if (whole) --left_;
    return whole;
  }

  std::vector<uint8_t> memory_;
  size_t slot_;
  size_t left_ = SIZE_MAX;
  bool cut_ = false;
};

class TwoSlotsTest : public ::testing::Test {
 protected:
  static std::vector<uint8_t> file(uint32_t seed) {
    return build(random_bert(BertShape(), seed), WeightType::kI8).finish();
  }

  /// Installs a whole update from bytes as they arrive.
  static bool install(CutFlash* flash, const FileBytes& file) {
    example::TwoSlots slots(*flash, flash->places());
    if (!slots.begin()) return false;
    constexpr size_t kPacket = 1000;
    for (size_t at = 0; at < file.size(); at += kPacket) {
      const size_t size = std::min<size_t>(kPacket, file.size() - at);
      if (!slots.add(file.data() + at, size)) return false;
    }
    if (!slots.end()) return false;
    for (bool done = false; !done;) {
      if (!slots.check(5000, &done)) return false;
    }
    return true;
  }

  /// Restarts the device and returns which file it has: 0: the old one, 1: the new one, -1: none or another one.
  int starts_with(CutFlash* flash) const {
    flash->restart();
    const example::TwoSlots slots(*flash, flash->places());
    size_t size = 0;
    const uint8_t* bytes = slots.active(&size);
    Model model;
    if (bytes == nullptr || Model::open(bytes, size, &model) != Status::kOk) return -1;
    for (int which = 0; which < 2; ++which) {
      const FileBytes& file = which == 0 ? old_ : new_;
      if (size == file.size() && std::equal(bytes, bytes + size, file.data())) return which;
    }
    return -1;
  }

  size_t slot_bytes() const { return (std::max(old_.size(), new_.size()) / kSector + 1) * kSector; }

  const FileBytes old_ = FileBytes(file(3));
  const FileBytes new_ = FileBytes(file(4));
};

TEST_F(TwoSlotsTest, NothingIsInstalledAtFirst) {
  CutFlash flash(slot_bytes());
  EXPECT_EQ(starts_with(&flash), -1);
  EXPECT_TRUE(install(&flash, old_));
  EXPECT_EQ(starts_with(&flash), 0);
  for (int times = 0; times < 3; ++times) {
    EXPECT_TRUE(install(&flash, new_));
    EXPECT_EQ(starts_with(&flash), 1);
    EXPECT_TRUE(install(&flash, old_));
    EXPECT_EQ(starts_with(&flash), 0);
  }
}

TEST_F(TwoSlotsTest, PowerMayFailInEveryStep) {
  size_t cuts = 0;
  for (bool whole = false; !whole; ++cuts) {
    CutFlash flash(slot_bytes());
    ASSERT_TRUE(install(&flash, old_));
    flash.power_for(cuts);
    whole = install(&flash, new_);
    ASSERT_EQ(starts_with(&flash), whole ? 1 : 0) << "cut in step " << cuts;
    if (whole) break;
    ASSERT_TRUE(install(&flash, new_)) << "again, after a cut in step " << cuts;
    ASSERT_EQ(starts_with(&flash), 1);
  }
  // The sectors of the slot, the pages of the file, and the two of the note.
  EXPECT_GE(cuts, slot_bytes() / kSector + new_.size() / kPage + 2);
}

TEST_F(TwoSlotsTest, WhatIsNotTheFileIsNotTaken) {
  CutFlash flash(slot_bytes());
  ASSERT_TRUE(install(&flash, old_));
  for (const bool begins_well : {true, false}) {  // data corrupted during transfer, and data that is not a file
    example::TwoSlots slots(flash, flash.places());
    ASSERT_TRUE(slots.begin());
    std::vector<uint8_t> bytes(new_.data(), new_.data() + new_.size());
    bytes[begins_well ? bytes.size() - 100 : 0] ^= 1;
    ASSERT_TRUE(slots.add(bytes.data(), bytes.size()));
    EXPECT_EQ(slots.end(), begins_well);
    bool good = begins_well;
    for (bool done = false; good && !done;) good = slots.check(5000, &done);
    EXPECT_FALSE(good);
    EXPECT_EQ(starts_with(&flash), 0);
  }
  example::TwoSlots slots(flash, flash.places());
  ASSERT_TRUE(slots.begin());
  ASSERT_TRUE(slots.add(new_.data(), new_.size() - 1));
  EXPECT_FALSE(slots.end()) << "the last byte is missing";
  EXPECT_EQ(starts_with(&flash), 0);
  const std::vector<uint8_t> large(slot_bytes() + 1);
  ASSERT_TRUE(slots.begin());
  EXPECT_FALSE(slots.add(large.data(), large.size()));
}

}  // namespace
}  // namespace bantam::testing::two_slots_test
