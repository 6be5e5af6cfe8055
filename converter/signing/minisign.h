// Ed25519 signatures of files in minisign's formats: https://jedisct1.github.io/minisign/#signature-format.
#ifndef BANTAM_CONVERTER_SIGNING_MINISIGN_H_
#define BANTAM_CONVERTER_SIGNING_MINISIGN_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

namespace bantam::convert {

/// Identifies the key pair of a signature: eight random bytes.
using KeyId = std::array<uint8_t, 8>;

struct PublicKey {
  KeyId id = {};
  std::array<uint8_t, 32> key = {};
};

/// Its bytes are erased when it is destroyed.
struct SecretKey {
  SecretKey() = default;
  ~SecretKey();
  SecretKey(const SecretKey&) = default;
  SecretKey& operator=(const SecretKey&) = default;

  KeyId id = {};
  std::array<uint8_t, 64> key = {};
};

/// The contents of the two files of a new key pair.
struct KeyFiles {
  std::string secret, open;
};

/// Formats an id as minisign does: 16 hexadecimal digits.
std::string shown(const KeyId& id);

/// Makes a new key pair. A password encrypts the secret key (scrypt: about a second and 1 GB of memory, like minisign);
/// an empty password does not. Throws Error (kOutOfSpace) if scrypt has too little memory.
KeyFiles make_keys(const std::string& password);

/// Parse a key from `text`, the content of `file`. Both throw Error with the file's name: kInvalid if it is not such a
/// key or the password is wrong, kUsage if a password is missing.
SecretKey read_secret_key(const std::string& text, const std::string& file, const std::string& password);
PublicKey read_public_key(const std::string& text, const std::string& file);

/// Returns the signature file of bytes[0, size), which signs their BLAKE2b-512 hash. `comment`, a single line, is
/// signed too.
std::string sign(const void* bytes, size_t size, const SecretKey& key, const std::string& comment);

/// Returns the signed comment. Throws Error (kInvalid) that names `file` and `signature_file` if the text is not a
/// signature, was made with another key, or does not match these bytes.
std::string check_signature(const void* bytes, size_t size, const std::string& file, const std::string& signature,
                            const std::string& signature_file, const PublicKey& key);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_SIGNING_MINISIGN_H_
