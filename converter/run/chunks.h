// Texts of a model that takes what is retrieved for their chunks (RETRO, arXiv 2112.04426): Session, "Chunks".
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

/// Those of the chunk number `chunk` of a text, whose tokens are given; empty: there are none.
using Retrieve = std::function<Neighbours(uint32_t chunk, const std::vector<int32_t>& ids)>;

/// What a model of chunks takes at most for each: texts, and tokens of a text.
uint32_t most_neighbours(const Model& model);
uint32_t most_neighbour_tokens(const Model& model);

/// Makes one source of a chunk: its rows (Model::feature_width numbers a token) and its neighbours. Throws Error (kInvalid) where these are more,
/// or longer, than the model takes, or hold what is no token; `name` is the file's, for messages.
void encode_chunk(Session& session, const std::string& name, uint32_t source, const std::vector<float>& rows,
                  const Neighbours& neighbours);

/// A text that is run piece by piece in a context of its own, and has one source at a time.
class ChunkedText {
 public:
  /// `session` has contexts and outlives the text; `retrieve` may be null: then nothing is retrieved, and every token goes without.
  ChunkedText(Session& session, std::string name, uint32_t context, uint32_t source, Retrieve retrieve);

  /// Forgets all.
  void clear();
  /// `encoded` is called when something has been retrieved for a chunk, and the session has the outputs of the pass over it.
  void watch(std::function<void()> encoded) { watch_ = std::move(encoded); }

  /// A run that has been made: tokens [first, first + rows) of those given have the session's output rows, of sequence 0.
  using Take = std::function<void(size_t first, uint32_t rows)>;
  /// Goes on with tokens. When a chunk is whole, its last token is run twice: without a source for its row, which the encoder of neighbours
  /// sees, and with what has been retrieved. `last_rows`: outputs of each run's last token may be all there is.
  void run(const int32_t* ids, size_t count, bool last_rows, const Take& take);

 private:
  void run_without(const int32_t* ids, size_t count, bool last_rows, const Take& take);
  void run_piece(const int32_t* ids, uint32_t count, bool with_source, bool last_rows);
  /// Those that the last run has made, from row `first` on.
  void keep_rows(uint32_t first);
  /// `last`: the chunk's last token, which is no part of the context yet.
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
