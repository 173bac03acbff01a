#pragma once

#include <span>
#include <string>
#include <string_view>

namespace trainyard::cli {

/// How much of two words is alike, 0 to 1: twice the matching characters over all characters (Ratcliff and
/// Obershelp).
[[nodiscard]] double Likeness(std::string_view a, std::string_view b);

/// The choice that a mistyped word most likely meant; empty below a likeness of 0.6. Pure: any thread.
/// Source: gcloud (Python's difflib.get_close_matches).
[[nodiscard]] std::string_view Suggest(std::string_view word, std::span<const std::string_view> choices);

}  // namespace trainyard::cli
