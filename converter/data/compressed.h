// Compressed input: known by its first bytes. Gzip is read where zlib is built in; other kinds are refused by name.
#ifndef BANTAM_CONVERTER_DATA_COMPRESSED_H_
#define BANTAM_CONVERTER_DATA_COMPRESSED_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace bantam::convert {

enum class Compression : uint8_t { kNone, kMaybe, kGzip };

/// Returns the compression of an input `name` that begins with `start`; kMaybe: `start` is too short to tell. Throws
/// Error (unsupported) for a kind that this build does not read, with the command that unpacks it.
Compression compression_of(const std::string& name, std::string_view start);

/// Unpacks a stream of gzip members.
class Gunzip {
 public:
  /// `more` reads at most so many compressed bytes and returns their number, 0 at the end. `start`: bytes read already.
  using More = std::function<size_t(char* out, size_t size)>;
  Gunzip(std::string name, std::string_view start, More more);
  ~Gunzip();
  Gunzip(const Gunzip&) = delete;
  Gunzip& operator=(const Gunzip&) = delete;

  /// Returns the number of unpacked bytes, at most `size`; 0 at the end. Throws Error (invalid) if the data are damaged
  /// or end early.
  size_t read(char* out, size_t size);

 private:
  struct State;
  std::string name_;
  More more_;
  std::string packed_;
  std::unique_ptr<State> state_;
};

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_DATA_COMPRESSED_H_
