#include "train/distill.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>

#include "base/fail.h"
#include "base/printable.h"
#include "base/sha256.h"
#include "graph/access.h"
#include "graph/rows.h"
#include "graph/task_parts.h"
#include "import/hugging_face.h"
#include "model/heads.h"
#include "source/generation.h"
#include "source/model_source.h"
#include "source/write_back.h"
#include "student/student.h"
#include "tokenizer/tokenizer.h"
#include "train/labelled_examples.h"
#include "train/output_directory.h"
#include "train/text_examples.h"

namespace bantam::train {
namespace {

namespace fs = std::filesystem;
using convert::ExitCode;
using convert::fail;

/// Returns the heads of a graph: which output belongs to which head.
Heads heads_of(const convert::Graph& graph, const std::string& directory) {
  const fb::TaskT& task = *graph.model.task;
  Heads heads;
  const auto width = [&](size_t set) { return static_cast<uint32_t>(task.label_sets[set]->labels.size()); };
  const auto output = [&](size_t set) { return static_cast<int32_t>(task.label_sets[set]->output); };
  const auto [parts, scores] = traits(task.kind);
  const bool labels = (parts & kLabelsPart) != 0, generates = (parts & kNextWordsPart) != 0;
  if (!labels && !generates && (parts & kWordsPart) == 0) {
    fail(ExitCode::kUnsupported, "{}: models of the task \"{}\" cannot be trained; {} can", directory,
         fb::EnumNameTaskKind(task.kind), convert::task_list(tasks_with(kLabelsPart | kWordsPart | kNextWordsPart)));
  }
  if (!generates && graph.model.max_source != 0) {
    fail(ExitCode::kUnsupported,
         "{}: encoder-decoders learn to generate, not to {}; train the encoder alone, or give --task generate",
         directory, fb::EnumNameTaskKind(task.kind));
  }
  if (generates) {
    const auto& outputs = graph.model.outputs;
    const auto next = std::find_if(outputs.begin(), outputs.end(),
                                   [](const auto& one) { return one->role == fb::OutputRole::next_words; });
    heads.next_output = static_cast<int32_t>(next - outputs.begin());
    heads.next = static_cast<uint32_t>(convert::width(convert::tensor(graph, (*next)->tensor)));
  }
  if (labels) {
    heads.classes = width(0);
    heads.class_output = output(0);
    heads.values = scores != kSoftmax;
    heads.bounded = scores == kSigmoids;
  }
  if ((parts & kWordsPart) != 0) {
    const size_t set = labels ? 1 : 0;
    heads.tags = width(set);
    heads.tag_output = output(set);
  }
  return heads;
}

/// Returns the teacher's number of each of the student's labels.
std::vector<uint32_t> match_labels(const fb::LabelSetT& student, const fb::LabelSetT& teacher, const char* what,
                                   convert::Problems* problems) {
  std::vector<uint32_t> order;
  std::string lacking;
  for (const std::string& label : student.labels) {
    const auto found = std::find(teacher.labels.begin(), teacher.labels.end(), label);
    if (found == teacher.labels.end()) lacking += (lacking.empty() ? "" : ", ") + convert::printable(label);
    order.push_back(static_cast<uint32_t>(found - teacher.labels.begin()));
  }
  if (!lacking.empty() || student.labels.size() != teacher.labels.size()) {
    problems->add(ExitCode::kInvalid,
                  fmt::format("the student has {} {}, the teacher {}{}; teacher and student must have the same",
                              student.labels.size(), what, teacher.labels.size(),
                              lacking.empty() ? "" : "; the teacher lacks " + lacking));
  }
  return order;
}

void fit(const convert::Graph& student, const convert::Graph& teacher, const DistillOptions& options, Job* job) {
  const fb::TaskT &mine = *student.model.task, &theirs = *teacher.model.task;
  convert::Problems problems;
  if (mine.kind != theirs.kind) {
    problems.add(
        ExitCode::kInvalid,
        fmt::format("{} is for \"{}\" and {} for \"{}\": teacher and student must have the same task", options.student,
                    fb::EnumNameTaskKind(mine.kind), options.teacher, fb::EnumNameTaskKind(theirs.kind)));
  } else {
    const uint32_t parts = traits(mine.kind).parts;
    const bool labels = (parts & kLabelsPart) != 0, words = (parts & kWordsPart) != 0;
    const bool joint = labels && words;
    for (const auto& [task, name] : {std::pair{&mine, &options.student}, std::pair{&theirs, &options.teacher}}) {
      const auto levels = [](const auto& set) { return !set->parents.empty(); };
      if (task->label_sets.size() <= own_label_sets(parts) &&
          std::none_of(task->label_sets.begin(), task->label_sets.end(), levels)) {
        continue;
      }
      problems.add(ExitCode::kUnsupported,
                   fmt::format("{}: distillation trains one set of labels that stand side by side; take label_sets and "
                               "label_parents out of config.json",
                               *name));
    }
    if (labels) {
      job->teacher_labels =
          match_labels(*mine.label_sets[0], *theirs.label_sets[0], joint ? "intents" : "labels", &problems);
    }
    if (words) {
      const size_t set = labels ? 1 : 0;
      job->teacher_tags =
          match_labels(*mine.label_sets[set], *theirs.label_sets[set], joint ? "slots" : "tags", &problems);
    }
  }
  job->teacher_heads = heads_of(teacher, options.teacher);
  if (mine.kind == theirs.kind && job->heads.next != job->teacher_heads.next) {
    problems.add(ExitCode::kInvalid,
                 fmt::format("{} chooses from {} tokens and {} from {}: teacher and student must have one vocabulary",
                             options.student, job->heads.next, options.teacher, job->teacher_heads.next));
  }
  if (mine.kind == theirs.kind && (student.model.max_source == 0) != (teacher.model.max_source == 0)) {
    problems.add(ExitCode::kInvalid,
                 fmt::format("{} is an encoder-decoder and {} a decoder: teacher and student must both be the same",
                             student.model.max_source != 0 ? options.student : options.teacher,
                             student.model.max_source != 0 ? options.teacher : options.student));
  }
  problems.raise();
}

/// Returns the digests of everything that a run reads, and every option that affects its result.
std::string fingerprint(const DistillOptions& options) {
  std::string text = describe(options.settings);
  text += fmt::format(" task={} max_tokens={} augment={}/{} limit={} skip_bad={} save_as={}", options.task,
                      options.max_tokens, options.augment, options.augment_rate.value_or(-1), options.limit,
                      options.skip_bad, options.dtype);
  const auto digest = [&](const char* name, const fs::path& path) {
    std::error_code ignored;
    if (fs::is_regular_file(path, ignored)) text += fmt::format(" {}={}", name, convert::sha256_of_file(path));
  };
  digest("data", options.data);
  digest("validation", options.validation);
  digest("texts", options.texts);
  const auto digest_models = [&](const char* file) {
    digest("student", fs::path(options.student) / file);
    if (!options.teacher.empty()) digest("teacher", fs::path(options.teacher) / file);
  };
  digest_models("config.json");
  digest_models("model.safetensors");
  digest_models("preprocessor_config.json");
  digest_models(convert::kGenerationFile);
  for (const char* file : convert::kTokenizerFiles) digest_models(file);
  return text;
}

/// Returns the student's directory: the one of --student, or the one in the output directory where its recipe makes it.
/// A resumed run finds it there.
std::string student_directory(const DistillOptions& options, const Watcher& watcher, DistillOutput* output) {
  std::error_code ignored;
  if (!fs::is_regular_file(options.student, ignored)) return options.student;
  if (options.teacher.empty()) {
    fail(ExitCode::kUsage, "--student {}: a recipe says what stays of a teacher; add --teacher", options.student);
  }
  const convert::Recipe recipe = convert::read_recipe(options.student);
  output->prepare(options);
  const fs::path& directory = output->student();
  if (fs::exists(directory / "config.json", ignored)) return directory.string();
  convert::StudentOptions student;
  student.task = options.task;
  student.directory = true;
  student.progress = watcher.making_student;
  convert::write_student(convert::make_student(options.teacher, recipe, student), directory);
  return directory.string();
}

/// Warns if the processor lacks bf16 instructions, so that bf16 is emulated.
void note_slow_precision([[maybe_unused]] Precision precision, [[maybe_unused]] const convert::Warn& warn) {
#if defined(__x86_64__)
  if (precision == Precision::kBf16 && !__builtin_cpu_supports("avx512bf16")) {
    warn("--precision bf16: this processor has no instructions for it; f32 will be faster");
  }
#endif
}

/// Checks before training that the student's directory can store the result.
convert::WaysBack require_ways_back(const convert::Graph& student, const std::string& directory,
                                    const convert::Warn& warn) {
  convert::WaysBack ways = convert::ways_back(student, convert::open_checkpoint(directory));
  const std::vector<std::string> held = convert::held(student, ways);
  if (!held.empty()) {
    warn(fmt::format("{}: these stay as they are, because the graph holds them in another form than the directory: {}",
                     directory, fmt::join(held, ", ")));
  }
  const std::vector<std::string> lost = convert::not_written_back(student, ways);
  if (lost.empty()) return ways;
  fail(ExitCode::kUnsupported,
       "{}: training cannot store {}, which the graph holds in another form than the directory; train it with its own "
       "library and convert the result",
       directory, fmt::join(lost, ", "));
}

Distilled train_student(const DistillOptions& options, const Watcher& watcher, DistillOutput* output) {
  convert::ImportOptions import;
  import.task = options.task;
  const auto in_memory = [&import](const std::string& directory) {
    convert::Graph graph = convert::import_hugging_face(directory, import);
    convert::hold_values(graph);
    return graph;
  };
  const convert::Graph student = in_memory(options.student);
  convert::WaysBack ways = require_ways_back(student, options.student, watcher.warn);
  std::optional<convert::Graph> teacher;
  if (!options.teacher.empty()) teacher.emplace(in_memory(options.teacher));
  Job job;
  job.settings = options.settings;
  job.student = &student;
  job.ways = std::move(ways);
  job.heads = heads_of(student, options.student);
  if (teacher) {
    job.teacher = &*teacher;
    fit(student, *teacher, options, &job);
  }
  std::optional<DistillData> data;
  if (job.heads.next != 0) {
    read_next_words(student, job.teacher, options, watcher.warn, &job);
  } else {
    data.emplace(student, job.teacher, options);
    job.examples = data->training();
    job.validation = data->validation();
    job.score = [&data](const std::vector<Logits>& logits) { return data->score(logits); };
  }
  job.student_directory = options.student;
  job.output = options.output;
  job.dtype = options.dtype;
  job.title = fmt::format("bantam distill: {}", options.output);
  job.fingerprint = fingerprint(options);
  job.save_every = options.save_every;
  job.stop_after = options.stop_after;
  output->prepare(options);
  note_slow_precision(options.settings.precision, watcher.warn);
  job.progress = watcher.progress;
  job.on_epoch = watcher.on_epoch;
  Distilled result{job.examples.size(), job.validation.size(), train(job)};
  output->keep();
  if (result.outcome.complete) {
    std::error_code ignored;
    fs::remove_all(output->student(), ignored);
  }
  return result;
}

}  // namespace

Distilled distill(const DistillOptions& options, const Watcher& watcher) {
  DistillOutput output(options);
  DistillOptions resolved = options;
  resolved.student = student_directory(options, watcher, &output);
  return train_student(resolved, watcher, &output);
}

}  // namespace bantam::train
