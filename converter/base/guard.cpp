#include "base/guard.h"

#include <cctype>
#include <cerrno>
#include <cstddef>
#include <exception>
#include <filesystem>
#include <new>
#include <string_view>

#include "base/error.h"
#include "base/output_file.h"

namespace bantam {

std::string Outcome::text() const {
  std::string lines;
  for (const std::string& problem : problems) lines += lines.empty() ? problem : "\n" + problem;
  return lines;
}

}  // namespace bantam

namespace bantam::convert {
namespace {

/// The library's options are members of structures: replaces "--max-label-flips" by `max_label_flips`. Command lines,
/// from "bantam " to the end of the clause, stay unchanged.
std::string with_members(const std::string& problem) {
  constexpr std::string_view kCommand = "bantam ";
  std::string text;
  bool command = false;
  for (size_t i = 0; i < problem.size(); ++i) {
    const bool word = i == 0 || problem[i - 1] == ' ' || problem[i - 1] == '(';
    command = (command && problem[i] != ';') || (word && problem.compare(i, kCommand.size(), kCommand) == 0);
    const bool option = word && !command && problem.compare(i, 2, "--") == 0 && i + 2 < problem.size() &&
                        std::islower(static_cast<unsigned char>(problem[i + 2])) != 0;
    if (!option) {
      text += problem[i];
      continue;
    }
    std::string name;
    for (i += 2; i < problem.size(); ++i) {
      const bool part = std::islower(static_cast<unsigned char>(problem[i])) != 0 || problem[i] == '-';
      if (!part) break;
      name += problem[i] == '-' ? '_' : problem[i];
    }
    --i;
    text += name == "auto" ? "automatic" : name;
  }
  return text;
}

Outcome failure(ExitCode code, const std::vector<std::string>& problems) {
  Outcome outcome;
  outcome.code = static_cast<int>(code);
  for (const std::string& problem : problems) outcome.problems.push_back(with_members(problem));
  return outcome;
}

}  // namespace

Error error_of(const std::system_error& cause) {
  const int number = cause.code().value();
  const bool full = is_out_of_space(number) || number == EAGAIN || number == ENOMEM;  // EAGAIN: too many threads
  const auto* of_file = dynamic_cast<const std::filesystem::filesystem_error*>(&cause);
  const std::string name = of_file == nullptr || of_file->path1().empty() ? "" : of_file->path1().string() + ": ";
  return {full ? ExitCode::kOutOfSpace : ExitCode::kIo,
          name + cause.code().message() + (full ? "; free memory, threads or space on the disk" : "")};
}

Outcome guarded(const std::function<void()>& work) {
  try {
    work();
    return {};
  } catch (const Error& error) {
    return failure(error.code(), error.problems());
  } catch (const std::bad_alloc&) {
    return failure(ExitCode::kOutOfSpace, {"not enough memory; close other programs, or use a larger machine"});
  } catch (const std::system_error& cause) {
    const Error error = error_of(cause);
    return failure(error.code(), error.problems());
  } catch (const std::exception& error) {
    return failure(ExitCode::kInternal, {std::string("internal error: ") + error.what()});
  } catch (...) {
    return failure(ExitCode::kInternal, {"internal error: an exception that is no std::exception"});
  }
}

}  // namespace bantam::convert
