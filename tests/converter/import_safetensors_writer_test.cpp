#include "source/safetensors_writer.h"

#include <gtest/gtest.h>

#include "converter/import_fixture.h"
#include "source/safetensors.h"

namespace bantam::convert::fixture {
namespace {

TEST(SafetensorsWriter, TheReaderReadsWhatIsWritten) {
  const std::vector<float> values = {1.0F, -2.5F, 0.0F, 65504.0F, 1e-7F, -0.125F};
  std::map<std::string, TensorBytes> tensors;
  tensors["a.half"] = tensor_bytes({3}, {1.0F, -2.5F, 0.5F}, "F16");
  tensors["b.single"] = tensor_bytes({2, 3}, values);
  tensors["c.empty"] = tensor_bytes({0, 4}, {});
  tensors["d.ids"] = {"I64", {1}, std::string(8, '\1')};
  const Directory directory;
  directory.write("model.safetensors", safetensors_file(tensors, {{"note", "a \"quoted\" one"}}));
  const Safetensors file(directory.path() / "model.safetensors");
  EXPECT_EQ(file.tensors().size(), tensors.size());
  EXPECT_EQ(file.read("b.single"), values);
  EXPECT_EQ(file.read("a.half"), (std::vector<float>{1.0F, -2.5F, 0.5F}));
  EXPECT_EQ(file.tensors().at("b.single").shape, (std::vector<uint64_t>{2, 3}));
  // Wider elements come first, so that every tensor is aligned to the size of its elements.
  EXPECT_EQ(file.tensors().at("d.ids").begin % 8, 0U);
  EXPECT_EQ(file.tensors().at("b.single").begin % 4, 0U);
  EXPECT_LT(file.tensors().at("b.single").begin, file.tensors().at("a.half").begin);
}

TEST(SafetensorsWriter, OneInputGivesOneFile) {
  std::map<std::string, TensorBytes> tensors;
  tensors["w"] = tensor_bytes({2}, {3.0F, 4.0F});
  EXPECT_EQ(safetensors_file(tensors, {{"k", "v"}}), safetensors_file(tensors, {{"k", "v"}}));
  EXPECT_EQ(safetensors_file(tensors).size() % 8, 0U);
}

}  // namespace
}  // namespace bantam::convert::fixture
