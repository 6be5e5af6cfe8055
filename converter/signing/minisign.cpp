#include "signing/minisign.h"

#include <fmt/format.h>

#include "base/error.h"

#ifdef BANTAM_HAS_SODIUM

#include <sodium.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <string_view>
#include <vector>

namespace bantam::convert {
namespace {

constexpr std::string_view kUntrusted = "untrusted comment: ", kTrusted = "trusted comment: ";
constexpr std::string_view kPlain = "Ed", kHashed = "ED", kScrypt = "Sc", kBlake = "B2";
constexpr size_t kAlgorithm = 2, kSalt = 32, kLimit = 8, kSignature = 64, kHash = 64;
constexpr size_t kMostComment = 1024;

// Sizes and offsets of the data in the second lines, in the order of the format.
constexpr size_t kPublicBytes = kAlgorithm + sizeof(KeyId) + 32;
constexpr size_t kSignatureBytes = kAlgorithm + sizeof(KeyId) + kSignature;
// the id, the key and their checksum, which the password encrypts
constexpr size_t kHidden = sizeof(KeyId) + 64 + 32;
constexpr size_t kSecretHead = 3 * kAlgorithm + kSalt + 2 * kLimit;
constexpr size_t kSecretBytes = kSecretHead + kHidden;

static_assert(crypto_sign_PUBLICKEYBYTES == 32 && crypto_sign_SECRETKEYBYTES == 64 && crypto_sign_BYTES == kSignature);
static_assert(crypto_pwhash_scryptsalsa208sha256_SALTBYTES == kSalt);

using Bytes = std::vector<uint8_t>;

void start() {
  if (sodium_init() < 0) throw Error(ExitCode::kInternal, "libsodium does not start on this machine");
}

[[noreturn]] void invalid(const std::string& file, const std::string& why) {
  throw Error(ExitCode::kInvalid, fmt::format("{}: {}", file, why));
}

void append(Bytes& out, std::string_view text) { out.insert(out.end(), text.begin(), text.end()); }
template <size_t n>
void append(Bytes& out, const std::array<uint8_t, n>& bytes) {
  out.insert(out.end(), bytes.begin(), bytes.end());
}

void append_number(Bytes& out, uint64_t value) {
  for (size_t i = 0; i < kLimit; ++i) out.push_back(static_cast<uint8_t>(value >> (8 * i)));
}

uint64_t number_at(const uint8_t* bytes) {
  uint64_t value = 0;
  for (size_t i = 0; i < kLimit; ++i) value |= static_cast<uint64_t>(bytes[i]) << (8 * i);
  return value;
}

std::string to_base64(const Bytes& bytes) {
  std::string out(sodium_base64_encoded_len(bytes.size(), sodium_base64_VARIANT_ORIGINAL), '\0');
  sodium_bin2base64(out.data(), out.size(), bytes.data(), bytes.size(), sodium_base64_VARIANT_ORIGINAL);
  out.pop_back();  // the terminating zero
  return out;
}

/// Decodes exactly `size` bytes; returns nothing if the text is anything else.
std::optional<Bytes> from_base64(std::string_view text, size_t size) {
  Bytes out(size);
  size_t found = 0;
  const char* end = nullptr;
  const int status = sodium_base642bin(out.data(), out.size(), text.data(), text.size(), nullptr, &found, &end,
                                       sodium_base64_VARIANT_ORIGINAL);
  if (status != 0 || found != size || end != text.data() + text.size()) return std::nullopt;
  return out;
}

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
    lines.push_back(line);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

bool begins(std::string_view text, std::string_view with) { return text.substr(0, with.size()) == with; }

std::string_view text_at(const Bytes& bytes, size_t at) {
  return {reinterpret_cast<const char*>(bytes.data() + at), kAlgorithm};
}

std::array<uint8_t, 32> checksum(const KeyId& id, const uint8_t* key) {
  crypto_generichash_state state;
  std::array<uint8_t, 32> out = {};
  crypto_generichash_init(&state, nullptr, 0, out.size());
  crypto_generichash_update(&state, reinterpret_cast<const uint8_t*>(kPlain.data()), kPlain.size());
  crypto_generichash_update(&state, id.data(), id.size());
  crypto_generichash_update(&state, key, 64);
  crypto_generichash_final(&state, out.data(), out.size());
  return out;
}

/// Encrypts or decrypts hidden[0, kHidden) (XOR with a key stream).
void cross(uint8_t* hidden, const std::string& password, const uint8_t* salt, uint64_t operations, uint64_t memory) {
  Bytes stream(kHidden);
  const int status = crypto_pwhash_scryptsalsa208sha256(stream.data(), stream.size(), password.data(), password.size(),
                                                        salt, operations, static_cast<size_t>(memory));
  if (status != 0) {
    throw Error(ExitCode::kOutOfSpace,
                fmt::format("the key's password needs {} MB of memory; free some, or use a key without a password",
                            memory >> 20));
  }
  for (size_t i = 0; i < kHidden; ++i) hidden[i] ^= stream[i];
  sodium_memzero(stream.data(), stream.size());
}

std::array<uint8_t, kHash> hash_of(const void* bytes, size_t size) {
  std::array<uint8_t, kHash> out = {};
  crypto_generichash(out.data(), out.size(), static_cast<const uint8_t*>(bytes), size, nullptr, 0);
  return out;
}

/// Returns the bytes that a file's second signature covers: the first signature and the comment.
Bytes with_comment(const uint8_t* signature, std::string_view comment) {
  Bytes out(signature, signature + kSignature);
  append(out, comment);
  return out;
}

}  // namespace

SecretKey::~SecretKey() { sodium_memzero(key.data(), key.size()); }

std::string shown(const KeyId& id) { return fmt::format("{:016X}", number_at(id.data())); }

KeyFiles make_keys(const std::string& password) {
  start();
  PublicKey open;
  SecretKey secret;
  randombytes_buf(open.id.data(), open.id.size());
  crypto_sign_keypair(open.key.data(), secret.key.data());
  const bool hides = !password.empty();
  const uint64_t operations = hides ? crypto_pwhash_scryptsalsa208sha256_OPSLIMIT_SENSITIVE : 0;
  const uint64_t memory = hides ? crypto_pwhash_scryptsalsa208sha256_MEMLIMIT_SENSITIVE : 0;
  std::array<uint8_t, kSalt> salt = {};
  if (hides) randombytes_buf(salt.data(), salt.size());
  Bytes hidden;
  append(hidden, kPlain);
  append(hidden, hides ? kScrypt : std::string_view("\0\0", 2));
  append(hidden, kBlake);
  append(hidden, salt);
  append_number(hidden, operations);
  append_number(hidden, memory);
  append(hidden, open.id);
  append(hidden, secret.key);
  append(hidden, checksum(open.id, secret.key.data()));
  if (hides) cross(hidden.data() + kSecretHead, password, salt.data(), operations, memory);
  Bytes seen;
  append(seen, kPlain);
  append(seen, open.id);
  append(seen, open.key);
  KeyFiles out;
  out.secret = fmt::format("{}minisign {}secret key\n{}\n", kUntrusted, hides ? "encrypted " : "", to_base64(hidden));
  out.open = fmt::format("{}minisign public key {}\n{}\n", kUntrusted, shown(open.id), to_base64(seen));
  sodium_memzero(hidden.data(), hidden.size());
  return out;
}

SecretKey read_secret_key(const std::string& text, const std::string& file, const std::string& password) {
  start();
  const std::vector<std::string_view> lines = lines_of(text);
  std::optional<Bytes> bytes;
  if (lines.size() >= 2 && begins(lines[0], kUntrusted)) bytes = from_base64(lines[1], kSecretBytes);
  if (!bytes || text_at(*bytes, 0) != kPlain || text_at(*bytes, 2 * kAlgorithm) != kBlake) {
    invalid(file, "is not a secret key of minisign's format; make a pair with: bantam sign --new-keys NAME");
  }
  const std::string_view hides = text_at(*bytes, kAlgorithm);
  uint8_t* hidden = bytes->data() + kSecretHead;
  if (hides == kScrypt) {
    if (password.empty()) {
      throw Error(ExitCode::kUsage, fmt::format("{}: is encrypted; give its password with --password-file", file));
    }
    const uint8_t* limits = bytes->data() + 3 * kAlgorithm + kSalt;
    constexpr uint64_t kMostMemory = uint64_t{4} << 30, kMostOperations = uint64_t{1} << 30;
    const uint64_t operations = number_at(limits), memory = number_at(limits + kLimit);
    if (memory > kMostMemory || operations > kMostOperations)
      invalid(file, "asks for more memory or time than any key");
    cross(hidden, password, bytes->data() + 3 * kAlgorithm, operations, memory);
  } else if (hides != std::string_view("\0\0", 2)) {
    invalid(file, "is encrypted in an unknown way");
  }
  SecretKey key;
  std::copy_n(hidden, key.id.size(), key.id.begin());
  std::copy_n(hidden + key.id.size(), key.key.size(), key.key.begin());
  const std::array<uint8_t, 32> sum = checksum(key.id, key.key.data());
  const uint8_t* stated = hidden + key.id.size() + key.key.size();
  // minisign 0.11 leaves the checksum out of keys without a password.
  const bool left_out = hides != kScrypt && sodium_is_zero(stated, sum.size()) != 0;
  const bool holds = left_out || sodium_memcmp(sum.data(), stated, sum.size()) == 0;
  sodium_memzero(bytes->data(), bytes->size());
  if (!holds)
    invalid(file, hides == kScrypt ? "the password is wrong" : "its checksum does not hold: bytes have changed");
  return key;
}

PublicKey read_public_key(const std::string& text, const std::string& file) {
  start();
  const std::vector<std::string_view> lines = lines_of(text);
  std::optional<Bytes> bytes;
  if (lines.size() >= 2 && begins(lines[0], kUntrusted)) bytes = from_base64(lines[1], kPublicBytes);
  if (lines.size() == 1) bytes = from_base64(lines[0], kPublicBytes);
  if (!bytes || text_at(*bytes, 0) != kPlain) invalid(file, "is not a public key of minisign's format");
  PublicKey key;
  std::copy_n(bytes->data() + kAlgorithm, key.id.size(), key.id.begin());
  std::copy_n(bytes->data() + kAlgorithm + key.id.size(), key.key.size(), key.key.begin());
  return key;
}

std::string sign(const void* bytes, size_t size, const SecretKey& key, const std::string& comment) {
  start();
  const bool one_line = std::none_of(comment.begin(), comment.end(), [](char c) { return c == '\n' || c == '\r'; });
  if (!one_line || comment.size() > kMostComment) {
    throw Error(ExitCode::kUsage, fmt::format("--comment: is not a line of up to {} bytes", kMostComment));
  }
  const std::array<uint8_t, kHash> hash = hash_of(bytes, size);
  std::array<uint8_t, kSignature> first = {}, second = {};
  crypto_sign_detached(first.data(), nullptr, hash.data(), hash.size(), key.key.data());
  const Bytes both = with_comment(first.data(), comment);
  crypto_sign_detached(second.data(), nullptr, both.data(), both.size(), key.key.data());
  Bytes out;
  append(out, kHashed);
  append(out, key.id);
  append(out, first);
  return fmt::format("{}signature of a file by bantam\n{}\n{}{}\n{}\n", kUntrusted, to_base64(out), kTrusted, comment,
                     to_base64(Bytes(second.begin(), second.end())));
}

std::string check_signature(const void* bytes, size_t size, const std::string& file, const std::string& signature,
                            const std::string& signature_file, const PublicKey& key) {
  start();
  const std::vector<std::string_view> lines = lines_of(signature);
  std::optional<Bytes> first, second;
  if (lines.size() == 4 && begins(lines[0], kUntrusted) && begins(lines[2], kTrusted)) {
    first = from_base64(lines[1], kSignatureBytes);
    second = from_base64(lines[3], kSignature);
  }
  const bool hashed = first && text_at(*first, 0) == kHashed;
  if (!first || !second || (!hashed && text_at(*first, 0) != kPlain)) {
    invalid(signature_file, "is not a signature of minisign's format");
  }
  KeyId id;
  std::copy_n(first->data() + kAlgorithm, id.size(), id.begin());
  if (id != key.id) {
    invalid(signature_file, fmt::format("is by the key {}, not by {}; use the public key of who made the file",
                                        shown(id), shown(key.id)));
  }
  const uint8_t* made = first->data() + kAlgorithm + id.size();
  const std::array<uint8_t, kHash> hash = hashed ? hash_of(bytes, size) : std::array<uint8_t, kHash>{};
  const auto* signed_bytes = hashed ? hash.data() : static_cast<const uint8_t*>(bytes);
  const size_t signed_size = hashed ? hash.size() : size;
  if (crypto_sign_verify_detached(made, signed_bytes, signed_size, key.key.data()) != 0) {
    invalid(file, fmt::format("is not what {} was made for: the file or the signature has changed; do not use it",
                              signature_file));
  }
  const std::string_view comment = lines[2].substr(kTrusted.size());
  const Bytes both = with_comment(made, comment);
  if (crypto_sign_verify_detached(second->data(), both.data(), both.size(), key.key.data()) != 0) {
    invalid(signature_file, "its trusted comment has changed; do not use the file");
  }
  return std::string(comment);
}

}  // namespace bantam::convert

#else

namespace bantam::convert {
namespace {

[[noreturn]] void missing() {
  throw Error(
      ExitCode::kUnsupported,
      "this bantam was built without libsodium, which signs and checks; install libsodium-dev and build it again");
}

}  // namespace

SecretKey::~SecretKey() = default;
std::string shown(const KeyId&) { missing(); }
KeyFiles make_keys(const std::string&) { missing(); }
SecretKey read_secret_key(const std::string&, const std::string&, const std::string&) { missing(); }
PublicKey read_public_key(const std::string&, const std::string&) { missing(); }
std::string sign(const void*, size_t, const SecretKey&, const std::string&) { missing(); }
std::string check_signature(const void*, size_t, const std::string&, const std::string&, const std::string&,
                            const PublicKey&) {
  missing();
}

}  // namespace bantam::convert

#endif  // BANTAM_HAS_SODIUM
