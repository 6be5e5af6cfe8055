// Students: a smaller layout of a teacher, which keeps what the teacher's most important parts have learned.
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
  std::vector<std::string> steps;  // one sentence per step
  std::optional<VocabularyReport> vocabulary;
  std::vector<std::string> notes;
};

struct Student {
  Draft draft;
  StudentReport report;
};

struct StudentOptions {
  std::string task;  // see ImportOptions::task
  // For write_student: refuse layouts that a directory cannot describe before anything is computed.
  bool directory = false;
  std::function<void(const char* what, double done)> progress;
};

/// Throws Error that lists everything in the recipe that the teacher cannot provide (missing layers, more heads than it
/// has, ...), and as open_model_source and import_source do. The same inputs give the same bytes.
Student make_student(const std::filesystem::path& teacher, const Recipe& recipe, const StudentOptions& options = {});

/// Throws Error (usage) if `directory` exists and is not an empty directory.
void check_new_directory(const std::filesystem::path& directory);

/// Writes a directory that transformers loads: config.json, model.safetensors (f32), the tokenizer's files, a README,
/// and bantam_student.json with the report. Factors of embeddings are multiplied, and shared layers are written once
/// per layer. The directory appears as a whole or not at all: `stopped` is called before each file, and if it returns
/// true, nothing is left and Error (interrupted) is thrown. Throws Error: unsupported for widths that transformers
/// cannot express; usage if `directory` exists and is not empty; I/O; disk full.
void write_student(
    const Student& student, const std::filesystem::path& directory,
    const std::function<bool()>& stopped = [] { return false; });

/// Throws Error (unsupported) if layers differ in width, or if heads do not fill the hidden width.
void refuse_uneven(bool uniform, uint32_t heads, uint32_t head_width, uint32_t hidden);

/// Returns a JSON object of schema "bantam.student/1".
Json student_json(const StudentReport& report);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_STUDENT_STUDENT_H_
