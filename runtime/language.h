// The few parts of the C++ library that the runtime uses, for compilers that come without it.
#ifndef BANTAM_LANGUAGE_H_
#define BANTAM_LANGUAGE_H_

#include <stddef.h>

#if __has_include(<new>)
#include <new>
#else
inline void* operator new(size_t, void* place) noexcept { return place; }
#endif

#if __has_include(<initializer_list>)
#include <initializer_list>
#else
// `for (int i : {1, 2})`: compilers construct an initializer_list from a pointer and a length.
namespace std {
template <typename T>
class initializer_list {
 public:
  constexpr const T* begin() const noexcept { return first_; }
  constexpr const T* end() const noexcept { return first_ + size_; }
  constexpr size_t size() const noexcept { return size_; }

 private:
  constexpr initializer_list(const T* first, size_t size) : first_(first), size_(size) {}

  const T* first_;
  size_t size_;
};
}  // namespace std
#endif

namespace bantam {

template <typename A, typename B>
inline constexpr bool kSame = false;
template <typename A>
inline constexpr bool kSame<A, A> = true;

template <bool kFirst, typename First, typename Second>
struct ChooseType {
  using Type = First;
};
template <typename First, typename Second>
struct ChooseType<false, First, Second> {
  using Type = Second;
};
template <bool kFirst, typename First, typename Second>
using Choose = typename ChooseType<kFirst, First, Second>::Type;

/// Returns an object of type T that is constructed where a template is instantiated, not where it is defined: until
/// then T may be incomplete. `Argument`: any of the template's arguments.
template <typename T, typename Argument>
constexpr T later() {
  return T();
}

}  // namespace bantam

#endif  // BANTAM_LANGUAGE_H_
