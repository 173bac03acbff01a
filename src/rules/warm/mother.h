#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace trainyard::warm {

using Variables = std::map<std::string, std::string, std::less<>>;

/// An interpreter that waits to become programs (a "mother"), as it described itself when it was ready.
struct Mother {
  std::string socket;                           ///< name of the file, in the directory of the description
  std::vector<std::string> modules;             ///< that it imported by name: "sklearn", "sklearn.svm"
  std::vector<std::string> packages;            ///< the top-level ones that are not Python's own
  std::set<std::string, std::less<>> imported;  ///< all top-level modules that are there now
  std::set<std::string, std::less<>> read;      ///< the variables that modules read while they were imported
  Variables variables;                          ///< those that it was started with
};

/// Reads a description: lines "socket NAME", "module NAME", "package NAME", "top NAME", "read NAME",
/// "variable NAME=VALUE"; the last one is "ready". Empty: it is not complete, or something else.
[[nodiscard]] std::optional<Mother> ParseMother(std::string_view text);

/// What a program's start looks like, as far as a warm interpreter could differ from a fresh one.
struct Start {
  Variables variables;
  /// Names of the entries of the job's own directories, in which Python looks for modules: the site-packages
  /// of its packages, and its working directory.
  std::vector<std::string> own;
};

/// Why the program needs a fresh interpreter: a clause for the operator. Empty: it may start in this one.
[[nodiscard]] std::string WhyFresh(const Start& start, const Mother& mother);

/// The variables that libraries read while they are loaded, without Python's os.environ.
[[nodiscard]] bool IsReadByLibraries(std::string_view name);

/// The line of the job's log.
[[nodiscard]] std::string StartLine(const Mother& mother);

}  // namespace trainyard::warm
