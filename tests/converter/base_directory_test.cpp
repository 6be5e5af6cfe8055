// Directory: lists each folder once and reads each file once.
#include "base/directory.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>

#include "base/sha256.h"
#include "converter/import_fixture.h"

namespace bantam::convert::fixture {
namespace {

namespace fs = std::filesystem;
using convert::Directory;
using Names = std::vector<std::string>;

class Listed : public ::testing::Test {
 protected:
  void put(const std::string& name, const std::string& bytes) {
    fs::create_directories((folder_.path() / name).parent_path());
    folder_.write(name, bytes);
  }
  std::string refusal(ExitCode code, const Directory& files, const std::string& name) {
    return problems_of(code, [&] { files.json(name); });
  }

  fixture::Directory folder_;
};

TEST_F(Listed, SeesOneStateOfAFolder) {
  put("a.json", "{\"a\": 1}");
  put("1_Pooling/config.json", "{}");
  const Directory files(folder_.path());
  EXPECT_TRUE(files.has("a.json"));
  put("late.json", "{}");
  EXPECT_FALSE(files.has("late.json")) << "the folder is listed once";
  EXPECT_TRUE(files.has("1_Pooling/config.json"));
  put("1_Pooling/late.json", "{}");
  EXPECT_FALSE(files.has("1_Pooling/late.json"));
  EXPECT_EQ(files.names(), (Names{"1_Pooling", "a.json"}));
  EXPECT_EQ(files.names("1_Pooling"), Names{"config.json"});
  EXPECT_EQ(files.names("2_Dense"), Names{});
  EXPECT_FALSE(files.error());
}

TEST_F(Listed, ReadsAFileOnce) {
  put("a.json", "{\"a\": 1}");
  put("a.txt", "first");
  const Directory files(folder_.path());
  EXPECT_EQ(files.json("a.json")["a"], 1);
  EXPECT_EQ(files.text("a.txt"), "first");
  EXPECT_EQ(files.begin("a.txt"), "first");
  const std::string digest = sha256_of_file(folder_.path() / "a.json");
  put("a.json", "{\"a\": 2}");
  put("a.txt", "second");
  EXPECT_EQ(files.object("./a.json")["a"], 1);
  EXPECT_EQ(files.object_or_empty("a.json")["a"], 1);
  EXPECT_EQ(files.text("a.txt"), "first");
  EXPECT_EQ(files.begin("a.txt"), "first");
  EXPECT_EQ(files.sha256("a.json"), digest) << "of the bytes that were read";
  ASSERT_EQ(files.documents().size(), 1U);
  EXPECT_EQ(files.documents().at("a.json"), &files.json("a.json"));
}

TEST_F(Listed, KeepsWhatWasWrongWithADocument) {
  put("broken.json", "{");
  put("list.json", "[]");
  const Directory files(folder_.path());
  const std::string first = refusal(ExitCode::kInvalid, files, "broken.json");
  EXPECT_NE(first.find("broken.json: is not valid JSON"), std::string::npos) << first;
  put("broken.json", "{}");
  EXPECT_EQ(refusal(ExitCode::kInvalid, files, "broken.json"), first);
  EXPECT_TRUE(files.json("list.json").is_array());
  const std::string list = problems_of(ExitCode::kInvalid, [&] { files.object("list.json"); });
  EXPECT_NE(list.find("is not a JSON object"), std::string::npos) << list;
  EXPECT_EQ(files.documents().size(), 1U);
  EXPECT_EQ(files.documents().count("list.json"), 1U);
}

TEST_F(Listed, GoneOnceListedIsAnError) {
  put("a.json", "{}");
  const Directory files(folder_.path());
  EXPECT_TRUE(files.has_file("a.json"));
  fs::remove(folder_.path() / "a.json");
  EXPECT_TRUE(files.has_file("a.json"));
  EXPECT_NE(refusal(ExitCode::kIo, files, "a.json").find("a.json: no such file"), std::string::npos);
  EXPECT_EQ(files.begin("a.json"), "");
}

TEST_F(Listed, LinksAreWhatTheyLeadTo) {
  put("blobs/0", "{\"a\": 1}");
  fs::create_symlink("blobs/0", folder_.path() / "a.json");
  fs::create_symlink("nowhere", folder_.path() / "dangling.json");
  fs::create_directory_symlink("blobs", folder_.path() / "linked");
  const Directory files(folder_.path());
  EXPECT_TRUE(files.has_file("a.json"));
  EXPECT_EQ(files.json("a.json")["a"], 1);
  EXPECT_FALSE(files.has("dangling.json"));
  EXPECT_TRUE(files.has("linked"));
  EXPECT_FALSE(files.has_file("linked"));
  EXPECT_TRUE(files.has_file("linked/0"));
}

TEST_F(Listed, TellsFilesFromWhatIsNone) {
  put("folder/config.json", "{}");
  ASSERT_EQ(mkfifo((folder_.path() / "pipe").c_str(), 0600), 0);
  const Directory files(folder_.path());
  for (const char* name : {"folder", "pipe"}) {
    EXPECT_TRUE(files.has(name)) << name;
    EXPECT_FALSE(files.has_file(name)) << name;
    EXPECT_EQ(files.begin(name), "") << name;
    EXPECT_NE(refusal(ExitCode::kIo, files, name).find("is not a regular file"), std::string::npos) << name;
  }
  EXPECT_FALSE(files.has("folder/config.json/config.json")) << "a file in the place of a folder";
  EXPECT_FALSE(files.has(""));
  EXPECT_FALSE(files.has((folder_.path() / "folder").string())) << "names are relative";
}

TEST_F(Listed, SeesTheFolderAbove) {
  put("config.json", "{\"a\": 1}");
  put("onnx/model.onnx", "");
  const Directory files(folder_.path() / "onnx");
  EXPECT_TRUE(files.has_file("../config.json"));
  EXPECT_FALSE(files.has("../modules.json"));
  EXPECT_EQ(files.json("../config.json")["a"], 1);
  EXPECT_EQ(files.documents().begin()->first, "../config.json");
}

TEST_F(Listed, MissingFoldersAndFilesHoldNothing) {
  put("file", "");
  for (const char* name : {"none", "file"}) {
    const Directory files(folder_.path() / name);
    EXPECT_TRUE(files.error());
    EXPECT_FALSE(files.has("config.json"));
    EXPECT_EQ(files.names(), Names{});
    EXPECT_TRUE(files.object_or_empty("config.json").empty());
    EXPECT_NE(refusal(ExitCode::kIo, files, "config.json").find("no such file"), std::string::npos);
  }
  EXPECT_EQ(Directory(folder_.path() / "file").error(), std::errc::not_a_directory);
}

TEST_F(Listed, NothingIsNotOnTheDisk) {
  put("config.json", "{}");
  const auto files = Directory::nothing(folder_.path());
  EXPECT_EQ(files->path(""), folder_.path());
  EXPECT_FALSE(files->has("config.json"));
  EXPECT_FALSE(files->has("../" + folder_.path().filename().string() + "/config.json"));
  EXPECT_NE(refusal(ExitCode::kIo, *files, "config.json").find("no such file"), std::string::npos);
}

TEST_F(Listed, AFolderThatIsNotListedIsAskedOnce) {
  put("config.json", "{}");
  fs::permissions(folder_.path(), fs::perms::owner_exec | fs::perms::owner_write);
  const Directory files(folder_.path());
  const bool listed = !files.error();  // root may list every folder
  EXPECT_TRUE(files.has_file("config.json"));
  EXPECT_FALSE(files.has("other.json"));
  put("other.json", "{}");
  EXPECT_FALSE(files.has("other.json"));
  EXPECT_EQ(files.names(), listed ? Names{"config.json"} : (Names{"config.json", "other.json"}));
  fs::permissions(folder_.path(), fs::perms::owner_all);
}

}  // namespace
}  // namespace bantam::convert::fixture
