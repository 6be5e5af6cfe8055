// Students: a smaller layout of a teacher, with what its most important parts have learned.
#ifndef BANTAM_CONVERTER_STUDENT_STUDENT_H_
#define BANTAM_CONVERTER_STUDENT_STUDENT_H_

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "student/draft.h"
#include "student/recipe.h"
#include "student/vocabulary.h"

namespace bantam::convert {

struct StudentReport {
  std::string teacher;
  LayoutSize before, after;
  std::vector<std::string> steps;  // what was done, a sentence each
  std::optional<VocabularyReport> vocabulary;
  std::vector<std::string> notes;
};

struct Student {
  Draft draft;
  StudentReport report;
};

struct StudentOptions {
  std::string task;        // as ImportOptions::task
  bool directory = false;  // for write_student: what no directory can say is refused before anything is computed
  std::function<void(const char* what, double done)> progress;
};

/// Throws Error listing everything in the recipe that the teacher cannot give (layers that are not there, more heads than it
/// has, ...), and as open_model_source and import_source do. The same inputs give the same bytes.
Student make_student(const std::filesystem::path& teacher, const Recipe& recipe, const StudentOptions& options = {});

/// Throws Error (usage) when `directory` exists and is not an empty directory.
void check_new_directory(const std::filesystem::path& directory);

/// Writes a directory that transformers loads: config.json, model.safetensors (f32), the tokenizer's files, a README and
/// bantam_student.json with the report. Factors of embeddings are multiplied, shared layers written once each. It appears whole
/// or not at all: before each file `stopped` is asked, and when it says yes nothing is left and Error (interrupted) is thrown.
/// Throws Error: unsupported for widths that transformers cannot express; usage when `directory` exists and is
/// not empty; I/O; disk full.
void write_student(
    const Student& student, const std::filesystem::path& directory,
    const std::function<bool()>& stopped = [] { return false; });

/// Throws Error (unsupported) for layers that differ in width, or heads that do not fill the hidden width.
void refuse_uneven(bool uniform, uint32_t heads, uint32_t head_width, uint32_t hidden);

/// One JSON object, schema "bantam.student/1".
Json student_json(const StudentReport& report);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_STUDENT_STUDENT_H_
