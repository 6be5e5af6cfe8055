// Vision transformers: the file of a photo gives the results of transformers (images.py).
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/json_file.h"
#include "data/image_file.h"
#include "data/image_resize.h"
#include "import/hugging_face.h"
#include "pack/build.h"
#include "run/images.h"
#include "run/runner.h"

namespace bantam::golden::images_test {
namespace {

namespace fs = std::filesystem;
using convert::ImageBatch;

const fs::path kFolder = fs::path(BANTAM_SOURCE_DIR) / "tests/golden/images";

std::vector<std::string> layouts() {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(kFolder)) {
    if (entry.is_directory()) names.push_back(entry.path().filename().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

class Images : public ::testing::TestWithParam<std::string> {
 protected:
  fs::path folder() const { return kFolder / GetParam(); }
  convert::FileBytes build(fb::DType weights) const {
    convert::TypeOptions types;
    types.weights = weights;
    return convert::build(convert::import_hugging_face(folder(), {}), types);
  }
  /// Returns the features of the photo.
  static convert::Sample photo(const Model& model) {
    ImageBatch batch(model);
    batch.add((kFolder / "photo.ppm").string());
    convert::Sample sample;
    sample.text = "photo.ppm";
    sample.ids.assign(batch.form().tokens, 0);
    sample.features = batch.features();
    return sample;
  }
};

TEST_P(Images, PixelsAreTheProcessors) {
  const convert::FileBytes bytes = build(fb::DType::f32);
  Model model;
  ASSERT_EQ(Model::open(bytes.data(), bytes.size(), &model), Status::kOk);
  ImageForm form;
  ASSERT_EQ(image_form(model, &form), Status::kOk);
  const convert::Json expected = convert::read_json_object(folder() / "expected.json").at("pixels");
  const std::vector<float> features = photo(model).features;
  const auto patch = static_cast<uint32_t>(std::lround(std::sqrt(form.columns / form.channels)));
  ASSERT_EQ(expected.size(), size_t{form.channels} * form.height * form.width);
  for (uint32_t c = 0; c < form.channels; ++c) {
    for (uint32_t y = 0; y < form.height; ++y) {
      for (uint32_t x = 0; x < form.width; ++x) {
        const size_t row = 1 + size_t{y / patch} * (form.width / patch) + x / patch;
        const size_t column = (size_t{c} * patch + y % patch) * patch + x % patch;
        const float wanted = expected[(size_t{c} * form.height + y) * form.width + x].get<float>();
        EXPECT_NEAR(features[row * form.columns + column], wanted, 2e-6) << c << " " << y << " " << x;
      }
    }
  }
}

TEST_P(Images, AnswerAsTransformersDoes) {
  const convert::Json expected = convert::read_json_object(folder() / "expected.json").at("outputs");
  for (const fb::DType weights : {fb::DType::f32, fb::DType::i8}) {
    const convert::FileBytes bytes = build(weights);
    Model model;
    ASSERT_EQ(Model::open(bytes.data(), bytes.size(), &model), Status::kOk);
    convert::Runner runner(bytes, model.max_sequence());
    const std::vector<convert::OutputRows> outputs = runner.run(photo(model));
    ASSERT_EQ(outputs.size(), expected.size());
    for (const convert::OutputRows& output : outputs) {
      const auto wanted = expected.at(output.name).get<std::vector<float>>();
      ASSERT_EQ(output.values.size(), wanted.size()) << output.name;
      double dot = 0, own = 0, theirs = 0;
      for (size_t i = 0; i < wanted.size(); ++i) {
        if (weights == fb::DType::f32) {
          EXPECT_NEAR(output.values[i], wanted[i], 2e-4) << output.name << " " << i;
        }
        dot += double{output.values[i]} * wanted[i];
        own += double{output.values[i]} * output.values[i];
        theirs += double{wanted[i]} * wanted[i];
      }
      EXPECT_GE(dot / std::sqrt(own * theirs), 0.98) << output.name;
    }
  }
}

/// Models that read features require them, and others refuse them.
TEST_P(Images, SessionsCheckWhatTheyAreGiven) {
  const convert::FileBytes bytes = build(fb::DType::i8);
  Model model;
  ASSERT_EQ(Model::open(bytes.data(), bytes.size(), &model), Status::kOk);
  SessionOptions options;
  options.max_tokens = model.max_sequence();
  std::vector<uint8_t> memory(arena_bytes(model, options) + 64);
  auto* arena = memory.data() + (64 - reinterpret_cast<uintptr_t>(memory.data()) % 64) % 64;
  Session* session = nullptr;
  ASSERT_EQ(Session::create(model, options, arena, arena_bytes(model, options), &session), Status::kOk);
  convert::Sample sample = photo(model);
  Batch batch;
  batch.tokens = model.max_sequence();
  batch.ids = sample.ids.data();
  EXPECT_EQ(session->run(batch), Status::kInvalidArgument);
  batch.features = sample.features.data();
  EXPECT_EQ(session->run(batch), Status::kOk);
  batch.ids = nullptr;
  EXPECT_EQ(session->run(batch), Status::kOk);
  sample.features[model.feature_width()] = NAN;
  EXPECT_EQ(session->run(batch), Status::kNonFinite);
  sample.ids[0] = 1;
  batch.ids = sample.ids.data();
  EXPECT_EQ(session->run(batch), Status::kIndexOutOfRange);
}

INSTANTIATE_TEST_SUITE_P(All, Images, ::testing::ValuesIn(layouts()), [](const auto& layout) {
  std::string name = layout.param;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
});

/// SigLIP's texts are padded to the length of training; a session with room for fewer tokens refuses them.
TEST(Siglip, SessionsHaveRoomForTextsAsTheyAreFilledUp) {
  convert::SourceOptions asked;
  asked.tower = "text";
  const fs::path directory = fs::path(BANTAM_SOURCE_DIR) / "tests/golden/siglip";
  const convert::FileBytes bytes =
      convert::build(convert::import_source(convert::open_model_source(directory, asked), {}));
  Model model;
  ASSERT_EQ(Model::open(bytes.data(), bytes.size(), &model), Status::kOk);
  for (const uint32_t tokens : {model.max_sequence(), model.max_sequence() - 1, 2 * model.max_sequence() - 1}) {
    SessionOptions options;
    options.max_tokens = tokens;
    options.max_sequences = 2;
    std::vector<uint8_t> memory(arena_bytes(model, options) + 64);
    auto* arena = memory.data() + (64 - reinterpret_cast<uintptr_t>(memory.data()) % 64) % 64;
    Session* session = nullptr;
    ASSERT_EQ(Session::create(model, options, arena, arena_bytes(model, options), &session), Status::kOk);
    const Status first = tokens < model.max_sequence() ? Status::kTooManyTokens : Status::kOk;
    EXPECT_EQ(session->add({"cat", 3}, {}, {}), first);
    EXPECT_EQ(session->add({"dog", 3}, {}, {}), Status::kTooManyTokens);  // never truncated to fit
    if (first != Status::kOk) continue;
    EXPECT_EQ(session->run(), Status::kOk);
    EXPECT_EQ(session->sequence(0).row_count, model.max_sequence());
  }
}

TEST(ImageFile, ReadsWhatThisBuildReads) {
  const convert::Pixels photo = convert::read_image_file((kFolder / "photo.ppm").string());
  EXPECT_EQ(photo.width, 37U);
  EXPECT_EQ(photo.height, 29U);
  EXPECT_EQ(photo.rgb.size(), 37U * 29 * 3);
#if defined(BANTAM_TEST_JPEG)
  const convert::Pixels jpeg = convert::read_image_file((kFolder / "photo.jpg").string());
  const convert::Pixels decoded = convert::read_image_file((kFolder / "photo_of_jpg.ppm").string());
  ASSERT_EQ(jpeg.rgb.size(), decoded.rgb.size());
  for (size_t i = 0; i < jpeg.rgb.size(); ++i) EXPECT_NEAR(jpeg.rgb[i], decoded.rgb[i], 2) << i;
#endif
}

TEST(ImageFile, RefusesWhatIsNone) {
  const auto code_of = [](const std::string& bytes) {
    const fs::path path = fs::temp_directory_path() / fmt::format("bantam_image_test_{}", getpid());
    std::ofstream(path, std::ios::binary) << bytes;
    try {
      convert::read_image_file(path.string());
    } catch (const convert::Error& error) {
      fs::remove(path);
      return error.code();
    }
    fs::remove(path);
    return convert::ExitCode::kOk;
  };
  using convert::ExitCode;
  EXPECT_EQ(code_of(""), ExitCode::kInvalid);
  EXPECT_EQ(code_of("GIF89a"), ExitCode::kInvalid);
  EXPECT_EQ(code_of("P6"), ExitCode::kInvalid);
  EXPECT_EQ(code_of("P6 2 2 255\nabc"), ExitCode::kInvalid);  // truncated
  EXPECT_EQ(code_of("P6 2 2 65535\nabcdefghijklmnopqrstuvwx"), ExitCode::kUnsupported);
  EXPECT_EQ(code_of("P6 0 2 255\n"), ExitCode::kInvalid);
  EXPECT_EQ(code_of("P6 60000 60000 255\n"), ExitCode::kInvalid);    // too large according to its header
  EXPECT_EQ(code_of("P6 99999999999 1 255\n"), ExitCode::kInvalid);  // not a 32-bit number
  EXPECT_NE(code_of("\x89PNG\r\n\x1a\n"), ExitCode::kOk);            // truncated, or not linked
  EXPECT_NE(code_of("\xFF\xD8\xFF\xE0"), ExitCode::kOk);
}

/// The weights of a filter sum to 1, so a single color stays the same at any size.
TEST(ImageResize, KeepsOneColour) {
  convert::Pixels image{5, 3, std::vector<uint8_t>(5 * 3 * 3, 201)};
  for (const ImageFilter filter : {ImageFilter::kNearest, ImageFilter::kLanczos, ImageFilter::kBilinear,
                                   ImageFilter::kBicubic, ImageFilter::kBox, ImageFilter::kHamming}) {
    for (const auto& [width, height] : {std::pair(1U, 1U), {4U, 7U}, {13U, 2U}}) {
      const convert::Pixels other = convert::resized(image, width, height, filter);
      EXPECT_EQ(other.rgb, std::vector<uint8_t>(size_t{width} * height * 3, 201));
    }
  }
  const convert::Pixels cut = convert::cropped(image, 3, 5);
  EXPECT_EQ(cut.rgb.size(), 3U * 5 * 3);
  EXPECT_EQ(cut.rgb.front(), 0);  // above the original image
  EXPECT_EQ(cut.rgb[3 * 3], 201);
}

/// The middle has the same pixels as in the whole resized image.
TEST(ImageResize, MakesTheMiddleAlone) {
  convert::Pixels image{11, 7, std::vector<uint8_t>(11 * 7 * 3)};
  for (size_t i = 0; i < image.rgb.size(); ++i) image.rgb[i] = static_cast<uint8_t>(i * i * 31 + i * 7);
  for (const ImageFilter filter : {ImageFilter::kNearest, ImageFilter::kLanczos, ImageFilter::kBilinear,
                                   ImageFilter::kBicubic, ImageFilter::kBox, ImageFilter::kHamming}) {
    for (const auto& [width, height] : {std::pair(11U, 7U), {40U, 7U}, {11U, 31U}, {5U, 3U}, {33U, 2U}, {64U, 64U}}) {
      for (const auto& [across, down] : {std::pair(4U, 5U), {7U, 2U}, {11U, 7U}, {41U, 1U}, {1U, 70U}}) {
        const convert::Pixels found = convert::resized_middle(image, width, height, filter, across, down);
        const convert::Pixels whole = convert::cropped(convert::resized(image, width, height, filter), across, down);
        ASSERT_EQ(found.rgb, whole.rgb) << width << "x" << height << ", " << across << "x" << down;
      }
    }
  }
}

/// Resizing to 16,384 pixels per side, as a file may request, computes only the middle that is needed, not 3 GB.
TEST(ImageResize, TakesTimeOfWhatIsWanted) {
  const convert::Pixels image{8, 8, std::vector<uint8_t>(8 * 8 * 3, 7)};
  for (int i = 0; i < 1000; ++i) {
    EXPECT_EQ(convert::resized_middle(image, 16384, 16384, ImageFilter::kLanczos, 4, 4).rgb.size(), 4U * 4 * 3);
  }
}

}  // namespace
}  // namespace bantam::golden::images_test
