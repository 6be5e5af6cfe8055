#include "network/blocks/patches.h"

#include <fmt/format.h>

#include <cmath>
#include <utility>

#include "bantam/sound.h"
#include "source/fields.h"

namespace bantam::convert {
namespace {

constexpr uint32_t kMostImagePixels = 1U << 14;

/// Rows of a tensor, [rows, hidden]; transformers stores some with leading extents of 1.
Values rows_of(Weights& weights, const std::string& name, uint32_t rows, uint32_t hidden) {
  const size_t extents = weights.encoder_extents(name);
  std::vector<uint32_t> shape = {1, rows, hidden};
  if (extents == 1 && rows == 1) shape = {hidden};
  if (extents == 2) shape = {rows, hidden};
  return weights.encoder(name, shape);
}

/// The rows of positions in the order of tokens; the distillation row is last.
Values place_rows(Weights& weights, const EncoderConfig& config) {
  const Family& family = *config.family;
  const ImageShape& image = config.image;
  const uint32_t hidden = config.hidden, in_front = image.in_front, behind = image.behind;
  Values places = rows_of(weights, family.name(Slot::kPatchPlaces), image.tokens(), hidden);
  const Values whole = in_front == 0 ? Values() : rows_of(weights, family.name(Slot::kWholeImage), 1, hidden);
  const std::string projection = family.name(Slot::kPatches);
  const bool biased = !family.block.optional_biases || weights.has_encoder(projection + ".bias");
  const Values bias = biased ? weights.encoder(projection + ".bias", {hidden}) : Values();
  const Values teacher = behind == 0 ? Values() : rows_of(weights, family.name(Slot::kTeacherToken), 1, hidden);
  const bool all = !places.values.empty() && (in_front == 0 || !whole.values.empty()) &&
                   (!biased || !bias.values.empty()) && (behind == 0 || !teacher.values.empty());
  if (!all) return {};
  std::vector<float> rows;
  const auto append = [&](uint32_t from, const Values& added) {
    for (uint32_t i = 0; i < hidden; ++i) {
      rows.push_back(places.values[size_t{from} * hidden + i] + (added.values.empty() ? 0.0F : added.values[i]));
    }
  };
  if (in_front != 0) append(0, whole);
  for (uint32_t patch = 0; patch < image.patches(); ++patch) append(in_front + behind + patch, bias);
  if (behind != 0) append(1, teacher);
  places.values = std::move(rows);
  for (const Values* other : {&whole, &bias, &teacher}) {
    places.source.insert(places.source.end(), other->source.begin(), other->source.end());
    places.source_bytes += other->source_bytes;
  }
  return places;
}

/// A side of an image under `key`: one number for both sides, or an object of sides.
uint32_t side_of(const Fields& fields, const char* key, const char* name, uint32_t otherwise) {
  if (!fields.has(key)) return otherwise;
  const Json& value = fields.raw(key);
  if (value.is_number_unsigned()) return fields.count(key, kMostImagePixels);
  if (!value.is_object()) {
    fields.problem(ExitCode::kInvalid, key, "is neither a number of pixels nor an object with some");
    return otherwise;
  }
  const Fields inside = fields.inside(key);
  return inside.has(name) ? inside.count(name, kMostImagePixels) : 0;
}

std::vector<float> numbers(const Fields& fields, const char* key, uint32_t count, float otherwise) {
  std::vector<float> out(count, otherwise);
  if (!fields.has(key)) return out;
  const Json& list = fields.raw(key);
  const bool one = list.is_number();
  if (!one && (!list.is_array() || list.size() != count)) {
    fields.problem(ExitCode::kInvalid, key, fmt::format("is not a list of {} numbers, one for each channel", count));
    return out;
  }
  for (uint32_t i = 0; i < count; ++i) {
    const Json& value = one ? list : list[i];
    if (!value.is_number() || !std::isfinite(value.get<double>())) {
      fields.problem(ExitCode::kInvalid, key, "holds something that is not a number");
      return out;
    }
    out[i] = value.get<float>();
  }
  return out;
}

/// The property of sound models if the file states a filter bank; the runtime supports one form of it.
std::string sound_form(const Fields& fields, const fb::ImageT& image) {
  constexpr const char* kKind = "feature_extractor_type";
  if (fields.text(kKind, "") != "FilterBank") return "";
  const std::pair<const char*, uint32_t> settings[] = {{"sampling_rate", kSoundRate},
                                                       {"win_length", kSoundWindow},
                                                       {"hop_length", kSoundStep},
                                                       {"n_fft", 512},
                                                       {"num_mel_bins", kSoundBands}};
  for (const auto& [key, value] : settings) {
    if (fields.count(key, kMostImagePixels, value) != value) {
      fields.problem(ExitCode::kUnsupported, key,
                     fmt::format("is another number than {}, which the runtime has", value));
    }
  }
  if (image.height != 1 || image.patch != 1 || image.channels != kSoundBands) {
    fields.problem(
        ExitCode::kInvalid, kKind,
        fmt::format("its rows are images 1 high of {} channels in patches of 1, the model's are not", kSoundBands));
  }
  return kSoundForm;
}

void read_numbers(const Fields& fields, fb::ImageT& image) {
  const bool rescales = fields.flag("do_rescale", true), normalizes = fields.flag("do_normalize", true);
  const double scale = rescales ? fields.number("rescale_factor", 1 / 255.0) : 1;
  const std::vector<float> means = numbers(fields, "image_mean", image.channels, 0.5F);
  const std::vector<float> deviations = numbers(fields, "image_std", image.channels, 0.5F);
  for (uint32_t i = 0; i < image.channels; ++i) {
    const double mean = normalizes ? means[i] : 0, deviation = normalizes ? deviations[i] : 1;
    if (!(deviation > 0)) fields.problem(ExitCode::kInvalid, "image_std", "holds a deviation that is not above 0");
    image.factor.push_back(static_cast<float>(scale / (deviation > 0 ? deviation : 1)));
    image.shift.push_back(static_cast<float>(-mean / (deviation > 0 ? deviation : 1)));
  }
}

void read_fit(const Fields& fields, fb::ImageT& image) {
  const double filter = fields.number("resample", 2);
  if (!(filter >= 0 && filter <= 5) || filter != std::floor(filter)) {
    fields.problem(ExitCode::kInvalid, "resample", fmt::format("{} is none of Pillow's filters, 0 to 5", filter));
  } else {
    image.filter = static_cast<fb::Filter>(filter);
  }
  if (fields.flag("do_resize", true)) {
    image.shortest = side_of(fields, "size", "shortest_edge", 0);
    if (image.shortest == 0 || (fields.has("size") && fields.raw("size").is_number())) {
      // A lone number means both sides for processors that do not crop; for those that crop, it means the shorter side.
      const bool square = !fields.flag("do_center_crop", false);
      if (image.shortest == 0 || square) {
        image.resize_width = side_of(fields, "size", "width", image.width);
        image.resize_height = side_of(fields, "size", "height", image.height);
        image.shortest = 0;
      }
    }
  }
  const bool crops = fields.flag("do_center_crop", false);
  const uint32_t width = crops ? side_of(fields, "crop_size", "width", image.width) : image.resize_width;
  const uint32_t height = crops ? side_of(fields, "crop_size", "height", image.height) : image.resize_height;
  if ((width != 0 && width != image.width) || (height != 0 && height != image.height)) {
    fields.problem(ExitCode::kInvalid, crops ? "crop_size" : "size",
                   fmt::format("makes images of {}x{} pixels, the model is one for {}x{}", width, height, image.width,
                               image.height));
  }
}

/// A layer's scores, multiplied by `factor`.
int32_t scaled_scores(Builder& builder, const std::string& name, int32_t rows, Values weight, Values bias,
                      uint32_t labels, float factor, int32_t residual) {
  for (float& value : weight.values) value *= factor;
  for (float& value : bias.values) value *= factor;
  EpilogueSpec added;
  added.residual = residual;
  const int32_t matrix = builder.linear_weight(name + ".weight", labels, builder.width(rows), std::move(weight));
  const int32_t vector = bias.values.empty() ? kAbsent : builder.vector(name + ".bias", std::move(bias));
  return builder.linear(name, rows, matrix, vector, added);
}

}  // namespace

int32_t embed_patches(Builder& builder, Weights& weights, const EncoderConfig& config, const std::string& base,
                      const EpilogueSpec& after) {
  const ImageShape& image = config.image;
  const std::string name = config.family->name(Slot::kPatches);
  const uint32_t columns = image.channels * image.patch * image.patch, hidden = config.hidden;
  const int32_t places = builder.table(base + "embeddings.places", image.tokens(), hidden, place_rows(weights, config));
  EpilogueSpec sum = after;
  sum.residual = builder.embed(base + "embeddings", {{places, fb::IndexSource::positions}}, {});
  builder.input("input_ids", fb::InputKind::ids, 1);
  const int32_t pixels = builder.features(base + "patches", columns);
  const int32_t weight =
      builder.linear_weight(base + name + ".weight", hidden, columns,
                            weights.encoder(name + ".weight", {hidden, image.channels, image.patch, image.patch}));
  return builder.linear(base + name, pixels, weight, kAbsent, sum);
}

std::unique_ptr<fb::ImageT> read_image(const ModelSource& source, const EncoderConfig& config, Problems& problems,
                                       std::vector<std::string>& notes, std::string* sound) {
  auto image = std::make_unique<fb::ImageT>();
  image->width = config.image.width;
  image->height = config.image.height;
  image->channels = config.image.channels;
  image->patch = config.image.patch;
  image->in_front = config.image.in_front;
  image->behind = config.image.behind;
  const std::string file = source.name_around(kImageSettings);
  const Fields fields(source.files->object_or_empty(file), kImageSettings, problems);
  if (!source.files->has(file)) {
    notes.push_back(
        fmt::format("the directory holds no {}: images are resized to {}x{} pixels and become numbers from -1 to 1",
                    kImageSettings, image->width, image->height));
  }
  read_numbers(fields, *image);
  read_fit(fields, *image);
  *sound = sound_form(fields, *image);
  return image;
}

int32_t scores_of_two(Builder& builder, Weights& weights, const Head& head, const Encoder& encoder,
                      const EncoderConfig& config, uint32_t labels) {
  const uint32_t hidden = config.hidden;
  const int32_t first = builder.pool(encoder.base + "first_token", encoder.hidden, fb::PoolKind::first, false);
  if (head.layers.size() == 2) {
    const int32_t last = builder.pool(encoder.base + "last_token", encoder.hidden, fb::PoolKind::last, false);
    int32_t scores = kAbsent;
    for (const HeadLayer& layer : head.layers) {
      const std::string name = layer.name;
      scores = scaled_scores(builder, name, scores == kAbsent ? first : last,
                             weights.head(name + ".weight", {labels, hidden}), weights.head(name + ".bias", {labels}),
                             labels, 0.5F, scores);
    }
    return scores;
  }
  // The mean m of n patches is computed from the mean of all rows and the first row: n m = (n + 1) mean - first.
  const std::string name = head.layers.front().name;
  const int32_t mean = builder.pool(encoder.base + "mean", encoder.hidden, fb::PoolKind::mean, false);
  const Values both = weights.head(name + ".weight", {labels, 2 * hidden});
  Values of_first = some_columns(both, 2 * hidden, 0, hidden), of_mean = some_columns(both, 2 * hidden, hidden, hidden);
  const auto patches = static_cast<float>(config.image.patches());
  for (size_t i = 0; i < of_first.values.size(); ++i) {
    of_first.values[i] -= of_mean.values[i] / patches;
    of_mean.values[i] *= (patches + 1) / patches;
  }
  const int32_t scores = scaled_scores(builder, name + ".first", first, std::move(of_first),
                                       weights.head(name + ".bias", {labels}), labels, 1, kAbsent);
  return scaled_scores(builder, name + ".mean", mean, std::move(of_mean), {}, labels, 1, scores);
}

}  // namespace bantam::convert
