// Ed25519 signatures of files in minisign's formats: https://jedisct1.github.io/minisign/#signature-format.
#ifndef BANTAM_CONVERTER_SIGNING_MINISIGN_H_
#define BANTAM_CONVERTER_SIGNING_MINISIGN_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

namespace bantam::convert {

/// Which pair of keys a signature belongs to: eight random bytes.
using KeyId = std::array<uint8_t, 8>;

struct PublicKey {
  KeyId id = {};
  std::array<uint8_t, 32> key = {};
};

/// Its bytes are cleared at its end.
struct SecretKey {
  SecretKey() = default;
  ~SecretKey();
  SecretKey(const SecretKey&) = default;
  SecretKey& operator=(const SecretKey&) = default;

  KeyId id = {};
  std::array<uint8_t, 64> key = {};
};

/// The texts of a new pair's two files.
struct KeyFiles {
  std::string secret, open;
};

/// As minisign shows it: 16 hexadecimal digits.
std::string shown(const KeyId& id);

/// A new pair. A password encrypts the secret key (scrypt: about a second and 1 GB of memory, as minisign's); empty: none does.
/// Throws Error (kOutOfSpace) where scrypt has too little memory.
KeyFiles make_keys(const std::string& password);

/// `text` is what `file` holds. All throw Error with the file's name: kInvalid where it is no such key, or where the password is wrong,
/// kUsage where one is missing.
SecretKey read_secret_key(const std::string& text, const std::string& file, const std::string& password);
PublicKey read_public_key(const std::string& text, const std::string& file);

/// The text of a signature of bytes[0, size): of their BLAKE2b-512 hash. `comment` is signed too: one line.
std::string sign(const void* bytes, size_t size, const SecretKey& key, const std::string& comment);

/// Returns the signed comment. Throws Error (kInvalid) that names `file` and `signature_file` where the text is no signature, is by
/// another key, or does not belong to these bytes.
std::string check_signature(const void* bytes, size_t size, const std::string& file, const std::string& signature,
                            const std::string& signature_file, const PublicKey& key);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_SIGNING_MINISIGN_H_
