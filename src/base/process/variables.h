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

/// This process's environment by name; if a name is there twice, the first value is used. Thread rule as
/// above.
[[nodiscard]] std::map<std::string, std::string> ReadVariables();

/// Only the changes, for a program that gets none of our variables. Pure.
[[nodiscard]] std::vector<std::string> PrintVariables(const VariableChanges& changes);

/// The pointers for exec, terminated by nullptr. Valid as long as `words` is not changed.
[[nodiscard]] std::vector<char*> Pointers(std::vector<std::string>& words);

}  // namespace trainyard
