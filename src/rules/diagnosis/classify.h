#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "rules/diagnosis/observation.h"

/// Why a replica failed. Pure: any thread.
namespace trainyard::diagnosis {

/// The diagnosis of an attempt that ended; nullopt for one that succeeded or was stopped because its job is
/// over. The kernel's information has precedence over the program's output, an uncaught exception over other
/// lines, later lines over earlier ones; the status or signal alone is used last.
[[nodiscard]] std::optional<replica::v1::Diagnosis> Classify(const Symptoms& seen);

/// One diagnosis of the table, for documentation.
struct Entry {
  std::string_view name;
  std::string_view meaning;
  std::string_view advice;
};
/// Every diagnosis that Classify can give, by name, without repetition.
[[nodiscard]] std::vector<Entry> Entries();

}  // namespace trainyard::diagnosis
