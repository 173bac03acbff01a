#pragma once

#include <string>
#include <string_view>

namespace trainyard::cli {

enum class Colour { kNone, kBold, kRed, kGreen, kYellow, kBlue };

/// The text in a colour, as terminals read it (ECMA-48); unchanged for kNone. Pure: any thread.
[[nodiscard]] std::string Painted(std::string_view text, Colour colour);

/// What a cell of a table means at a glance: the states of jobs and trials, "(best)".
[[nodiscard]] Colour ColourOfCell(std::string_view cell);

}  // namespace trainyard::cli
