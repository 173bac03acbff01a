#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

/// The file of certificate authorities that a replica's programs trust.

namespace trainyard::front {

/// Writes `bundle`: the first of `system` that can be read (none: a machine without authorities), and the
/// authority in `own`. A bundle that has the same contents is left as it is. Blocking; errors of the file
/// system.
[[nodiscard]] Status MakeCaBundle(const std::vector<std::string>& system, const std::filesystem::path& own,
                                  const std::filesystem::path& bundle);

// The authorities that Java trusts, which reads no PEM file.

/// A trust store as `lib/security/cacerts` is one, of the JKS format, which every Java reads: the
/// certificates of the bundle, under the password that all have ("changeit"). Blocks that are no base64 are
/// left out. kInternal: OpenSSL's SHA-1 is not to be had (FIPS). Any thread. Source: the format has no
/// standard; JDK, class sun.security.provider.JavaKeyStore.
[[nodiscard]] Result<std::string> JavaTrustStore(std::string_view pem_bundle);

}  // namespace trainyard::front
