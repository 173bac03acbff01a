#pragma once

#include <filesystem>
#include <string>

namespace trainyard::replica {

/// Below the data directory. Its owner's only.
inline constexpr const char* kWarmFolder = "run/warm";

/// The names of files about warm interpreters, which the server and supervisors share. They are there only
/// while the server has them (--warm-interpreters). Pure: only computes names. `runtime`: the name of a
/// runtime version's directory (Layout::Runtime).
struct WarmFolder {
  std::filesystem::path path;

  /// The file that lists the imported modules of a runtime version's mother, and its socket
  /// (rules/warm/mother.h).
  [[nodiscard]] std::filesystem::path Description(const std::string& runtime) const {
    return path / (runtime + ".mother");
  }
  /// The modules that its programs imported, one a line.
  [[nodiscard]] std::filesystem::path Learned(const std::string& runtime) const {
    return path / (runtime + kLearned);
  }
  /// The variables that this server gave the last of them for its channels (ChannelVariables), NAME=VALUE.
  [[nodiscard]] std::filesystem::path Variables(const std::string& runtime) const {
    return path / (runtime + ".variables");
  }
  static constexpr const char* kLearned = ".modules";
};

}  // namespace trainyard::replica
