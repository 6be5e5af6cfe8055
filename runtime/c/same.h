// Conversions between the types of the C API and those of the C++ API, which the files of the C API share.
#ifndef BANTAM_C_SAME_H_
#define BANTAM_C_SAME_H_

#include <string.h>

#include "bantam/bantam.h"
#include "bantam/session.h"

namespace bantam::c {

/// Structures of the same layout, checked above.
template <typename To, typename From>
To* same(From* pointer) {
  static_assert(sizeof(To) == sizeof(From));
  return reinterpret_cast<To*>(pointer);
}

inline bantam_status to_c(bantam::Status status) { return static_cast<bantam_status>(status); }
inline bantam_text to_c(bantam::Text text) { return {text.data, text.size}; }
inline bantam::Text to_cpp(bantam_text text) { return {text.data, text.size}; }
inline constexpr bantam::Model kNoModel;  // opened from nothing: the C++ calls refuse it

/// The model, or kNoModel in place of none.
inline const bantam::Model& to_cpp(const bantam_model* model) {
  return model == nullptr ? kNoModel : *reinterpret_cast<const bantam::Model*>(model);
}
/// Null: there is none to ask.
inline const bantam::Model* opened(const bantam_model* model) {
  const bantam::Model& found = to_cpp(model);
  return found.is_open() ? &found : nullptr;
}
inline bantam::Session* to_cpp(bantam_session* session) { return reinterpret_cast<bantam::Session*>(session); }
inline const bantam::Session* to_cpp(const bantam_session* session) {
  return reinterpret_cast<const bantam::Session*>(session);
}

/// Returns the status of `call` on the session; BANTAM_INVALID_ARGUMENT where the session is null.
template <typename Handle, typename Call>
bantam_status with(Handle* session, const Call& call) {
  return session == nullptr ? BANTAM_INVALID_ARGUMENT : to_c(call(*to_cpp(session)));
}

/// Reads the options that the caller's header has and leaves the rest of *out as initialised. Returns false where their
/// `size` cannot be right, or where they are from a later header and ask for what this library does not know.
template <typename Options>
bool read_options(const Options* options, Options* out) {
  size_t size = 0;
  memcpy(&size, options, sizeof(size));
  if (size < sizeof(size)) return false;
  const auto* bytes = reinterpret_cast<const unsigned char*>(options);
  for (size_t i = sizeof(Options); i < size; ++i) {
    if (bytes[i] != 0) return false;
  }
  const size_t known = size < sizeof(Options) ? size : sizeof(Options);
  memcpy(out, options, known);
  return true;
}

/// The first `size` bytes of `defaults`, zeros behind them.
template <typename Options>
void write_options(Options defaults, Options* options, size_t size) {
  if (options == nullptr || size < sizeof(size_t)) return;
  defaults.size = size;
  memset(options, 0, size);
  memcpy(options, &defaults, size < sizeof(Options) ? size : sizeof(Options));
}

}  // namespace bantam::c

#endif  // BANTAM_C_SAME_H_
