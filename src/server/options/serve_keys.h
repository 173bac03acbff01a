#pragma once

#include <string>
#include <vector>

#include "base/configuration/key.h"

namespace CLI {
class App;
}  // namespace CLI

namespace trainyard::server {

/// The options of a parser as keys of the configuration file, sorted by name.
[[nodiscard]] std::vector<configuration::Key> KeysOf(const CLI::App& app);

/// What words of a command line set, letter by letter: of a parser's results, some are values already. The
/// words are ones that ReadServeFlags accepts. Pure: any thread.
[[nodiscard]] std::vector<configuration::Setting> SplitFlags(const std::vector<configuration::Key>& keys,
                                                             const std::vector<std::string>& words);

}  // namespace trainyard::server
