// Windows has paths in UTF-16 and masks of processors of its own.
#include <gtest/gtest.h>
#include <windows.h>

#include "bantam/host.h"
#include "tests/host/folder.h"

namespace bantam::host {
namespace {

TEST_F(MappedFileTest, PathsAreUtf8) {
  write("plain", "hello");
  const std::wstring name = L"Z\u00fcrich \u6771\u4eac";
  ASSERT_TRUE(MoveFileW((folder_ / L"plain").c_str(), (folder_ / name).c_str()));
  const std::string path = folder_.string() + "/Z\xc3\xbcrich \xe6\x9d\xb1\xe4\xba\xac";
  MappedFile file;
  const char* reason = "";
  ASSERT_EQ(file.open(path.c_str(), &reason), Status::kOk) << reason;
  EXPECT_EQ(file.size(), 5u);
  ASSERT_EQ(file.read(path.c_str(), &reason), Status::kOk) << reason;
  EXPECT_EQ(file.size(), 5u);
}

TEST(Processors, AreThoseOfTheAffinityMask) {
  DWORD_PTR before = 0, all = 0;
  ASSERT_TRUE(GetProcessAffinityMask(GetCurrentProcess(), &before, &all));
  EXPECT_EQ(processors(), static_cast<uint32_t>(__builtin_popcountll(before)));
  ASSERT_TRUE(SetProcessAffinityMask(GetCurrentProcess(), before & (~before + 1)));
  EXPECT_EQ(processors(), 1u);
  EXPECT_TRUE(SetProcessAffinityMask(GetCurrentProcess(), before));
}

}  // namespace
}  // namespace bantam::host
