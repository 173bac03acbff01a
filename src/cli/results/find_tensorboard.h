#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/result.h"
#include "cli/client_settings.h"

namespace trainyard::cli {

/// The words that a command line of TensorBoard begins with: `tensorboard` of PATH, else of the newest built
/// runtime version by name, else `python3 -m tensorboard.main` where that Python has it. kNotFound: there is
/// none; the message says how to install one. Asks python3, some 50 ms.
[[nodiscard]] Result<std::vector<std::string>> FindTensorBoard(const SettingSources& sources,
                                                               const std::filesystem::path& data_dir);

}  // namespace trainyard::cli
