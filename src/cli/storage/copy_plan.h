#pragma once

#include <string>
#include <string_view>

namespace trainyard::cli {

/// A file or object to copy, with its path below what the user named.
struct CopySource {
  std::string name;      ///< full path or object name
  std::string relative;  ///< below the named directory; for a single file its own name
  std::string folder;    ///< last part of the named directory; empty for a single file
};

/// The target's name. `into`: the target is a directory (it exists, or ends in '/', or several sources are
/// copied). Then sources are copied below it, directories under their own names. Otherwise the target's name
/// is the new name. Pure. Source: gsutil and gcloud storage.
[[nodiscard]] std::string CopyTarget(const CopySource& source, std::string_view target, bool into);

/// Whether a relative name stays below its directory: no "..", no empty or absolute parts.
[[nodiscard]] bool StaysBelow(std::string_view relative);

}  // namespace trainyard::cli
