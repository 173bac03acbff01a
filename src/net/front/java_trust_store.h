#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

/// The authorities that Java trusts, which reads no PEM file.
namespace trainyard::front {

/// A trust store as `lib/security/cacerts` is one, of the JKS format, which every Java reads: the
/// certificates of the bundle, under the password that all have ("changeit"). Blocks that are no base64 are
/// left out. kInternal: OpenSSL's SHA-1 is not to be had (FIPS). Any thread. Source: the format has no
/// standard; JDK, class sun.security.provider.JavaKeyStore.
[[nodiscard]] Result<std::string> JavaTrustStore(std::string_view pem_bundle);

}  // namespace trainyard::front
