#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace trainyard {

/// Environment variables to set (name -> value), or to remove (nullopt).
using VariableChanges = std::map<std::string, std::optional<std::string>>;

/// This process's environment with some changes, as "NAME=value" lines for a program that it starts. Any
/// thread, as long as none calls setenv.
[[nodiscard]] std::vector<std::string> OwnVariables(const VariableChanges& changes = {});

/// This process's environment by name; of a name that is there twice the first counts. As above.
[[nodiscard]] std::map<std::string, std::string> ReadVariables();

/// The changes alone, for a program that gets nothing of ours. Pure.
[[nodiscard]] std::vector<std::string> PrintVariables(const VariableChanges& changes);

/// The pointers that exec takes, ended by nullptr. Valid as long as `words` stays as it is.
[[nodiscard]] std::vector<char*> Pointers(std::vector<std::string>& words);

}  // namespace trainyard
