#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

/// The text form of a token, and the hash of it that is stored. Pure: any thread.
///
/// "ty_", 43 characters for 256 random bits, 6 for their checksum; letters and digits only, so that a double
/// click selects all of it. The checksum tells a mistyped token from an unknown one without a look-up.
namespace trainyard::identity {

inline constexpr std::string_view kTokenPrefix = "ty_";
inline constexpr std::size_t kTokenSecretBytes = 32;
inline constexpr std::size_t kTokenTextBytes = 3 + 43 + 6;

using TokenSecret = std::array<std::uint8_t, kTokenSecretBytes>;
using TokenHash = std::array<std::uint8_t, 32>;

[[nodiscard]] std::string PrintToken(const TokenSecret& secret);

/// Whether the text is what PrintToken makes: length, alphabet and checksum.
[[nodiscard]] bool IsTokenText(std::string_view text);

/// SHA-256 of any text: all that is stored of a token. 256 random bits need no salt and no slow hash.
[[nodiscard]] TokenHash HashOf(std::string_view text);

}  // namespace trainyard::identity
