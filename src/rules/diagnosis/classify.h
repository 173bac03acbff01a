#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "rules/diagnosis/observation.h"

/// Why a replica failed. Pure: any thread.
namespace trainyard::diagnosis {

/// The diagnosis of an attempt that ended; nothing for one that succeeded or was stopped because its job is
/// over. What the kernel says counts before what the program wrote, its uncaught exception before its other
/// lines, later lines before earlier ones; a status or signal alone is the last resort.
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
