#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

/// Which runtime version a program wants, by what it imports. Pure: any thread.
namespace trainyard::cli {

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

/// The first import of a framework decides; the program's own file is the first of the sources.
[[nodiscard]] RuntimeGuess GuessRuntime(const std::vector<PythonSource>& sources);

}  // namespace trainyard::cli
