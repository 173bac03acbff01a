#pragma once

#include <sys/stat.h>
#include <sys/types.h>

#include <cstddef>
#include <expected>
#include <optional>
#include <string>
#include <vector>

#include "base/configuration/effective_file.h"
#include "base/configuration/reader.h"
#include "base/result.h"
#include "server/options/serve_options.h"

/// The settings from flags, the configuration file, the environment and defaults: the first of these that
/// sets a key decides its value. That includes lists, which are not merged.
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

struct LayeredSettings {
  ServeOptions options;
  std::vector<configuration::Effective> effective;  ///< every key, sorted
  std::size_t file_keys = 0;                        ///< how many of them come from the file
};

/// Why there are no settings. One of the two is set.
struct SettingsRefusal {
  std::vector<configuration::Mistake> in_file;  ///< all, by lines
  std::optional<Error> in_flags;                ///< the field is the flag
};

/// `words` are flags that ReadServeFlags accepts; `file` may be null. Every value of the file is checked by
/// its flag's row, even if a flag overrides it. Pure, except for environment variables that defaults come
/// from.
[[nodiscard]] std::expected<LayeredSettings, SettingsRefusal> LayerSettings(
    const std::vector<std::string>& words, const ConfigurationFile* file);

}  // namespace trainyard::server
