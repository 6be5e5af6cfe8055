#include "source/safetensors.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <random>

#include "base/float_bits.h"
#include "converter/import_fixture.h"
#include "source/checkpoint.h"

namespace bantam::convert::fixture {
namespace {

/// Returns the message that opening these bytes fails with.
std::string refusal(const std::string& bytes, ExitCode code = ExitCode::kInvalid) {
  const Directory directory;
  directory.write("model.safetensors", bytes);
  return problems_of(code, [&] { const Safetensors file(directory.path() / "model.safetensors"); });
}

std::string one_tensor(const std::string& entry, size_t data_bytes = 8) {
  return with_header("{\"w\":" + entry + "}", std::string(data_bytes, '\0'));
}

TEST(Half, EveryHalfEqualsTheFormula) {
  for (uint32_t bits = 0; bits < 0x10000; ++bits) {
    const int exponent = static_cast<int>(bits >> 10 & 31), fraction = static_cast<int>(bits & 1023);
    const float value = float_from_f16(static_cast<uint16_t>(bits));
    EXPECT_EQ(std::signbit(value), (bits & 0x8000) != 0) << bits;
    if (exponent == 31) {
      EXPECT_EQ(std::isnan(value), fraction != 0) << bits;
      EXPECT_EQ(std::isinf(value), fraction == 0) << bits;
    } else {
      const double expected = exponent == 0 ? std::ldexp(fraction, -24) : std::ldexp(fraction + 1024, exponent - 25);
      EXPECT_EQ(static_cast<double>(std::abs(value)), expected) << bits;
    }
  }
}

TEST(Safetensors, ReadsEveryFloatType) {
  TensorMap tensors;
  tensors["single"] = {"F32", {1, 2}, {0, 0, 0x80, 0x3F, 0, 0, 0x20, 0xC0}};  // 1, -2.5
  tensors["half"] = {"F16", {2}, {0x00, 0x3C, 0x00, 0xC1}};
  tensors["brain"] = {"BF16", {2, 1}, {0x80, 0x3F, 0x20, 0xC0}};
  tensors["empty"] = {"F32", {0, 7}, {}};
  const Directory directory;
  directory.write("model.safetensors", safetensors_bytes(tensors));
  const Safetensors file(directory.path() / "model.safetensors");
  const std::vector<float> expected = {1.0F, -2.5F};
  for (const char* name : {"single", "half", "brain"}) EXPECT_EQ(file.read(name), expected) << name;
  EXPECT_TRUE(file.read("empty").empty());
  EXPECT_EQ(file.tensors().at("brain").shape, (std::vector<uint64_t>{2, 1}));
}

TEST(Safetensors, RefusesOtherTypesByName) {
  const Directory directory;
  directory.write("model.safetensors", safetensors_bytes({{"ids", {"I64", {1}, std::vector<uint8_t>(8)}}}));
  const Safetensors file(directory.path() / "model.safetensors");
  const std::string text = problems_of(ExitCode::kUnsupported, [&] { file.read("ids"); });
  EXPECT_NE(text.find("\"ids\""), std::string::npos) << text;
  EXPECT_NE(text.find("I64"), std::string::npos) << text;
}

TEST(Safetensors, NamesTheTensorThatIsNotFinite) {
  for (const float bad : {std::numeric_limits<float>::quiet_NaN(), -std::numeric_limits<float>::infinity()}) {
    TensorData data = tensor({3, 2});
    std::memcpy(data.bytes.data() + 12, &bad, sizeof bad);
    const Directory directory;
    directory.write("model.safetensors", safetensors_bytes({{"good", tensor({2})}, {"spoiled", data}}));
    const Safetensors file(directory.path() / "model.safetensors");
    EXPECT_EQ(file.read("good").size(), 2U);
    const std::string text = problems_of(ExitCode::kInvalid, [&] { file.read("spoiled"); });
    EXPECT_NE(text.find("\"spoiled\": element 3 is"), std::string::npos) << text;
  }
}

TEST(Safetensors, RefusesFilesThatAreNone) {
  const Directory directory;
  std::filesystem::create_directory(directory.path() / "folder");
  problems_of(ExitCode::kIo, [&] { const Safetensors file(directory.path() / "folder"); });
  problems_of(ExitCode::kIo, [&] { const Safetensors file(directory.path() / "nowhere"); });
  EXPECT_NE(refusal("").find("empty"), std::string::npos);
  EXPECT_NE(refusal("1234567").find("too short"), std::string::npos);
  // The first bytes of a pickle would be a header length of terabytes.
  EXPECT_NE(refusal("PK\x03\x04 and so on, and so on").find("header claims"), std::string::npos);
  EXPECT_NE(refusal(std::string(8, '\xFF') + "{}").find("header claims"), std::string::npos);
  EXPECT_NE(refusal(std::string("\x05\0\0\0\0\0\0\0{}", 10)).find("truncated"), std::string::npos);
}

TEST(Safetensors, RefusesMalformedHeaders) {
  for (const char* header : {"", "{", "[]", "12", "{\"w\"}", "{\"w\":1}", "\xFF\xFE", "{\"w\":{},}"}) {
    refusal(with_header(header, ""));
  }
  EXPECT_NE(refusal(with_header("{\"a\":" + std::string(200, '[') + std::string(200, ']') + "}", "")).find("nested"),
            std::string::npos);
  const std::string entry = R"({"dtype":"F32","shape":[1],"data_offsets":[0,4]})";
  EXPECT_NE(refusal(with_header("{\"w\":" + entry + ",\"w\":" + entry + "}", "1234")).find("twice"), std::string::npos);
}

TEST(Safetensors, RefusesEntriesThatLie) {
  const char* entries[] = {
      R"({"shape":[2],"data_offsets":[0,8]})",
      R"({"dtype":7,"shape":[2],"data_offsets":[0,8]})",
      R"({"dtype":"F32","shape":2,"data_offsets":[0,8]})",
      R"({"dtype":"F32","shape":[-2],"data_offsets":[0,8]})",
      R"({"dtype":"F32","shape":[1.5],"data_offsets":[0,8]})",
      R"({"dtype":"F32","shape":[2],"data_offsets":[0]})",
      R"({"dtype":"F32","shape":[2],"data_offsets":[-8,0]})",
      R"({"dtype":"F32","shape":[2],"data_offsets":[8,0]})",
      R"({"dtype":"F32","shape":[2],"data_offsets":[0,16]})",
      R"({"dtype":"F32","shape":[2],"data_offsets":[8,16]})",
      R"({"dtype":"F32","shape":[3],"data_offsets":[0,8]})",
      R"({"dtype":"F16","shape":[2],"data_offsets":[0,8]})",
      R"({"dtype":"F32","shape":[4294967296,4294967296],"data_offsets":[0,8]})",
      R"({"dtype":"F32","shape":[4611686018427387906],"data_offsets":[0,8]})",
      R"({"dtype":"F32","shape":[2],"data_offsets":[18446744073709551608,18446744073709551615]})",
      R"({"dtype":"F32","shape":[2],"data_offsets":[0,99999999999999999999999]})",
  };
  for (const char* entry : entries) {
    const std::string text = refusal(one_tensor(entry));
    EXPECT_NE(text.find("\"w\""), std::string::npos) << entry << "\n" << text;
  }
}

TEST(Safetensors, RefusesOverlapsHolesAndLeftovers) {
  const auto two = [](const char* a, const char* b, size_t bytes) {
    return refusal(with_header(std::string(R"({"a":{"dtype":"F32","shape":[2],"data_offsets":)") + a +
                                   R"(},"b":{"dtype":"F32","shape":[2],"data_offsets":)" + b + "}}",
                               std::string(bytes, '\0')));
  };
  EXPECT_NE(two("[0,8]", "[4,12]", 12).find("\"b\": its data overlaps"), std::string::npos);
  EXPECT_NE(two("[0,8]", "[0,8]", 8).find("overlaps"), std::string::npos);
  EXPECT_NE(two("[0,8]", "[12,20]", 20).find("\"b\": unused bytes"), std::string::npos);
  EXPECT_NE(two("[8,16]", "[0,8]", 20).find("4 bytes after the last"), std::string::npos);
}

TEST(Safetensors, EveryTruncationIsRefused) {
  const std::string whole = safetensors_bytes({{"a", tensor({2, 3})}, {"b", tensor({4})}});
  for (size_t size = 0; size < whole.size(); ++size) refusal(whole.substr(0, size));
}

TEST(Safetensors, DamageIsRefusedOrHarmless) {
  const std::string whole = safetensors_bytes({{"a", tensor({2, 3})}, {"b", tensor({4})}});
  std::mt19937 random(7);
  const Directory directory;
  for (int i = 0; i < 400; ++i) {
    std::string damaged = whole;
    for (int j = 0; j < 3; ++j) damaged[random() % damaged.size()] = static_cast<char>(random());
    directory.write("model.safetensors", damaged);
    try {
      const Safetensors file(directory.path() / "model.safetensors");
      for (const auto& [name, stored] : file.tensors()) EXPECT_EQ(file.read(name).size(), stored.elements);
    } catch (const Error& error) {
      EXPECT_FALSE(error.problems().empty());
    }
  }
}

class Shards : public ::testing::Test {
 protected:
  void write_index(const nlohmann::json& map) const {
    directory_.write("model.safetensors.index.json", nlohmann::json{{"weight_map", map}}.dump());
  }
  std::string refused(ExitCode code) const {
    return problems_of(code, [&] { const Checkpoint checkpoint{convert::Directory(directory_.path())}; });
  }
  Directory directory_;
};

TEST_F(Shards, AreReadAsOne) {
  directory_.write("one.safetensors", safetensors_bytes({{"a", tensor({2})}}));
  directory_.write("two.safetensors", safetensors_bytes({{"b", tensor({3, 2})}}));
  write_index({{"a", "one.safetensors"}, {"b", "two.safetensors"}});
  const Checkpoint checkpoint{convert::Directory(directory_.path())};
  EXPECT_EQ(checkpoint.tensors().size(), 2U);
  EXPECT_EQ(checkpoint.read("b").size(), 6U);
}

TEST_F(Shards, MissingOnesAreAllNamed) {
  write_index({{"a", "one.safetensors"}, {"b", "two.safetensors"}});
  const std::string text = refused(ExitCode::kIo);
  EXPECT_NE(text.find("one.safetensors"), std::string::npos) << text;
  EXPECT_NE(text.find("two.safetensors"), std::string::npos) << text;
}

TEST_F(Shards, MustHoldWhatTheIndexSays) {
  directory_.write("one.safetensors", safetensors_bytes({{"a", tensor({2})}}));
  write_index({{"a", "one.safetensors"}, {"b", "one.safetensors"}});
  EXPECT_NE(refused(ExitCode::kInvalid).find("\"b\""), std::string::npos);
}

TEST_F(Shards, MayNotHoldATensorTwice) {
  directory_.write("one.safetensors", safetensors_bytes({{"a", tensor({2})}}));
  directory_.write("two.safetensors", safetensors_bytes({{"a", tensor({2})}, {"b", tensor({2})}}));
  write_index({{"a", "one.safetensors"}, {"b", "two.safetensors"}});
  EXPECT_NE(refused(ExitCode::kInvalid).find("in two files"), std::string::npos);
}

TEST_F(Shards, LieBesideTheIndex) {
  for (const char* name : {"../one.safetensors", "/etc/passwd", "..", "", "folder/one.safetensors"}) {
    write_index({{"a", name}});
    EXPECT_NE(refused(ExitCode::kInvalid).find("not the name of a file"), std::string::npos) << name;
  }
  write_index({{"a", 3}});
  refused(ExitCode::kInvalid);
  write_index(nlohmann::json::object());
  refused(ExitCode::kInvalid);
  directory_.write("model.safetensors.index.json", "[]");
  refused(ExitCode::kInvalid);
}

TEST(Checkpoint, SaysHowToSaveAPickleAgain) {
  const Directory directory;
  directory.write("pytorch_model.bin", "\x80\x02\x8a\x0al\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19.");  // before torch 1.6
  const std::string text =
      problems_of(ExitCode::kUnsupported, [&] { const Checkpoint checkpoint{convert::Directory(directory.path())}; });
  EXPECT_NE(text.find("torch.save(torch.load('pytorch_model.bin'"), std::string::npos) << text;
}

}  // namespace
}  // namespace bantam::convert::fixture
