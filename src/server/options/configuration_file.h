#pragma once

#include <sys/stat.h>
#include <sys/types.h>

#include <string>

#include "base/result.h"

/// The configuration file on the disk.
namespace trainyard::server {

/// The path of the installed service's file.
inline constexpr char kConfigurationPath[] = "/etc/trainyard/config.yaml";

struct ConfigurationFile {
  std::string path;  ///< as given
  std::string text;
  std::string warning;  ///< says who else may change it; empty: nobody
};

/// Reads the file, which may be a pipe. Errors are those of ReadFile.
[[nodiscard]] Result<ConfigurationFile> LoadConfigurationFile(const std::string& path);

/// Says who may change the file apart from root and `self`, the account that reads it: "every account may
/// change it (mode 0666)"; empty: nobody. Whoever may change it decides what the server runs and whom it
/// answers. Pure.
[[nodiscard]] std::string WhoElseMayWrite(const struct stat& file, uid_t self);

}  // namespace trainyard::server
