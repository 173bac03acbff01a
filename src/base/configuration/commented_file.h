#pragma once

#include <span>
#include <string>
#include <string_view>

#include "base/configuration/key.h"

namespace trainyard::configuration {

/// A file to edit: `preamble` (lines of a comment), then every key with what it does, the form of its value
/// and its default, as a comment. Keys in `active` stand without the comment sign, with that value. Pure: any
/// thread.
[[nodiscard]] std::string PrintCommented(std::string_view preamble, std::span<const Key> keys,
                                         std::span<const Setting> active);

}  // namespace trainyard::configuration
