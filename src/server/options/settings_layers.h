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

/// What holds where flags, the configuration file, the environment and defaults meet: the first of them that
/// says something about a key decides it, lists included.
namespace trainyard::server {

struct LayeredSettings {
  ServeOptions options;
  std::vector<configuration::Effective> effective;  ///< every key, sorted
  std::size_t file_keys = 0;                        ///< how many of them the file decides
};

/// Why there are none. One of the two is set.
struct SettingsRefusal {
  std::vector<configuration::Mistake> in_file;  ///< all, by lines
  std::optional<Error> in_flags;                ///< the field is the flag
};

/// `words` are flags that ReadServeFlags accepts; `file` may be null. Every value of the file is tried by the
/// parser of its flag, also where a flag replaces it. Pure, but for the environment that defaults are from.
[[nodiscard]] std::expected<LayeredSettings, SettingsRefusal> LayerSettings(
    const std::vector<std::string>& words, const ConfigurationFile* file);

}  // namespace trainyard::server
