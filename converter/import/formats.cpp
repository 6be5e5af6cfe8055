// Determines which format of source a path is, and opens it.
#include <fmt/format.h>

#include <string>

#include "base/error.h"
#include "import/with_files.h"
#include "source/model_source.h"
#include "source/source_path.h"

namespace bantam::convert {

#define BANTAM_FORMAT(name, what, takes)   \
  bool is_##name(const SourcePath& named); \
  ModelSource open_##name(const SourcePath& named, const SourceOptions& options);
#include "import/formats.inc"
#undef BANTAM_FORMAT

namespace {

enum TakenOptions : unsigned {
  kNoOptions = 0,
  kShortlist = 1,
  kEntities = 2,
  kTower = 4,
  kGraph = 8,
  kAllOptions = 15
};

struct Format {
  const char* what;
  unsigned takes;
  bool (*is)(const SourcePath& named);
  ModelSource (*open)(const SourcePath& named, const SourceOptions& options);
};
constexpr Format kFormats[] = {
#define BANTAM_FORMAT(name, what, takes) {what, takes, is_##name, open_##name},
#include "import/formats.inc"
#undef BANTAM_FORMAT
};

void refuse_options(const Format& format, const SourcePath& named, const SourceOptions& options) {
  struct Option {
    unsigned bit;
    const char* name;
    bool given;
    const char* whose;
  };
  const Option all[] = {{kShortlist, "--shortlist", !options.shortlist.empty(), "Marian's own models"},
                        {kEntities, "--entities", !options.entities.empty(), "models with a table of entities"},
                        {kTower, "--tower", !options.tower.empty(), "directories of two towers"},
                        {kGraph, "--inputs", !options.inputs.empty(), "ONNX and TensorFlow Lite files"},
                        {kGraph, "--graph-output", !options.output.empty(), "ONNX and TensorFlow Lite files"}};
  for (const Option& option : all) {
    if (!option.given || (format.takes & option.bit) != 0) continue;
    throw Error(ExitCode::kUsage, fmt::format("{}: is for {}, and {} is {}; leave it out", option.name, option.whose,
                                              named.path.string(), format.what));
  }
}

ModelSource open_first(const SourcePath& named, const SourceOptions& options) {
  for (const Format& format : kFormats) {
    if (!format.is(named)) continue;
    refuse_options(format, named, options);
    return format.open(named, options);
  }
  throw Error(ExitCode::kInternal, fmt::format("{}: the last format takes everything", named.path.string()));
}

}  // namespace

ModelSource open_model_source(const std::filesystem::path& named, const SourceOptions& options) {
  return with_files([&] {
    ModelSource source = open_first(SourcePath(named), options);
    read_around(&source);
    return source;
  });
}

}  // namespace bantam::convert
