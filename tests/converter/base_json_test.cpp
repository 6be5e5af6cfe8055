// Untrusted JSON: what is refused, and that size alone does not cause excessive cost.
#include "base/json_file.h"

#include <gtest/gtest.h>

#include <string>

#include "base/error.h"

namespace bantam::convert {
namespace {

std::string refusal(const std::string& text) {
  try {
    static_cast<void>(parse_json(text, "file"));
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

std::string nested(int depth) {
  const auto times = static_cast<size_t>(depth);
  return std::string(times, '[') + std::string(times, ']');
}

TEST(Json, IsWhatNlohmannParses) {
  const std::string texts[] = {"1",
                               "-7",
                               "2.5",
                               "\"a\\u00e9\\n\"",
                               "null",
                               "true",
                               "[]",
                               "{}",
                               "[1,[2,{\"a\":[]}],3]",
                               "{\"a\":{\"b\":1,\"a\":[{},{\"c\":null}]},\"d\":18446744073709551615}"};
  for (const std::string& text : texts) EXPECT_EQ(parse_json(text, "file"), Json::parse(text)) << text;
}

TEST(Json, RefusalsNameTheFileAndTheReason) {
  EXPECT_NE(refusal("{\"a\":1,\"b\":{\"a\":1},\"a\":2}").find("has the key \"a\" twice"), std::string::npos);
  EXPECT_EQ(refusal(nested(kMaxJsonDepth)), "");
  EXPECT_NE(refusal(nested(kMaxJsonDepth + 1)).find("nested deeper than 64"), std::string::npos);
  EXPECT_NE(refusal(nested(1000000)).find("nested deeper than 64"), std::string::npos);
  for (const char* text : {"", "{", "[1,", "{\"a\"}", "1 2", "nul", "\"\xff\"", "{\"a\":1}}", "1e999"}) {
    EXPECT_NE(refusal(text).find("file: is not valid JSON"), std::string::npos) << text;
  }
}

// Takes minutes if time is quadratic in the number of objects.
TEST(Json, ManyObjects) {
  std::string list = "[{}";
  std::string object = "{\"0\":{}";
  for (int i = 1; i < 300000; ++i) {
    list += ",{}";
    object += ",\"" + std::to_string(i) + "\":{}";
  }
  EXPECT_EQ(parse_json(list + "]", "file").size(), 300000u);
  EXPECT_EQ(parse_json(object + "}", "file").size(), 300000u);
}

}  // namespace
}  // namespace bantam::convert
