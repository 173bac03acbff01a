#pragma once

#include <cstddef>
#include <expected>
#include <optional>
#include <string>
#include <vector>

#include "base/configuration/effective_file.h"
#include "base/configuration/reader.h"
#include "base/error.h"
#include "server/options/configuration_file.h"
#include "server/options/serve_options.h"

/// The settings from flags, the configuration file, the environment and defaults: the first of these that
/// sets a key decides its value. That includes lists, which are not merged.
namespace trainyard::server {

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
/// the parser of its flag, even if a flag overrides it. Pure, except for environment variables that defaults
/// come from.
[[nodiscard]] std::expected<LayeredSettings, SettingsRefusal> LayerSettings(
    const std::vector<std::string>& words, const ConfigurationFile* file);

}  // namespace trainyard::server
