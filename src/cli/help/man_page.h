#pragma once

#include <string>
#include <vector>

#include "cli/commands.h"

namespace trainyard::cli {

/// The manual page of all commands, trainyard(1), in the man macros of groff and mandoc. Pure: any thread.
[[nodiscard]] std::string PrintManPage(const std::vector<configuration::Key>& serve_flags);

}  // namespace trainyard::cli
