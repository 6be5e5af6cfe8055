#include "pack/build.h"

#include "pack/access.h"
#include "pack/layout.h"
#include "pack/lower.h"
#include "pack/plan.h"

namespace bantam::convert {

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
  pass("write", [&] { built.bytes = assemble_file(g.model, data.bytes()); });
  pass("verify", [&] { check_file(built.bytes); });
  return built;
}

FileBytes build(const Graph& graph, const TypeOptions& options) { return build_model(graph, options).bytes; }

}  // namespace bantam::convert
