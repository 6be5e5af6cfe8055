// A model or a shortlist in Marian's formats: reading it and its settings succeeds or throws the reader's Error.
#include <cstdint>
#include <cstdlib>
#include <string>

#include "base/error.h"
#include "source/marian/marian_file.h"
#include "source/marian/marian_settings.h"
#include "source/marian/marian_shortlist.h"
#include "tests/fuzz/limits.h"
#include "tests/fuzz/refusals.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using bantam::convert::MarianFile;
  using bantam::convert::MarianSettings;
  const bantam::fuzz::Limits limits(size);
  const std::string bytes(reinterpret_cast<const char*>(data), size);
  bantam::fuzz::may_refuse([&] {
    const MarianFile file(bytes, "model.bin");
    const MarianSettings settings(file.settings(), "settings");
    bantam::convert::Problems problems;
    check_marian(settings, &problems);
    settings.count("dim-emb", 100, 1, &problems);
    for (const auto& item : file.items()) {
      const auto& name = item.first;
      bantam::fuzz::may_refuse([&] { static_cast<void>(file.table(name)); });
      bantam::fuzz::may_refuse([&] { static_cast<void>(file.weight(name)); });
    }
  });
  bantam::fuzz::may_refuse([&] {
    const auto lists = bantam::convert::read_marian_shortlist(bytes, "lex.bin", 4, 30);
    for (const auto& list : lists.lists) {
      for (const uint32_t word : list) {
        if (word >= lists.words) std::abort();
      }
    }
  });
  const MarianSettings text(bytes, "settings");
  return text.list("vocabs").size() > size ? std::abort(), 0 : 0;
}
