// Conversions between the types of the C API and those of the C++ API; all files of the C API share them.
#ifndef BANTAM_C_SAME_H_
#define BANTAM_C_SAME_H_

#include <string.h>

#include "bantam/bantam.h"
#include "bantam/session.h"

namespace bantam::c {

/// Casts between structures of the same layout, which bantam.cpp checks.
template <typename To, typename From>
To* same(From* pointer) {
  static_assert(sizeof(To) == sizeof(From));
  return reinterpret_cast<To*>(pointer);
}

inline bantam_status to_c(bantam::Status status) { return static_cast<bantam_status>(status); }
inline bantam_text to_c(bantam::Text text) { return {text.data, text.size}; }
inline bantam::Text to_cpp(bantam_text text) { return {text.data, text.size}; }
inline constexpr bantam::Model kNoModel;  // never opened: the C++ calls refuse it

/// Returns the model; kNoModel for null.
inline const bantam::Model& to_cpp(const bantam_model* model) {
  return model == nullptr ? kNoModel : *reinterpret_cast<const bantam::Model*>(model);
}
/// Returns null if there is no open model.
inline const bantam::Model* opened(const bantam_model* model) {
  const bantam::Model& found = to_cpp(model);
  return found.is_open() ? &found : nullptr;
}
inline bantam::Session* to_cpp(bantam_session* session) { return reinterpret_cast<bantam::Session*>(session); }
inline const bantam::Session* to_cpp(const bantam_session* session) {
  return reinterpret_cast<const bantam::Session*>(session);
}

/// Returns the status of `call` on the session; BANTAM_INVALID_ARGUMENT if the session is null.
template <typename Handle, typename Call>
bantam_status with(Handle* session, const Call& call) {
  return session == nullptr ? BANTAM_INVALID_ARGUMENT : to_c(call(*to_cpp(session)));
}

/// Reads the options that the caller's header has and leaves the rest of *out at its defaults. Returns false if their
/// `size` is invalid, or if they come from a newer header and set options that this library does not know.
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

/// Writes the first `size` bytes of `defaults`, followed by zeros.
template <typename Options>
void write_options(Options defaults, Options* options, size_t size) {
  if (options == nullptr || size < sizeof(size_t)) return;
  defaults.size = size;
  memset(options, 0, size);
  memcpy(options, &defaults, size < sizeof(Options) ? size : sizeof(Options));
}

}  // namespace bantam::c

#endif  // BANTAM_C_SAME_H_
