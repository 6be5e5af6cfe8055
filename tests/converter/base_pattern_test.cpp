// Patterns compared with std::regex where it can be trusted, and patterns that crash std::regex.
#include "base/pattern.h"

#include <gtest/gtest.h>

#include <random>
#include <regex>
#include <string>

namespace bantam::convert {
namespace {

bool search(const std::string& pattern, const std::string& name) { return Pattern(pattern).search(name); }

TEST(Pattern, MatchesAsStdRegexDoes) {
  const std::string patterns[] = {"",           "a",     "^a",      "a$",       "^a$",     "ab|ba",      "^(ab|b)+$",
                                  "a.b",        "[ab]c", "[^a]",    "^[a-c]*$", "a{2}",    "a{1,2}b",    "^a{2,}$",
                                  "(?:a|b)*c",  "\\.",   "\\d",     "\\bab\\b", "a\\B",    "^$",         "(a*)*b",
                                  "(a|b|c)?cc", "a+?b",  "(^a|b$)", "[a.\\d-]", "\\w+\\s", "((a)|b){2}", "^(a{0,2}b)*$",
                                  "|a",         "()",    "x*",      "[^\\w]"};
  std::mt19937 random(3);
  const std::string letters = "abc.1 ";
  for (const std::string& pattern : patterns) {
    const std::regex expected(pattern, std::regex::ECMAScript);
    const Pattern compiled(pattern);
    for (int i = 0; i < 300; ++i) {
      std::string name(random() % 7, ' ');
      for (char& c : name) c = letters[random() % letters.size()];
      EXPECT_EQ(compiled.search(name), std::regex_search(name, expected)) << pattern << " in '" << name << "'";
    }
  }
}

TEST(Pattern, NamesOfLayers) {
  EXPECT_TRUE(search("classifier|pooler", "bert.pooler.dense.weight"));
  EXPECT_TRUE(search("layer\\.[0-3]\\.", "encoder.layer.2.output"));
  EXPECT_FALSE(search("layer\\.[0-3]\\.", "encoder.layer.12.output"));
}

// With each of these, std::regex overflows the stack or never ends.
TEST(Pattern, NeitherNamesNorPatternsExhaustAnything) {
  EXPECT_TRUE(search(".*query.*", std::string(200000, 'x') + "query"));
  const std::string name(2000, 'a');
  for (const char* pattern : {"(.*)*(.*)*(.*)*X", "((((.*)*)*)*)*X", "(.{0,50}){0,50}X", "(a?){300}a{300}X"}) {
    EXPECT_FALSE(search(pattern, name)) << pattern;
  }
}

TEST(Pattern, WhatIsNoPatternSaysWhy) {
  const auto problem = [](const std::string& pattern) -> std::string {
    try {
      const Pattern compiled(pattern);
    } catch (const PatternError& error) {
      return error.what();
    }
    return "";
  };
  for (const char* pattern : {"(", ")", "(a", "[a", "*", "a**", "a{", "a{2", "a{3,2}", "{2}", "\\", "(?=a)", "\\1",
                              "[b-a]", "[[:alpha:]]", "\\q", "(a{1000}){1000}", "a{99999999999999999999}"}) {
    EXPECT_NE(problem(pattern), "") << pattern;
  }
  EXPECT_NE(problem(std::string(1001, 'a')), "");
  EXPECT_NE(problem(std::string(400, '(') + std::string(400, ')')), "");
  EXPECT_EQ(problem(std::string(1000, 'a')), "");
}

}  // namespace
}  // namespace bantam::convert
