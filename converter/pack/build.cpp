#include "pack/build.h"

#include <fmt/format.h>

#include "bantam/model.h"
#include "graph/error.h"
#include "model/header.h"
#include "pack/access.h"
#include "pack/layout.h"
#include "pack/lower.h"
#include "pack/plan.h"

namespace bantam::convert {

namespace {

FileBytes assemble(const fb::ModelT& model, const DataSection& data) {
  flatbuffers::FlatBufferBuilder builder(1 << 20);
  fb::FinishModelBuffer(builder, fb::Model::Pack(builder, &model));
  FileHeader header;
  header.graph_offset = kHeaderBytes;
  header.graph_size = builder.GetSize();
  header.data_offset = round_up(header.graph_offset + header.graph_size, kFileAlignment);
  header.data_size = data.bytes().size();
  header.file_size = header.data_offset + header.data_size;
  FileBytes bytes;
  bytes.reserve(header.file_size);
  bytes.resize(header.graph_offset);
  bytes.insert(bytes.end(), builder.GetBufferPointer(), builder.GetBufferPointer() + header.graph_size);
  bytes.resize(header.data_offset);
  bytes.insert(bytes.end(), data.bytes().begin(), data.bytes().end());
  seal(header, bytes.data());
  return bytes;
}

void verify(const FileBytes& bytes) {
  Model model;
  Fault fault;
  const Status status = Model::open(bytes.data(), bytes.size(), &model, &fault);
  if (status == Status::kOk) return;
  throw Error(status == Status::kUnsupported ? ExitCode::kUnsupported : ExitCode::kInternal,
              fmt::format("the packed model does not pass its own verifier: {}: {} ({} {})", status_message(status),
                          fault.what, std::string(fault.name, fault.name_size), fault.index));
}

}  // namespace

Built build_model(const Graph& graph, const TypeOptions& options, const ColumnMaxima& maxima) {
  Built built;
  built.graph = clone(graph);
  Graph& g = built.graph;
  const auto pass = [&](const char* name, const auto& run) {
    run();
    built.passes.emplace_back(name);
  };
  pass("merge tied weights", [&] { merge_tied(g); });
  pass("choose types", [&] { choose_types(g, options); });
  pass("quantize activations", [&] { quantize_activations(g); });
  if (!maxima.empty()) pass("migrate outliers", [&] { migrate_outliers(g, maxima); });
  pass("make steps", [&] { make_steps(g); });
  pass("share storage", [&] { share_storage(g); });
  pass("plan memory", [&] { plan_memory(g); });
  DataSection data;
  pass("lay out constants", [&] { data = lay_out(g); });
  pass("write", [&] { built.bytes = assemble(g.model, data); });
  pass("verify", [&] { verify(built.bytes); });
  return built;
}

FileBytes build(const Graph& graph, const TypeOptions& options) { return build_model(graph, options).bytes; }

}  // namespace bantam::convert
