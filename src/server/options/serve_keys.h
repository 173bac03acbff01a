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

/// The settings that words of a command line make, with their original text: the parser has already converted
/// some of its results. ReadServeFlags must accept the words. Pure: any thread.
[[nodiscard]] std::vector<configuration::Setting> SplitFlags(const std::vector<configuration::Key>& keys,
                                                             const std::vector<std::string>& words);

}  // namespace trainyard::server
