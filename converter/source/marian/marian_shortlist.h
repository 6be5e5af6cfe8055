// Reads Marian's lexical shortlists in binary form (marian-conv --shortlist): for each source word, its candidate
// target words. The file has a header of six u64 (a magic number, a checksum of all later bytes, the number of words
// that are always allowed, the maximum length of a list, two counts), the lists' offsets in the words as u64, and the
// words as u32.
#ifndef BANTAM_CONVERTER_SOURCE_MARIAN_SHORTLIST_H_
#define BANTAM_CONVERTER_SOURCE_MARIAN_SHORTLIST_H_

#include <string>
#include <string_view>

#include "source/shortlist.h"

namespace bantam::convert {

/// Returns true if a file that begins with these bytes is a shortlist.
bool is_marian_shortlist(std::string_view bytes);

/// `bytes` is the whole file; errors call it `where`; `sources` and `words` are the sizes of the vocabularies. Throws
/// Error (kInvalid) if the file is damaged or was made for other vocabularies.
SourceShortlist read_marian_shortlist(std::string_view bytes, const std::string& where, uint64_t sources,
                                      uint64_t words);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_SOURCE_MARIAN_SHORTLIST_H_
