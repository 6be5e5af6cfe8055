// Mapped files, processors, and XNNPACK behind a session.
#include "bantam/host.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "tests/host/folder.h"
#include "tests/session/bert.h"
#include "tests/session/run_helpers.h"

namespace bantam::host {
namespace {

using bantam::testing::build;
using bantam::testing::FileBytes;
using bantam::testing::random_bert;
using bantam::testing::random_ids;
using bantam::testing::run_once;
using bantam::testing::WeightType;

TEST_F(MappedFileTest, MapsWhatTheFileHolds) {
  MappedFile file;
  ASSERT_EQ(file.open(write("a", "hello").c_str()), Status::kOk);
  ASSERT_EQ(file.size(), 5u);
  EXPECT_EQ(std::memcmp(file.data(), "hello", 5), 0);
  MappedFile moved(std::move(file));
  EXPECT_EQ(moved.size(), 5u);
  ASSERT_EQ(moved.open(write("b", "other").c_str()), Status::kOk);
  EXPECT_EQ(std::memcmp(moved.data(), "other", 5), 0);
  moved.close();
  EXPECT_EQ(moved.data(), nullptr);
}

TEST_F(MappedFileTest, WhatIsReadIsNobodyElses) {
  const std::string path = write("a", "hello");
  MappedFile mapped;
  MappedFile file;
  ASSERT_EQ(mapped.open(path.c_str()), Status::kOk);
  ASSERT_EQ(file.read(path.c_str()), Status::kOk);
  std::fstream(path, std::ios::in | std::ios::out | std::ios::binary) << "J";  // in place, as cp does
  EXPECT_EQ(mapped.data()[0], 'J');
  EXPECT_EQ(std::memcmp(file.data(), "hello", 5), 0);
  mapped.close();
  std::filesystem::resize_file(path, 0);
  EXPECT_EQ(std::memcmp(file.data(), "hello", 5), 0);
  const char* reason = "";
  EXPECT_EQ(file.read((folder_ / "none").string().c_str(), &reason), Status::kIo);
  EXPECT_STREQ(reason, "No such file or directory");
  EXPECT_EQ(file.data(), nullptr);
}

TEST_F(MappedFileTest, AnEmptyFileIsNoModel) {
  MappedFile file;
  ASSERT_EQ(file.open(write("empty", "").c_str()), Status::kOk);
  EXPECT_EQ(file.size(), 0u);
  Model model;
  EXPECT_EQ(Model::open(file.data(), file.size(), &model), Status::kNotAModel);
}

TEST_F(MappedFileTest, WhatCannotBeMappedSaysWhy) {
  MappedFile file;
  const char* reason = "";
  EXPECT_EQ(file.open((folder_ / "none").string().c_str(), &reason), Status::kIo);
  EXPECT_STREQ(reason, "No such file or directory");
  EXPECT_EQ(file.open(folder_.string().c_str(), &reason), Status::kIo);
  EXPECT_STREQ(reason, "Is a directory");
}

TEST_F(MappedFileTest, SizesAreNotCutTo32Bits) {
  constexpr uint64_t kSize = 5'000'000'000;  // a sparse file
  const std::string path = write("large", "");
  std::filesystem::resize_file(path, kSize);
  MappedFile file;
  const char* reason = "";
  if constexpr (sizeof(size_t) == 4) {
    EXPECT_EQ(file.open(path.c_str(), &reason), Status::kIo);
    EXPECT_STREQ(reason, "Is larger than memory can be");
    EXPECT_EQ(file.size(), 0u);
  } else {
    ASSERT_EQ(file.open(path.c_str(), &reason), Status::kOk) << reason;
    EXPECT_EQ(file.size(), kSize);
  }
}

TEST(XnnpackBackend, AgreesWithTheNativeKernels) {
  if (!XnnpackBackend::available()) GTEST_SKIP() << "built without XNNPACK";
  for (const WeightType type : {WeightType::kF32, WeightType::kF16}) {
    const FileBytes file(build(random_bert({}, 5), type).finish());
    Model model;
    ASSERT_EQ(Model::open(file.data(), file.size(), &model), Status::kOk);
    for (const uint32_t threads : {1u, 2u}) {
      XnnpackBackend backend;
      EXPECT_EQ(backend.backend(), nullptr);
      ASSERT_EQ(backend.create(model, threads), Status::kOk);
      EXPECT_EQ(backend.create(model, threads), Status::kInvalidArgument);
      SessionOptions options;
      options.backend = backend.backend();
      for (const uint32_t tile : {0u, 512u}) {
        options.tile_rows = tile;
        const auto ids = random_ids({90, 1, 60}, 211, 2, 8);
        const std::vector<float> native = run_once(file, ids, {});
        const std::vector<float> other = run_once(file, ids, options);
        ASSERT_EQ(native.size(), other.size());
        for (size_t i = 0; i < native.size(); ++i) ASSERT_NEAR(native[i], other[i], 1e-4f);
      }
    }
  }
}

TEST(XnnpackBackend, Int8FilesKeepTheNativeKernels) {
  const FileBytes file(build(random_bert({}, 5), WeightType::kI8).finish());
  Model model;
  ASSERT_EQ(Model::open(file.data(), file.size(), &model), Status::kOk);
  XnnpackBackend backend;
  EXPECT_EQ(backend.create(model), Status::kUnavailable);
  EXPECT_EQ(backend.backend(), nullptr);
}

/// Returns a file with `layers` more layers that use the same weights, each with its own bias.
FileBytes layers_on_one_matrix(uint32_t layers) {
  bantam::testing::BertShape shape;
  shape.layers = 1;
  shape.hidden = 64;
  shape.heads = 4;
  bantam::testing::ModelBuilder builder = build(random_bert(shape, 5), WeightType::kF32);
  const auto named = [&](const std::string& name) {
    int32_t index = 0;
    while (builder.model.tensors[static_cast<size_t>(index)]->name != name) ++index;
    return index;
  };
  const int32_t weights = named("pool");
  int32_t x = named("dense");
  for (uint32_t i = 0; i < layers; ++i) {
    const std::string name = "more." + std::to_string(i);
    const int32_t y = builder.activation(name, 2, shape.hidden);
    const int32_t bias = builder.vector(name + ".bias", std::vector<float>(shape.hidden, 0.5f));
    builder.op(name, bantam::testing::attributes(fb::LinearT{}), {x, weights, bias}, {y});
    x = y;
  }
  return FileBytes(builder.finish());
}

TEST(XnnpackBackend, FewBytesDoNotBecomeMany) {
  if (!XnnpackBackend::available()) GTEST_SKIP() << "built without XNNPACK";
  for (const auto& [layers, status] : {std::pair(3u, Status::kOk), std::pair(400u, Status::kUnavailable)}) {
    const FileBytes file = layers_on_one_matrix(layers);
    Model model;
    ASSERT_EQ(Model::open(file.data(), file.size(), &model), Status::kOk);
    XnnpackBackend backend;
    EXPECT_EQ(backend.create(model), status) << layers << " layers in " << file.size() << " bytes";
  }
}

}  // namespace
}  // namespace bantam::host
