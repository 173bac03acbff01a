#pragma once

#include <string>
#include <string_view>

namespace trainyard::cli {

/// One thing to copy: a file or object and where it lies below what the user named.
struct CopySource {
  std::string name;      ///< whole path or object name
  std::string relative;  ///< below the folder that was named; for a single file its own name
  std::string folder;    ///< last part of the folder that was named; empty for a single file
};

/// The target's name. `into`: the target is a folder (it exists as one, or ends in '/', or several things are
/// copied): then things go below it, folders under their own name. Otherwise the target's name is the new
/// name. Pure. Source: gsutil and gcloud storage.
[[nodiscard]] std::string CopyTarget(const CopySource& source, std::string_view target, bool into);

/// Whether a relative name stays below the folder that it is put into: no "..", no empty or absolute parts.
[[nodiscard]] bool StaysBelow(std::string_view relative);

}  // namespace trainyard::cli
