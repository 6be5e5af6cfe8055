// A model that comes over the air: two slots in flash, of which one is in use while the other is written, and a note of which that is.
// Whatever step the power fails in, the device starts with a whole model: the old one, or the new one once all of its bytes have been
// checked. Nothing here is of an operating system; Flash has what a driver of NOR flash has. tests/model/two_slots_test.cpp cuts the
// power in every step.
#ifndef BANTAM_EXAMPLES_TWO_SLOTS_H_
#define BANTAM_EXAMPLES_TWO_SLOTS_H_

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "bantam/file.h"

namespace example {

/// A board's driver of flash. Addresses are those at which the core reads the flash.
struct Flash {
  virtual bool erase(const uint8_t* at, size_t size) = 0;                     // whole sectors, which become 0xFF
  virtual bool write(const uint8_t* at, const void* bytes, size_t size) = 0;  // where it is erased

 protected:
  ~Flash() = default;
};

/// Where things lie: each slot, and each of two sectors for notes, is erased on its own.
struct Places {
  const uint8_t* slots[2];
  size_t slot_bytes;
  const uint8_t* notes[2];
  size_t note_bytes;  // a sector
};

class TwoSlots {
 public:
  TwoSlots(Flash& flash, const Places& places) : flash_(flash), places_(places) {}

  /// The file in use, or null: none has been installed. Reads the notes and a header.
  const uint8_t* active(size_t* size) const {
    const Note* note = newest();
    if (note == nullptr || bantam::file_bytes(slot(note->slot), places_.slot_bytes, size) != bantam::Status::kOk) {
      return nullptr;
    }
    return slot(note->slot);
  }

  /// Makes room for a file: erases the slot that is not in use.
  bool begin() {
    written_ = 0;
    return flash_.erase(slot(other()), places_.slot_bytes);
  }

  /// The next bytes of the file, as they come.
  bool add(const void* bytes, size_t size) {
    if (size > places_.slot_bytes - written_ || !flash_.write(slot(other()) + written_, bytes, size)) return false;
    written_ += size;
    return true;
  }

  /// All bytes have come: is it a whole file? Then check() has something to do.
  bool end() {
    size_t size = 0;
    return bantam::file_bytes(slot(other()), places_.slot_bytes, &size) == bantam::Status::kOk && size == written_ &&
           bantam::FileCheck::begin(slot(other()), size, &check_) == bantam::Status::kOk;
  }

  /// Checks `bytes` more. *done: all were those that were sent, and the device starts with this file from now on. False: they were
  /// not, or the note could not be written; the file in use is the old one.
  bool check(size_t bytes, bool* done) {
    *done = false;
    bool whole = false;
    if (check_.advance(bytes, &whole) != bantam::Status::kOk) return false;
    if (!whole) return true;
    // The note that is older is the one that is lost where the power fails now.
    const Note* now = newest();
    const uint32_t number = now == nullptr ? 1 : now->number + 1;
    Note note = {kMagic, number, other(), 0};
    note.sum = sum_of(note);
    const uint8_t* sector = places_.notes[number % 2];
    *done = flash_.erase(sector, places_.note_bytes) && flash_.write(sector, &note, sizeof(note));
    return *done;
  }

 private:
  struct Note {
    uint32_t magic, number, slot, sum;
  };
  static constexpr uint32_t kMagic = 0x54345342;

  /// CRC-32: half a note is none.
  static uint32_t sum_of(const Note& note) {
    const auto* bytes = reinterpret_cast<const uint8_t*>(&note);
    uint32_t crc = ~0u;
    for (size_t i = 0; i < offsetof(Note, sum); ++i) {
      crc ^= bytes[i];
      for (int bit = 0; bit < 8; ++bit) crc = crc >> 1 ^ (0xEDB88320u & (0u - (crc & 1u)));
    }
    return ~crc;
  }
  const Note* note_of(uint32_t which) const {
    const auto* note = reinterpret_cast<const Note*>(places_.notes[which]);
    return note->magic == kMagic && note->slot < 2 && note->sum == sum_of(*note) ? note : nullptr;
  }
  const Note* newest() const {
    const Note* first = note_of(0);
    const Note* second = note_of(1);
    if (first == nullptr || second == nullptr) return first == nullptr ? second : first;
    return static_cast<int32_t>(first->number - second->number) > 0 ? first : second;
  }
  uint32_t other() const {
    const Note* note = newest();
    return note == nullptr ? 0 : 1 - note->slot;
  }
  const uint8_t* slot(uint32_t which) const { return places_.slots[which]; }

  Flash& flash_;
  const Places places_;
  size_t written_ = 0;
  bantam::FileCheck check_;
};

}  // namespace example

#endif  // BANTAM_EXAMPLES_TWO_SLOTS_H_
