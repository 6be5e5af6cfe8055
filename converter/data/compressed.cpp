#include "data/compressed.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/fail.h"
#include "base/printable.h"
#if defined(BANTAM_HAS_ZLIB)
#include <zlib.h>
#endif

namespace bantam::convert {
namespace {

using namespace std::string_view_literals;

#if defined(BANTAM_HAS_ZLIB)
constexpr bool kReadsGzip = true;
#else
constexpr bool kReadsGzip = false;
#endif

struct Kind {
  std::string_view begin;
  const char* name;
  const char* unpack;  // the command that writes the content to standard output
};

// gzip: RFC 1952; zstd: RFC 8878; the others: the files' descriptions by their authors.
constexpr std::array<Kind, 6> kKinds = {{{"\x1f\x8b\x08"sv, "gzip", "gzip -dc"},
                                         {"\x28\xb5\x2f\xfd"sv, "zstd", "zstd -dc"},
                                         {"\xfd\x37zXZ\0"sv, "xz", "xz -dc"},
                                         {"BZh91AY&SY"sv, "bzip2", "bzip2 -dc"},
                                         {"\x04\x22\x4d\x18"sv, "lz4", "lz4 -dc"},
                                         {"PK\x03\x04"sv, "zip", "unzip -p"}}};

}  // namespace

Compression compression_of(const std::string& name, std::string_view start) {
  bool maybe = false;
  for (const Kind& kind : kKinds) {
    const size_t both = std::min(start.size(), kind.begin.size());
    if (start.substr(0, both) != kind.begin.substr(0, both)) continue;
    if (both < kind.begin.size()) {
      maybe = true;
      continue;
    }
    if (kind.name == "gzip"sv && kReadsGzip) return Compression::kGzip;
    fail(ExitCode::kUnsupported,
         "{}: is compressed by {}, which {} does not read; unpack it first: {} IN | bantam ... -", printable(name),
         kind.name, kind.name == "gzip"sv ? "this build" : "bantam", kind.unpack);
  }
  return maybe ? Compression::kMaybe : Compression::kNone;
}

#if defined(BANTAM_HAS_ZLIB)

struct Gunzip::State {
  z_stream stream = {};
  bool between = false;  // a member has ended, and the next one has not begun
  bool ended = false;
};

Gunzip::Gunzip(std::string name, std::string_view start, More more)
    : name_(std::move(name)), more_(std::move(more)), packed_(start), state_(std::make_unique<State>()) {
  constexpr int kGzip = 16 + MAX_WBITS;
  if (inflateInit2(&state_->stream, kGzip) != Z_OK) fail(ExitCode::kOutOfSpace, "{}: no memory to unpack it", name_);
  state_->stream.next_in = reinterpret_cast<Bytef*>(packed_.data());
  state_->stream.avail_in = static_cast<uInt>(packed_.size());
}

Gunzip::~Gunzip() { inflateEnd(&state_->stream); }

size_t Gunzip::read(char* out, size_t size) {
  constexpr size_t kChunk = size_t{1} << 16;
  z_stream& stream = state_->stream;
  stream.next_out = reinterpret_cast<Bytef*>(out);
  stream.avail_out = static_cast<uInt>(size);
  while (stream.avail_out == size && !state_->ended) {
    if (stream.avail_in == 0) {
      packed_.resize(kChunk);
      const size_t got = more_(packed_.data(), kChunk);
      state_->ended = got == 0;
      if (state_->ended && !state_->between) {
        fail(ExitCode::kInvalid, "{}: ends in the middle of its compressed data; copy or download it again",
             printable(name_));
      }
      stream.next_in = reinterpret_cast<Bytef*>(packed_.data());
      stream.avail_in = static_cast<uInt>(got);
      if (state_->ended) break;
    }
    if (state_->between) {
      // Members follow one another; zeros may fill up the last block.
      state_->ended = *stream.next_in == 0;
      if (state_->ended) break;
      inflateReset(&stream);
      state_->between = false;
    }
    const int result = inflate(&stream, Z_NO_FLUSH);
    state_->between = result == Z_STREAM_END;
    if (result != Z_OK && result != Z_STREAM_END && result != Z_BUF_ERROR) {
      state_->ended = true;
      fail(ExitCode::kInvalid, "{}: its compressed data are damaged ({}); copy or download it again", printable(name_),
           stream.msg == nullptr ? "gzip" : stream.msg);
    }
  }
  return size - stream.avail_out;
}

#else

struct Gunzip::State {};
Gunzip::Gunzip(std::string name, std::string_view /*start*/, More /*more*/) : name_(std::move(name)) {}
Gunzip::~Gunzip() = default;
size_t Gunzip::read(char* /*out*/, size_t /*size*/) { return 0; }

#endif

}  // namespace bantam::convert
