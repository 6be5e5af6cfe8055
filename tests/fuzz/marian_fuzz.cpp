// A model in Marian's own format: the reader reads it or throws its own Error, and so do its settings.
#include <cstdint>
#include <cstdlib>
#include <string>

#include "base/error.h"
#include "import/source/marian_file.h"
#include "import/source/marian_settings.h"
#include "tests/fuzz/limits.h"

namespace {

template <typename Work>
void may_refuse(const Work& work) {
  try {
    work();
  } catch (const bantam::convert::Error& error) {
    if (error.problems().empty()) std::abort();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using bantam::convert::MarianFile;
  using bantam::convert::MarianSettings;
  const bantam::fuzz::Limits limits(size);
  const std::string bytes(reinterpret_cast<const char*>(data), size);
  may_refuse([&] {
    const MarianFile file(bytes, "model.bin");
    const MarianSettings settings(file.settings(), "settings");
    bantam::convert::Problems problems;
    check_marian(settings, &problems);
    settings.count("dim-emb", 100, 1, &problems);
    for (const auto& item : file.items()) {
      const auto& name = item.first;
      may_refuse([&] { static_cast<void>(file.table(name)); });
      may_refuse([&] { static_cast<void>(file.weight(name)); });
    }
  });
  const MarianSettings text(bytes, "settings");
  return text.list("vocabs").size() > size ? std::abort(), 0 : 0;
}
