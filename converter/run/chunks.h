// Runs texts of a model that takes texts retrieved for their chunks (RETRO, arXiv 2112.04426): see Session, "Chunks".
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

/// Retrieves the neighbours of chunk number `chunk` of a text, whose tokens are given; empty if there are none.
using Retrieve = std::function<Neighbours(uint32_t chunk, const std::vector<int32_t>& ids)>;

/// Limits of a model of chunks: the texts that it takes for a chunk, and the tokens of such a text.
uint32_t most_neighbours(const Model& model);
uint32_t most_neighbour_tokens(const Model& model);

/// Encodes one source from a chunk: its rows (Model::feature_width numbers a token) and its neighbours. Throws Error
/// (kInvalid) if there are more neighbours, or longer ones, than the model takes, or if they hold an invalid token;
/// `name` is the file's, for messages.
void encode_chunk(Session& session, const std::string& name, uint32_t source, const std::vector<float>& rows,
                  const Neighbours& neighbours);

/// A text that runs piece by piece in a context of its own, with one source at a time.
class ChunkedText {
 public:
  /// `session` has contexts and outlives the text. If `retrieve` is null, nothing is retrieved, and every token runs
  /// without a source.
  ChunkedText(Session& session, std::string name, uint32_t context, uint32_t source, Retrieve retrieve);

  /// Forgets the whole text.
  void clear();
  /// Calls `encoded` when texts have been retrieved for a chunk and the session has the outputs of the pass over them.
  void watch(std::function<void()> encoded) { watch_ = std::move(encoded); }

  /// Receives a finished run: tokens [first, first + rows) of the given ones have the session's output rows of sequence
  /// 0.
  using Take = std::function<void(size_t first, uint32_t rows)>;
  /// Continues with tokens. When a chunk is complete, runs its last token twice: without a source for its row, which
  /// the encoder of neighbours sees, and then with the retrieved texts. `last_rows`: runs may have outputs for their
  /// last token only.
  void run(const int32_t* ids, size_t count, bool last_rows, const Take& take);

 private:
  void run_without(const int32_t* ids, size_t count, bool last_rows, const Take& take);
  void run_piece(const int32_t* ids, uint32_t count, bool with_source, bool last_rows);
  /// Keeps the rows that the last run has made, from row `first` on.
  void keep_rows(uint32_t first);
  /// `last` is the chunk's last token, which is not part of the context yet.
  void finish_chunk(int32_t last);

  Session& session_;
  std::string name_;
  uint32_t context_, source_, chunk_, rows_output_;
  Retrieve retrieve_;
  std::function<void()> watch_;
  uint32_t length_ = 0;       // tokens in the context
  bool encoded_ = false;      // the source is that of the last whole chunk
  std::vector<int32_t> ids_;  // of the chunk that is not whole yet
  std::vector<float> rows_;
};

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_RUN_CHUNKS_H_
