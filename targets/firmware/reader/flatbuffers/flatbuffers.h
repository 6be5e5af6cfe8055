// The code that bantam_generated.h needs to read a file: tables, vectors, strings and structs of a buffer that the
// runtime has verified (runtime/model/structure.h). It replaces FlatBuffers' own headers, which need the C++ library.
// flatc's output requires these names; converter/firmware/reader.cpp removes the code that builds or verifies buffers
// from that output. Layout: https://flatbuffers.dev/internals
#ifndef BANTAM_FIRMWARE_FLATBUFFERS_H_
#define BANTAM_FIRMWARE_FLATBUFFERS_H_

#include <stddef.h>
#include <stdint.h>

#include "language.h"

#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "bantam: files are little endian, and so must be the core"
#endif

#define FLATBUFFERS_FINAL_CLASS final
#define FLATBUFFERS_VTABLE_UNDERLYING_TYPE : ::flatbuffers::voffset_t
#define FLATBUFFERS_MANUALLY_ALIGNED_STRUCT(alignment) struct alignas(alignment)
#define FLATBUFFERS_STRUCT_END(name, size) static_assert(sizeof(name) == (size), "no gaps within")

namespace flatbuffers {

using uoffset_t = uint32_t;  // from the offset itself to what it refers to
using soffset_t = int32_t;   // from a table back to its vtable
using voffset_t = uint16_t;  // of a field in its table; 0: the field has its default value

constexpr uint32_t kFileIdentifierLength = 4;

/// Buffers are aligned for the numbers in them.
template <typename T>
T ReadScalar(const void* p) {
  return *static_cast<const T*>(p);
}
template <typename T>
constexpr T EndianScalar(T value) {
  return value;
}
template <typename T>
constexpr bool IsOutRange(const T& value, const T& low, const T& high) {
  return value < low || high < value;
}

/// An offset to a T.
template <typename T = void>
struct Offset {
  uoffset_t o;
};

inline const uint8_t* follow(const uint8_t* p) { return p + ReadScalar<uoffset_t>(p); }

/// How the elements of a vector are read: numbers by value, structs in place, others through offsets.
template <typename T>
struct Element {
  using Type = T;
  static constexpr size_t kBytes = sizeof(T);
  static Type read(const uint8_t* p) { return ReadScalar<T>(p); }
};
template <typename T>
struct Element<Offset<T>> {
  using Type = const T*;
  static constexpr size_t kBytes = sizeof(uoffset_t);
  static Type read(const uint8_t* p) { return reinterpret_cast<Type>(follow(p)); }
};
template <typename T>
struct Element<const T*> {
  using Type = const T*;
  static constexpr size_t kBytes = sizeof(T);
  static Type read(const uint8_t* p) { return reinterpret_cast<Type>(p); }
};

template <typename T>
class Vector {
 public:
  using Read = typename Element<T>::Type;

  class Iterator {
   public:
    explicit Iterator(const uint8_t* at) : at_(at) {}
    [[gnu::always_inline]] Read operator*() const { return Element<T>::read(at_); }
    [[gnu::always_inline]] Iterator& operator++() {
      at_ += Element<T>::kBytes;
      return *this;
    }
    [[gnu::always_inline]] bool operator!=(const Iterator& other) const { return at_ != other.at_; }

   private:
    const uint8_t* at_;
  };

  Vector(const Vector&) = delete;
  Vector& operator=(const Vector&) = delete;

  uoffset_t size() const { return size_; }
  Read Get(uoffset_t i) const { return Element<T>::read(Data() + i * Element<T>::kBytes); }
  Read operator[](uoffset_t i) const { return Get(i); }
  const uint8_t* Data() const { return reinterpret_cast<const uint8_t*>(&size_ + 1); }
  const T* data() const { return reinterpret_cast<const T*>(Data()); }
  [[gnu::always_inline]] Iterator begin() const { return Iterator(Data()); }
  [[gnu::always_inline]] Iterator end() const { return Iterator(Data() + size_ * Element<T>::kBytes); }

 private:
  Vector() = default;
  uoffset_t size_;
};

/// UTF-8, terminated by a 0.
class String {
 public:
  String(const String&) = delete;
  String& operator=(const String&) = delete;

  uoffset_t size() const { return size_; }
  const char* c_str() const { return reinterpret_cast<const char*>(&size_ + 1); }

 private:
  String() = default;
  uoffset_t size_;
};

class Table {
 public:
  Table(const Table&) = delete;
  Table& operator=(const Table&) = delete;

 protected:
  Table() = default;

  /// Returns the offset of the field in this table; 0 if it is absent.
  voffset_t place_of(voffset_t field) const {
    const uint8_t* fields = data_ - ReadScalar<soffset_t>(data_);
    return field < ReadScalar<voffset_t>(fields) ? ReadScalar<voffset_t>(fields + field) : voffset_t{0};
  }
  template <typename T>
  T GetField(voffset_t field, T otherwise) const {
    const voffset_t place = place_of(field);
    return place != 0 ? ReadScalar<T>(data_ + place) : otherwise;
  }
  template <typename P>
  P GetPointer(voffset_t field) const {
    const voffset_t place = place_of(field);
    return place != 0 ? reinterpret_cast<P>(follow(data_ + place)) : nullptr;
  }
  template <typename P>
  P GetStruct(voffset_t field) const {
    const voffset_t place = place_of(field);
    return place != 0 ? reinterpret_cast<P>(data_ + place) : nullptr;
  }

 private:
  uint8_t data_[1];
};

template <typename T>
const T* GetRoot(const void* buffer) {
  return reinterpret_cast<const T*>(follow(static_cast<const uint8_t*>(buffer)));
}

}  // namespace flatbuffers

#endif  // BANTAM_FIRMWARE_FLATBUFFERS_H_
