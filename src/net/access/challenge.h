#pragma once

#include <string_view>

/// The WWW-Authenticate field of a 401. It has a realm, because httplib2 refuses a field without a parameter.
/// Source: RFC 6750 section 3.
namespace trainyard::access {

inline constexpr std::string_view kChallenge = R"(Bearer realm="trainyard")";  ///< nothing was shown
inline constexpr std::string_view kInvalidTokenChallenge =
    R"(Bearer realm="trainyard", error="invalid_token")";

}  // namespace trainyard::access
