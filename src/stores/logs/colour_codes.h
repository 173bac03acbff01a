#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

/// What programs write between their words to colour them: SGR sequences, "ESC [ 1;31 m". Pure: any thread.
/// Source: ECMA-48, sections 5.4 and 8.3.117.
namespace trainyard::logs {

/// Where the first sequence of this kind may begin at or after `from`: any that begin with "ESC [".
[[nodiscard]] std::optional<std::size_t> FindColourCode(std::string_view bytes, std::size_t from);

/// The text as a terminal shows it: without the sequences. Others, and what is cut off, stay.
[[nodiscard]] std::string WithoutColourCodes(std::string_view text);

}  // namespace trainyard::logs
