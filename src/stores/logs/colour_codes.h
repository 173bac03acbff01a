#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

/// Codes by which programs colour their output: SGR sequences, "ESC [ 1;31 m". Pure: any thread. Source:
/// ECMA-48, sections 5.4 and 8.3.117.
namespace trainyard::logs {

/// The first place at or after `from` where such a sequence may begin: at any "ESC [".
[[nodiscard]] std::optional<std::size_t> FindColourCode(std::string_view bytes, std::size_t from);

/// The text as a terminal shows it: without these sequences. Other sequences, and incomplete ones, stay.
[[nodiscard]] std::string WithoutColourCodes(std::string_view text);

}  // namespace trainyard::logs
