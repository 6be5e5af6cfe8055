// Output files appear as a whole or not at all.
#include "base/output_file.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <fstream>
#include <iterator>

#include "converter/import_fixture.h"

namespace bantam::convert {
namespace {

namespace fs = std::filesystem;
using fixture::problems_of;

std::string content_of(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(in), {});
}

size_t files_in(const fs::path& directory) {
  return static_cast<size_t>(std::distance(fs::directory_iterator(directory), fs::directory_iterator()));
}

TEST(OutputFile, AppearsOnCommitOnly) {
  const fixture::Directory directory;
  const fs::path path = directory.path() / "out.bantam";
  {
    OutputFile file(path);
    EXPECT_TRUE(fs::exists(file.temporary()));
    EXPECT_FALSE(fs::exists(path));
    file.commit("abc", 3);
  }
  EXPECT_EQ(content_of(path), "abc");
  EXPECT_EQ(files_in(directory.path()), 1u);
}

TEST(OutputFile, WithoutCommitTheOldFileStays) {
  const fixture::Directory directory;
  directory.write("out.bantam", "old");
  { const OutputFile file(directory.path() / "out.bantam"); }
  EXPECT_EQ(content_of(directory.path() / "out.bantam"), "old");
  EXPECT_EQ(files_in(directory.path()), 1u);
}

TEST(OutputFile, ReplacesWhatASymbolicLinkPointsTo) {
  const fixture::Directory directory;
  directory.write("real", "old");
  fs::create_symlink("real", directory.path() / "link");
  OutputFile(directory.path() / "link").commit("new", 3);
  EXPECT_TRUE(fs::is_symlink(directory.path() / "link"));
  EXPECT_EQ(content_of(directory.path() / "real"), "new");
}

TEST(OutputFile, MakesWhatADanglingSymbolicLinkPointsTo) {
  const fixture::Directory directory;
  fs::create_directory(directory.path() / "there");
  fs::create_symlink("there/real", directory.path() / "link");
  OutputFile(directory.path() / "link").commit("new", 3);
  EXPECT_TRUE(fs::is_symlink(directory.path() / "link"));
  EXPECT_EQ(content_of(directory.path() / "there" / "real"), "new");
}

TEST(OutputFile, OfItsOwnNameReplacesALink) {
  const fixture::Directory directory;
  directory.write("victim", "old");
  fs::create_symlink("victim", directory.path() / "own");
  OutputFile(directory.path() / "own", OutputFile::Kind::kOwn).commit("new", 3);
  EXPECT_FALSE(fs::is_symlink(directory.path() / "own"));
  EXPECT_EQ(content_of(directory.path() / "own"), "new");
  EXPECT_EQ(content_of(directory.path() / "victim"), "old");
}

TEST(OutputFile, LeftOversOfKilledProcessesAreRemoved) {
  const fixture::Directory directory;
  const auto leave = [&](const char* name) {
    directory.write(name, "half");
    fs::last_write_time(directory.path() / name, fs::file_time_type::clock::now() - std::chrono::hours(1));
  };
  leave(".out.bantam.123.part");
  leave(".out.bantam.backup.part");  // a file of somebody else
  leave(".other.bantam.123.part");
  const OutputFile running(directory.path() / "out.bantam");
  fs::last_write_time(running.temporary(), fs::file_time_type::clock::now() - std::chrono::hours(1));
  fs::rename(running.temporary(), directory.path() / ".out.bantam.7.part");  // as another process would name it
  const OutputFile file(directory.path() / "out.bantam");
  EXPECT_FALSE(fs::exists(directory.path() / ".out.bantam.123.part"));
  EXPECT_TRUE(fs::exists(directory.path() / ".out.bantam.7.part"));
  EXPECT_TRUE(fs::exists(directory.path() / ".out.bantam.backup.part"));
  EXPECT_TRUE(fs::exists(directory.path() / ".other.bantam.123.part"));
}

TEST(OutputFile, AnotherWriterMayHaveTheSameProcessId) {
  const fixture::Directory directory;
  const std::string name = ".out." + std::to_string(getpid()) + ".part";
  directory.write(name, "being written");
  OutputFile(directory.path() / "out").commit("new", 3);
  EXPECT_EQ(content_of(directory.path() / name), "being written");
  EXPECT_EQ(content_of(directory.path() / "out"), "new");
  EXPECT_EQ(files_in(directory.path()), 2u);
}

TEST(OutputFolder, AppearsWholeOrNotAtAll) {
  const fixture::Directory directory;
  const fs::path path = directory.path() / "in" / "folder";
  {
    const OutputFolder left(path);
    std::ofstream(left.path() / "file") << "x";
  }
  EXPECT_EQ(files_in(path.parent_path()), 0u);
  OutputFolder folder(path / "");  // with the slash that people type
  std::ofstream(folder.path() / "file") << "x";
  EXPECT_FALSE(fs::exists(path));
  folder.commit();
  EXPECT_EQ(content_of(path / "file"), "x");
  EXPECT_EQ(files_in(path.parent_path()), 1u);
}

TEST(OutputFolder, LeftOversOfKilledProcessesAreRemoved) {
  const fixture::Directory directory;
  const auto age = [](const fs::path& path) {
    fs::last_write_time(path, fs::file_time_type::clock::now() - std::chrono::hours(1));
  };
  const fs::path left = directory.path() / ".folder.123.part";
  fs::create_directories(left / "in");
  age(left);
  const OutputFolder running(directory.path() / "folder");
  age(running.path());
  const OutputFolder folder(directory.path() / "folder");
  EXPECT_FALSE(fs::exists(left));
  EXPECT_TRUE(fs::exists(running.path()));
}

TEST(OutputFolder, ErrorsAreIoErrors) {
  const fixture::Directory directory;
  directory.write("file", "x");
  problems_of(ExitCode::kIo, [&] { OutputFolder(directory.path() / "file" / "folder"); });
  fs::create_directories(directory.path() / "full" / "in");
  OutputFolder folder(directory.path() / "full");
  EXPECT_NE(problems_of(ExitCode::kIo, [&] { folder.commit(); }).find("full"), std::string::npos);
}

TEST(OutputFile, AProcessThatEndsTakesItsTemporaryFilesAlong) {
  const fixture::Directory directory;
  const OutputFile one(directory.path() / "one");
  { const OutputFile gone(directory.path() / "gone"); }
  const OutputFile two(directory.path() / "two");
  EXPECT_EQ(files_in(directory.path()), 2u);
  unlink_temporaries();
  EXPECT_EQ(files_in(directory.path()), 0u);
}

TEST(OutputFile, PlacesThatCannotBeWrittenAreIoErrors) {
  const fixture::Directory directory;
  directory.write("file", "x");
  EXPECT_NE(problems_of(ExitCode::kIo, [&] { OutputFile(directory.path() / "missing" / "o"); }).find("missing"),
            std::string::npos);
  problems_of(ExitCode::kIo, [&] { OutputFile(directory.path() / "file" / "o"); });
  problems_of(ExitCode::kIo, [&] { OutputFile(directory.path()); });
  problems_of(ExitCode::kUsage, [&] { OutputFile(""); });
  EXPECT_EQ(files_in(directory.path()), 1u);
}

TEST(OutputFile, ReadOnlyDirectory) {
  if (geteuid() == 0) GTEST_SKIP() << "root may write everywhere";
  const fixture::Directory directory;
  fs::permissions(directory.path(), fs::perms::owner_read | fs::perms::owner_exec);
  problems_of(ExitCode::kIo, [&] { OutputFile(directory.path() / "o"); });
  fs::permissions(directory.path(), fs::perms::owner_all);
}

TEST(OutputFile, AFullDeviceIsOutOfSpace) {
  if (!fs::exists("/dev/full")) GTEST_SKIP() << "no /dev/full here";
  const std::string said = problems_of(ExitCode::kOutOfSpace, [] { OutputFile("/dev/full").commit("abc", 3); });
  EXPECT_NE(said.find("/dev/full"), std::string::npos);
}

TEST(OutputFile, AFullDiskLeavesNothingBehind) {
  // A limit on file sizes fails in the middle of a write, like a full disk.
  const fixture::Directory directory;
  rlimit before;
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  const auto old_handler = std::signal(SIGXFSZ, SIG_IGN);
  rlimit small = before;
  small.rlim_cur = 4096;
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
  const std::string bytes(100000, 'x');
  const std::string said = problems_of(ExitCode::kOutOfSpace,
                                       [&] { OutputFile(directory.path() / "o").commit(bytes.data(), bytes.size()); });
  setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, old_handler);
  EXPECT_NE(said.find("space"), std::string::npos);
  EXPECT_EQ(files_in(directory.path()), 0u);
}

TEST(OutputFile, InputsAreRefused) {
  const fixture::Directory directory;
  directory.write("config.json", "{}");
  directory.write("texts.txt", "a");
  directory.write("earlier.bantam", "a");
  const fs::path here = directory.path();
  problems_of(ExitCode::kUsage, [&] { refuse_input_as_output(here / "config.json", {here}); });
  problems_of(ExitCode::kUsage, [&] { refuse_input_as_output(here / "." / "texts.txt", {here / "texts.txt"}); });
  fs::create_symlink("config.json", here / "alias");
  problems_of(ExitCode::kUsage, [&] { refuse_input_as_output(here / "alias", {here}); });
  EXPECT_NO_THROW(refuse_input_as_output(here / "new.bantam", {here, here / "texts.txt", ""}));
  EXPECT_NO_THROW(refuse_input_as_output(here / "earlier.bantam", {here}));
}

}  // namespace
}  // namespace bantam::convert
