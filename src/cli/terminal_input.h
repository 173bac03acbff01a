#pragma once

#include <string>

#include "base/result.h"

/// What a person is asked for. One thread.
namespace trainyard::cli {

/// Reads stdin up to the end of the line, or all of it; without the newline. kInvalidArgument: nothing came.
[[nodiscard]] Result<std::string> ReadInput(bool one_line);

/// One line, with the terminal's echo off.
[[nodiscard]] Result<std::string> ReadSilentLine();

}  // namespace trainyard::cli
