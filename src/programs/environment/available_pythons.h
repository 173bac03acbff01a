#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace trainyard::environment {

/// An interpreter of this machine.
struct Python {
  std::string version;  ///< "3.11"
  std::string path;     ///< absolute
  std::vector<std::string>
      modules{};  ///< installed modules, of those that runtime versions take from the system
  std::vector<std::string> package_folders{};  ///< where its packages are installed
  friend bool operator==(const Python&, const Python&) = default;
};

/// The interpreters of this machine, one for each version. A value.
struct AvailablePythons {
  std::vector<Python> pythons;

  /// Null if there is none of that version. Valid as long as this.
  [[nodiscard]] const Python* Find(std::string_view version) const {
    for (const Python& python : pythons)
      if (python.version == version) return &python;
    return nullptr;
  }
};

}  // namespace trainyard::environment
