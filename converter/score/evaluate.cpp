#include "bantam/evaluate.h"

#include "base/guard.h"
#include "graph/aggregation.h"
#include "score/eval_data.h"
#include "score/eval_run.h"

namespace bantam {

Outcome evaluate(const std::string& file, const std::string& data, const EvaluationOptions& options, Evaluation* out) {
  return convert::guarded([&] {
    const Aggregation aggregation = convert::parse_aggregation("aggregation", options.aggregation);
    const convert::ModelFile model(file);
    const convert::Dataset examples = convert::read_dataset(data, model.model(), options.limit, options.skip_bad);
    convert::refuse_misfit(model, examples);
    convert::refuse_unknown(examples, model.model(), file);
    convert::EngineOptions engine;
    engine.threads = options.threads;
    engine.batch = options.batch;
    const convert::Outcome outcome = convert::evaluate(model, engine, examples, {}, {}, aggregation);
    *out = {};
    out->examples = examples.examples.size();
    out->skipped = examples.skipped;
    out->truncated = outcome.truncated;
    out->seconds = outcome.seconds;
    out->metrics = convert::score(examples, outcome);
  });
}

}  // namespace bantam
