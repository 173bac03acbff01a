#pragma once

#include <optional>
#include <string_view>

namespace trainyard::diagnosis {

/// An import that ended a program. Views into the traceback.
struct FailedImport {
  std::string_view module;  ///< its first part: "helpers" of helpers.text
  std::string_view file;    ///< the file that imports it, as the traceback names it
  friend bool operator==(const FailedImport&, const FailedImport&) = default;
};

/// Nothing: the traceback's last exception is not that of a missing module. Pure: any thread.
[[nodiscard]] std::optional<FailedImport> FindFailedImport(std::string_view traceback);

}  // namespace trainyard::diagnosis
