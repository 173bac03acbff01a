#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace trainyard::text {

/// The similarity of two words, 0 to 1: twice the number of matching characters, divided by the number of
/// characters of both (Ratcliff and Obershelp).
[[nodiscard]] double Likeness(std::string_view a, std::string_view b);

/// The longest word that is compared: the time grows with its cube.
inline constexpr std::size_t kSuggestBytesMax = 100;

/// The choice that is most similar to a mistyped word, whatever the case of both; empty if no similarity
/// reaches 0.6, or if the word is longer than kSuggestBytesMax. Pure: any thread. Source: gcloud (Python's
/// difflib.get_close_matches).
[[nodiscard]] std::string_view Suggest(std::string_view word, std::span<const std::string_view> choices);

/// "Did you mean 'CHOICE'?"; empty if no choice is similar, or the word is one of them. Pure: any thread.
[[nodiscard]] std::string DidYouMean(std::string_view word, std::span<const std::string_view> choices);

}  // namespace trainyard::text
