// build: from the importer's graph to the bytes of a .bantam file.
#ifndef BANTAM_CONVERTER_PACK_BUILD_H_
#define BANTAM_CONVERTER_PACK_BUILD_H_

#include <cstdint>
#include <cstdlib>
#include <new>
#include <string>
#include <vector>

#include "graph/graph.h"
#include "quantize/migrate.h"
#include "quantize/types.h"

namespace bantam::convert {

/// The runtime reads files in place and wants them at 64-byte boundaries.
template <typename T>
struct FileAllocator {
  using value_type = T;
  FileAllocator() = default;
  template <typename U>
  FileAllocator(const FileAllocator<U>&) {}  // NOLINT(google-explicit-constructor): allocators convert
  T* allocate(size_t n) { return static_cast<T*>(::operator new (n * sizeof(T), std::align_val_t{64})); }
  void deallocate(T* p, size_t) { ::operator delete (p, std::align_val_t{64}); }
  template <typename U>
  bool operator==(const FileAllocator<U>&) const {
    return true;
  }
  template <typename U>
  bool operator!=(const FileAllocator<U>&) const {
    return false;
  }
};
using FileBytes = std::vector<uint8_t, FileAllocator<uint8_t>>;

struct Built {
  FileBytes bytes;
  /// The graph as it is in the file: stored types, errors, offsets. Constants still hold source values.
  Graph graph;
  /// Names of the passes that ran, in order.
  std::vector<std::string> passes;
};

/// Runs all passes on a copy of `graph`, writes the file's bytes and opens them with Model::open. The same
/// graph, options and maxima give the same bytes. Outliers move into the weights where `maxima` tell of them.
/// Throws Error.
Built build_model(const Graph& graph, const TypeOptions& options, const ColumnMaxima& maxima = {});

/// Only the bytes.
FileBytes build(const Graph& graph, const TypeOptions& options = {});

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_PACK_BUILD_H_
