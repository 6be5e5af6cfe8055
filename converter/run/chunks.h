// Runs texts of a model that reads texts retrieved for its chunks (RETRO, arXiv 2112.04426): see Session, "Chunks".
#ifndef BANTAM_CONVERTER_RUN_CHUNKS_H_
#define BANTAM_CONVERTER_RUN_CHUNKS_H_

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "bantam/session.h"
#include "data/sample.h"

namespace bantam::convert {

/// Returns the neighbors of chunk number `chunk` of a text, whose tokens are given; empty if there are none.
using Retrieve = std::function<Neighbours(uint32_t chunk, const std::vector<int32_t>& ids)>;

/// Limits of a model with chunks: the number of neighbors of a chunk, and the tokens of one neighbor.
uint32_t most_neighbours(const Model& model);
uint32_t most_neighbour_tokens(const Model& model);

/// Encodes one source from a chunk: its rows (Model::feature_width numbers per token) and its neighbors. Throws Error
/// (kInvalid) if there are more neighbors or longer ones than the model allows, or if they contain an invalid token;
/// `name` is the file's name for messages.
void encode_chunk(Session& session, const std::string& name, uint32_t source, const std::vector<float>& rows,
                  const Neighbours& neighbours);

/// A text that is run piece by piece in its own context, with one source at a time.
class ChunkedText {
 public:
  /// `session` must have contexts and outlive the text. If `retrieve` is null, nothing is retrieved, and every token
  /// runs without a source.
  ChunkedText(Session& session, std::string name, uint32_t context, uint32_t source, Retrieve retrieve);

  /// Forgets the whole text.
  void clear();
  /// Calls `encoded` after texts have been retrieved for a chunk, while the session has the outputs of the pass over
  /// them.
  void watch(std::function<void()> encoded) { watch_ = std::move(encoded); }

  /// Receives a finished run: the session's output rows of sequence 0 are those of the given tokens [first, first +
  /// rows).
  using Take = std::function<void(size_t first, uint32_t rows)>;
  /// Continues with more tokens. When a chunk is complete, runs its last token twice: first without a source, to
  /// compute the row that the neighbors' encoder reads, and then with the retrieved texts. `last_rows`: runs may
  /// compute outputs for their last token only.
  void run(const int32_t* ids, size_t count, bool last_rows, const Take& take);

 private:
  void run_without(const int32_t* ids, size_t count, bool last_rows, const Take& take);
  void run_piece(const int32_t* ids, uint32_t count, bool with_source, bool last_rows);
  /// Keeps the rows that the last run computed, from row `first` on.
  void keep_rows(uint32_t first);
  /// `last` is the last token of the chunk, which is not in the context yet.
  void finish_chunk(int32_t last);

  Session& session_;
  std::string name_;
  uint32_t context_, source_, chunk_, rows_output_;
  Retrieve retrieve_;
  std::function<void()> watch_;
  uint32_t length_ = 0;       // tokens in the context
  bool encoded_ = false;      // the source is that of the last complete chunk
  std::vector<int32_t> ids_;  // the tokens of the incomplete chunk
  std::vector<float> rows_;
};

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_RUN_CHUNKS_H_
