#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

/// The file of certificate authorities that a replica's programs trust.

namespace trainyard::front {

/// Writes `bundle`: the contents of the first file of `system` that can be read (there may be none), then the
/// authority in `own`. Does not write if the bundle has these contents already. Blocking. Errors: the file
/// system's.
[[nodiscard]] Status MakeCaBundle(const std::vector<std::string>& system, const std::filesystem::path& own,
                                  const std::filesystem::path& bundle);

// The authorities for Java, which cannot read PEM files.

/// The passwords of Java's own trust stores and of the one in Google's API client (`newTrustedTransport`).
inline constexpr std::string_view kJavaPassword = "changeit";
inline constexpr std::string_view kGoogleClientPassword = "notasecret";

/// A trust store like `lib/security/cacerts`, in the JKS format, which every Java reads. It has the
/// certificates of the bundle. Blocks that are not base64 are left out.
/// kInternal: OpenSSL's SHA-1 is not available (FIPS). Any thread. Source: the format has no standard; JDK,
/// class sun.security.provider.JavaKeyStore.
[[nodiscard]] Result<std::string> JavaTrustStore(std::string_view pem_bundle, std::string_view password);

}  // namespace trainyard::front
