// GoogleTest's main() for programs with the tests of several sources: --file=NAME.cpp runs those of one source.
#include <gtest/gtest.h>

#include <cstdio>
#include <string>
#include <string_view>

namespace {

std::string_view file_name(std::string_view path) { return path.substr(path.find_last_of('/') + 1); }

/// Returns a --gtest_filter for all tests in `file`; empty if there are none.
std::string filter_of(std::string_view file) {
  std::string filter;
  const testing::UnitTest& all = *testing::UnitTest::GetInstance();
  for (int i = 0; i < all.total_test_suite_count(); ++i) {
    const testing::TestSuite& suite = *all.GetTestSuite(i);
    for (int j = 0; j < suite.total_test_count(); ++j) {
      const testing::TestInfo& test = *suite.GetTestInfo(j);
      if (file_name(test.file()) != file) continue;
      filter.append(filter.empty() ? "" : ":").append(suite.name()).append(".").append(test.name());
    }
  }
  return filter;
}

}  // namespace

int main(int argc, char** argv) {
  constexpr std::string_view kFile = "--file=";
  testing::InitGoogleTest(&argc, argv);
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    if (argument.substr(0, kFile.size()) != kFile) {
      std::fprintf(stderr, "%s: unknown option %s; --file=NAME.cpp, or GoogleTest's (--help)\n", argv[0], argv[i]);
      return 2;
    }
    const std::string filter = filter_of(argument.substr(kFile.size()));
    if (filter.empty()) {
      std::fprintf(stderr, "%s: no test is defined in %s\n", argv[0], argv[i] + kFile.size());
      return 2;
    }
    testing::GTEST_FLAG(filter) = filter;
  }
  return RUN_ALL_TESTS();
}
