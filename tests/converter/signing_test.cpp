// Keys and signatures made by minisign 0.11, and invalid ones, which are refused.
#include "signing/minisign.h"

#include <gtest/gtest.h>

#include "base/error.h"

namespace bantam::convert {
namespace {

// minisign -G -W, and for "hello bantam\n": minisign -S, minisign -S -l. The key signs nothing else.
constexpr const char* kOpen =
    "untrusted comment: minisign public key 78ED9A70BF073CAF\n"
    "RWSvPAe/cJrteDlu4saxa4OvU0lRuIvtYLM/3dpwapBdXdpkas6Ca0Ze\n";
constexpr const char* kSecret =
    "untrusted comment: minisign encrypted secret key\n"
    "RWQAAEIyAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAArzwHv3Ca7XhzB05W/"
    "h3LCf8FswyfnpofmMdY91fZEKkKZt"
    "aJwcKKFDlu4saxa4OvU0lRuIvtYLM/3dpwapBdXdpkas6Ca0ZeAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=\n";
constexpr const char* kHashed =
    "untrusted comment: signature from minisign secret key\n"
    "RUSvPAe/cJrteBnizfTHrh41xog7ck4kjUDrgMkobHSi2VqjXfmqVyPJvTDFrqPAR/gkARniLt3SwqY1P3h0bI0HnBNVutKXygE=\n"
    "trusted comment: file:f.bin\n"
    "D0ueIsjz735gFkF0YS5xQ61PnzuU1DbUlJmtZCLV7jxh/hI/7iowN51yKiYsaRoRYLCA8VmzHRhZ0tcd3aWKCw==\n";
constexpr const char* kWhole =
    "untrusted comment: signature from minisign secret key\n"
    "RWSvPAe/cJrteMtokFoSdgDWEwYaquBv0iy8oSJfxTivaMfIBGg0ekGnXAELiMB7yEyz/ChB9ki923tHJHkxKJT8Zdpq6zayfAc=\n"
    "trusted comment: old form\n"
    "h4Re2m6xNC1hh6Xxk/GCvsYpyjxg7bSsdG3M8GmjtdKzpPg7QnEy4Gop9Zn87HEKjtLZXbgh+c1wFz4RIdPMAA==\n";
const std::string kFile = "hello bantam\n";

std::string check(const std::string& bytes, const std::string& signature, const std::string& open = kOpen) {
  return check_signature(bytes.data(), bytes.size(), "F", signature, "F.minisig", read_public_key(open, "K.pub"));
}

std::string refusal(const std::string& bytes, const std::string& signature, const std::string& open = kOpen) {
  try {
    check(bytes, signature, open);
    return "";
  } catch (const Error& error) {
    return error.problems().front();
  }
}

TEST(Signing, ReadsWhatMinisignWrites) {
  EXPECT_EQ(check(kFile, kHashed), "file:f.bin");
  EXPECT_EQ(check(kFile, kWhole), "old form");
  EXPECT_EQ(check(kFile, kHashed, "RWSvPAe/cJrteDlu4saxa4OvU0lRuIvtYLM/3dpwapBdXdpkas6Ca0Ze"), "file:f.bin");
}

TEST(Signing, SignsAsMinisignDoes) {
  const SecretKey key = read_secret_key(kSecret, "K.key", "");
  EXPECT_EQ(shown(key.id), "78ED9A70BF073CAF");
  const std::string made = sign(kFile.data(), kFile.size(), key, "file:f.bin");
  // Ed25519 gives the same bytes each time; only the first line is the program's own.
  EXPECT_EQ(made.substr(made.find('\n')), std::string(kHashed).substr(std::string(kHashed).find('\n')));
}

TEST(Signing, RefusesWhatHasChanged) {
  EXPECT_NE(refusal("hello bantam", kHashed).find("F: is not what F.minisig was made for"), std::string::npos);
  EXPECT_NE(refusal("", kWhole).find("is not what"), std::string::npos);
  std::string other = kHashed;
  other.replace(other.find("file:f.bin"), 4, "FILE");
  EXPECT_NE(refusal(kFile, other).find("F.minisig: its trusted comment has changed"), std::string::npos);
  const KeyFiles stranger = make_keys("");
  EXPECT_NE(refusal(kFile, kHashed, stranger.open).find("is by the key 78ED9A70BF073CAF, not by"), std::string::npos);
  const std::string whole = kHashed;
  for (size_t size = 0; size + 1 < whole.size(); size += 7)
    EXPECT_NE(refusal(kFile, whole.substr(0, size)), "") << size;
  for (const std::string& text : {whole + "more\n", "x" + whole, std::string(5000, '\n'), std::string(4096, 'A')}) {
    EXPECT_NE(refusal(kFile, text), "");
    EXPECT_THROW(read_public_key(text, "K"), Error);
    EXPECT_THROW(read_secret_key(text, "K", ""), Error);
  }
}

TEST(Signing, NewKeysSignAndCheck) {
  const KeyFiles keys = make_keys("");
  const SecretKey key = read_secret_key(keys.secret, "K.key", "");
  for (const std::string& bytes : {std::string(), kFile, std::string(100000, '\0')}) {
    const std::string signature = sign(bytes.data(), bytes.size(), key, "");
    EXPECT_EQ(check(bytes, signature, keys.open), "");
    EXPECT_NE(refusal(bytes + "x", signature, keys.open), "");
  }
  EXPECT_THROW(sign(kFile.data(), kFile.size(), key, "two\nlines"), Error);
  std::string changed = keys.secret;
  char& letter = changed[changed.find('\n') + 100];
  letter = letter == 'A' ? 'B' : 'A';
  EXPECT_THROW(read_secret_key(changed, "K.key", ""), Error);
}

TEST(Signing, PasswordsHideSecretKeys) {
  const KeyFiles keys = make_keys("a word");
  EXPECT_EQ(read_secret_key(keys.secret, "K.key", "a word").id, read_public_key(keys.open, "K.pub").id);
  for (const char* wrong : {"", "another"}) EXPECT_THROW(read_secret_key(keys.secret, "K.key", wrong), Error);
}

}  // namespace
}  // namespace bantam::convert
