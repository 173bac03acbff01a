#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "cli/run/program_files.h"
#include "cli/run/wheel.h"

namespace trainyard::cli {

// Which runtime version a program wants, by what it imports. Pure: any thread.

/// Top-level names of what a Python source imports, in order, each once. Lines in strings may count, too: a
/// wrong guess costs a runtime version that has more than is needed.
[[nodiscard]] std::vector<std::string> ImportedModules(std::string_view source);

struct RuntimeGuess {
  std::string version;  ///< empty: the server's default
  std::string why;      ///< "train.py imports torch"
  friend bool operator==(const RuntimeGuess&, const RuntimeGuess&) = default;
};

struct PythonSource {
  std::string path;
  std::string text;
};

/// The first import of a framework decides: in the program's own file, which is the first of the sources,
/// then in the files that it may import, and so on. Other files do not count.
[[nodiscard]] RuntimeGuess GuessRuntime(const std::vector<PythonSource>& sources);

/// A program of the user's, ready to be packaged.
struct LocalProgram {
  std::string name;  ///< for the job's id: "train"
  PackagedProgram package;
  std::vector<PythonSource> sources;  ///< its own file first
  std::vector<CollectedFiles::LargeData> left_behind;
  std::vector<CollectedFiles::SkippedFile> skipped;
};

/// Reads what `trainyard run WORD ARGS` names: a .py file, a notebook, a folder (a package, or with a
/// __main__.py), or "-m" with the module as first of `args`; takes the module out of them. Requirements are
/// those of the requirements.txt beside it, else of the pyproject.toml. Errors, in one sentence: there is no
/// such program; what a notebook or a requirement cannot be; CollectFiles.
[[nodiscard]] Result<LocalProgram> ReadProgram(const std::string& word, std::vector<std::string>& args);

}  // namespace trainyard::cli
