#pragma once

#include <span>
#include <string>
#include <string_view>

#include "base/configuration/key.h"

namespace trainyard::configuration {

/// Prints a file to edit: `preamble` (comment lines), then every key with its description, the form of its
/// value and its default, all commented out. Keys in `active` are not commented out and have that value.
/// Pure: any thread.
[[nodiscard]] std::string PrintCommented(std::string_view preamble, std::span<const Key> keys,
                                         std::span<const Setting> active);

}  // namespace trainyard::configuration
