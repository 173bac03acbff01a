#pragma once

#include <string>
#include <string_view>

namespace trainyard::cli {

enum class Colour { kNone, kBold, kRed, kGreen, kYellow, kBlue };

/// The text in a colour, as terminals read it (ECMA-48); unchanged for kNone. Pure: any thread.
[[nodiscard]] std::string Painted(std::string_view text, Colour colour);

/// What a cell of a table or the first word of a log line means at a glance: states of jobs and trials,
/// "(best)", severities.
[[nodiscard]] Colour ColourOfCell(std::string_view cell);

}  // namespace trainyard::cli
