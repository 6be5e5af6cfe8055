// A file is read as a whole, or an error gives the reason.
#include "base/regular_file.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "base/sha256.h"
#include "converter/import_fixture.h"
#include "data/text_source.h"

namespace bantam::convert {
namespace {

namespace fs = std::filesystem;
using fixture::problems_of;

TEST(RegularFile, ReadsFromAnyPlace) {
  const fixture::Directory directory;
  directory.write("file", "abcdef");
  RegularFile file(directory.path() / "file");
  std::string bytes(3, ' ');
  file.read_all(2, bytes.data(), 3);
  EXPECT_EQ(bytes, "cde");
  file.read_all(0, bytes.data(), 3);
  EXPECT_EQ(bytes, "abc");
  EXPECT_EQ(file.read(bytes.data(), 3), 3u);
  EXPECT_EQ(file.read(bytes.data(), 3), 0u);
}

TEST(RegularFile, OneThatIsCutShortIsAnError) {
  const fixture::Directory directory;
  const fs::path path = directory.path() / "file";
  directory.write("file", std::string(1000, 'x'));
  RegularFile file(path);
  fs::resize_file(path, 999);
  std::string bytes(1000, ' ');
  EXPECT_EQ(problems_of(ExitCode::kIo, [&] { file.read_all(0, bytes.data(), 1000); }),
            path.string() + ": ended while it was read");
}

TEST(LineReader, ATextThatIsCutShortIsAnError) {
  const fixture::Directory directory;
  const fs::path path = directory.path() / "texts";
  directory.write("texts", std::string(1 << 20, '\n'));
  LineReader lines(path.string());
  std::string line;
  EXPECT_TRUE(lines.next(&line));
  fs::resize_file(path, 1000);
  EXPECT_NE(problems_of(ExitCode::kIo,
                        [&] {
                          while (lines.next(&line)) continue;
                        })
                .find("ended while it was read"),
            std::string::npos);
}

TEST(LineReader, OneThatGrowsIsReadToItsEnd) {
  const fixture::Directory directory;
  directory.write("texts", "one\n");
  LineReader lines((directory.path() / "texts").string());
  directory.write("texts", "one\ntwo\n");
  std::string line;
  EXPECT_TRUE(lines.next(&line));
  EXPECT_TRUE(lines.next(&line));
  EXPECT_EQ(line, "two");
  EXPECT_FALSE(lines.next(&line));
}

TEST(Sha256, OfAFileIsThatOfItsBytes) {
  const fixture::Directory directory;
  const std::string bytes(300000, 'a');  // several reads
  directory.write("file", bytes);
  Sha256 sha;
  sha.update(bytes.data(), bytes.size());
  EXPECT_EQ(sha256_of_file(directory.path() / "file"), sha.finish());
  problems_of(ExitCode::kIo, [&] { sha256_of_file(directory.path() / "none"); });
  problems_of(ExitCode::kIo, [&] { sha256_of_file(directory.path()); });  // there is no digest of a folder
}

}  // namespace
}  // namespace bantam::convert
