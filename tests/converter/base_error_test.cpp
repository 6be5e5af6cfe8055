// Problems: all reported at once, and similar ones joined.
#include "base/error.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <filesystem>
#include <new>
#include <system_error>

#include "base/guard.h"
#include "base/memory_reserve.h"

namespace bantam::convert {
namespace {

std::vector<std::string> raised(const Problems& problems) {
  try {
    problems.raise();
  } catch (const Error& error) {
    return error.problems();
  }
  return {};
}

SharedProblem tensor(const std::string& name, const std::string& detail = "", const std::string& cause = "; mend it") {
  return {"", "tensor", name, detail, cause};
}

TEST(Problems, NoneAreNoError) { EXPECT_TRUE(raised(Problems()).empty()); }

TEST(Problems, OneOfAKindIsASentence) {
  Problems problems;
  problems.add(ExitCode::kInvalid, {"FILE: ", "tensor", "a", " has shape [1]", "; mend it"});
  EXPECT_EQ(raised(problems), std::vector<std::string>{"FILE: tensor \"a\" has shape [1]; mend it"});
}

TEST(Problems, ThoseOfOneCauseAreShownAsOne) {
  Problems problems;
  problems.add(ExitCode::kUnsupported, tensor("a", " is f64"));
  problems.add(ExitCode::kInvalid, "something else");
  problems.add(ExitCode::kUnsupported, tensor("b", " is i8"));
  problems.add(ExitCode::kUnsupported, tensor("c", "", "; another cause"));
  EXPECT_EQ(problems.size(), 3u);
  EXPECT_EQ(raised(problems), (std::vector<std::string>{"2 tensors: \"a\" is f64 and \"b\" is i8; mend it",
                                                        "something else", "tensor \"c\"; another cause"}));
  problems.add(ExitCode::kUnsupported, tensor("d"));
  EXPECT_EQ(raised(problems)[0], "3 tensors: \"a\" is f64, \"b\" is i8 and \"d\"; mend it");
  for (int i = 0; i < 200; ++i) problems.add(ExitCode::kUnsupported, tensor("more"));
  EXPECT_EQ(raised(problems)[0], "203 tensors: \"a\" is f64, \"b\" is i8, \"d\" and 200 more; mend it");
}

TEST(Guard, OptionsAreMembersToPrograms) {
  const auto said = [](const std::string& problem) {
    return guarded([&] { throw Error(ExitCode::kUsage, problem); }).text();
  };
  EXPECT_EQ(said("--gate-data FILE: no such file (see --max-label-flips); use --weights f16, or --auto takes it"),
            "gate_data FILE: no such file (see max_label_flips); use weights f16, or automatic takes it");
  EXPECT_EQ(said("type: bantam run FILE --ids 1,2 --raw; leave out --strict"),
            "type: bantam run FILE --ids 1,2 --raw; leave out strict");
  EXPECT_EQ(said("a--b: -- is not an option, --9 neither; --"), "a--b: -- is not an option, --9 neither; --");
}

TEST(Guard, WhatTheSystemRefusesIsInputOutputOrSpace) {
  namespace fs = std::filesystem;
  const auto of = [](std::errc cause) {
    return error_of(fs::filesystem_error("what the library calls it", "NAME", std::make_error_code(cause)));
  };
  EXPECT_EQ(of(std::errc::permission_denied).code(), ExitCode::kIo);
  EXPECT_STREQ(of(std::errc::permission_denied).what(), "NAME: Permission denied");
  EXPECT_EQ(of(std::errc::no_space_on_device).code(), ExitCode::kOutOfSpace);
  const auto thread = [] { throw std::system_error(EAGAIN, std::generic_category()); };
  EXPECT_EQ(guarded(thread).code, static_cast<int>(ExitCode::kOutOfSpace));
}

TEST(MemoryReserve, IsGivenBackBeforeMemoryIsRefused) {
  const std::new_handler before = std::get_new_handler();
  keep_memory_reserve();
  const std::new_handler gives = std::get_new_handler();
  ASSERT_NE(gives, nullptr);
  EXPECT_NO_THROW(gives());
  EXPECT_THROW(gives(), std::bad_alloc);  // otherwise operator new would loop forever
  keep_memory_reserve();
  EXPECT_NO_THROW(gives());
  std::set_new_handler(before);
}

}  // namespace
}  // namespace bantam::convert
