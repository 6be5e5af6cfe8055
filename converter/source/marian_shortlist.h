// Marian's lexical shortlists in their binary form (marian-conv --shortlist): which words of the targets each word of the sources
// may become. A header of six u64 (what the file is, a checksum of all behind it, words that are always there, most words of a
// list, two counts), u64 places of lists in what follows, u32 words.
#ifndef BANTAM_CONVERTER_SOURCE_MARIAN_SHORTLIST_H_
#define BANTAM_CONVERTER_SOURCE_MARIAN_SHORTLIST_H_

#include <string>
#include <string_view>

#include "source/shortlist.h"

namespace bantam::convert {

/// Whether a file that begins with these bytes is one.
bool is_marian_shortlist(std::string_view bytes);

/// `bytes`: the whole file; `where`: what errors call it; `sources` and `words`: of the vocabularies. Throws Error, kInvalid, for a
/// damaged one and for one of other vocabularies.
SourceShortlist read_marian_shortlist(std::string_view bytes, const std::string& where, uint64_t sources,
                                      uint64_t words);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_SOURCE_MARIAN_SHORTLIST_H_
