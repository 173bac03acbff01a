#pragma once

#include <string_view>

/// Names of Python modules that programs often import. Pure: any thread.
namespace trainyard::diagnosis {

/// The well-known module that a mistyped name most likely means: one or two letters are wrong, missing, added
/// or exchanged; in a short name only one. Empty: none, or the name is itself well known.
[[nodiscard]] std::string_view MeantModule(std::string_view name);

}  // namespace trainyard::diagnosis
