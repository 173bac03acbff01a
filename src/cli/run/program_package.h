#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "cli/run/imports.h"
#include "cli/run/program_files.h"
#include "cli/run/wheel.h"

namespace trainyard::cli {

/// A program of the user's, ready to be packaged.
struct LocalProgram {
  std::string name;  ///< for the job's id: "train"
  PackagedProgram package;
  std::vector<PythonSource> sources;  ///< its own file first
  std::vector<CollectedFiles::LeftBehind> left_behind;
  std::vector<CollectedFiles::Skipped> skipped;
};

/// Reads what `trainyard run WORD ARGS` names: a .py file, a notebook, a folder (a package, or with a
/// __main__.py), or "-m" with the module as first of `args`; takes the module out of them. Requirements are
/// those of the requirements.txt beside it, else of the pyproject.toml. Errors, in one sentence: there is no
/// such program; what a notebook or a requirement cannot be; CollectFiles.
[[nodiscard]] Result<LocalProgram> ReadProgram(const std::string& word, std::vector<std::string>& args);

}  // namespace trainyard::cli
