#pragma once

#include <openssl/types.h>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/result.h"

/// X.509 as values, over OpenSSL's C API. Any thread.
namespace trainyard::tls {

struct CertificateDeleter {
  void operator()(X509* certificate) const noexcept;
};
struct KeyDeleter {
  void operator()(EVP_PKEY* key) const noexcept;
};
using Certificate = std::unique_ptr<X509, CertificateDeleter>;
using PrivateKey = std::unique_ptr<EVP_PKEY, KeyDeleter>;

struct KeyPair {
  Certificate certificate;
  PrivateKey key;
};

/// A P-256 key and a self-signed certificate that may sign server certificates and nothing else.
[[nodiscard]] Result<KeyPair> MakeAuthority(SysTime now, std::chrono::days valid_for);
/// A P-256 key and a certificate for `names` (DNS names, wildcards, IP addresses), signed by the authority.
[[nodiscard]] Result<KeyPair> MakeServerCertificate(const KeyPair& authority,
                                                    const std::vector<std::string>& names, SysTime now,
                                                    std::chrono::days valid_for);

/// An RSA key of 2048 bits, for clients that sign with RS256 only. Takes about a tenth of a second.
[[nodiscard]] Result<PrivateKey> MakeSigningKey();

[[nodiscard]] Result<Certificate> ParseCertificate(std::string_view pem);
[[nodiscard]] Result<PrivateKey> ParsePrivateKey(std::string_view pem);
[[nodiscard]] Result<std::string> PrintCertificate(const Certificate& certificate);
[[nodiscard]] Result<std::string> PrintPrivateKey(const PrivateKey& key);

/// Whether the pair belongs together and the certificate is good from now until `until`.
[[nodiscard]] bool IsUsable(const KeyPair& pair, SysTime now, SysTime until);
/// Whether the certificate was signed by that authority's key.
[[nodiscard]] bool IsSignedBy(const Certificate& certificate, const Certificate& authority);
/// Whether the certificate lists the DNS name (also a wildcard, as it is written) or IP address.
[[nodiscard]] bool HasName(const Certificate& certificate, const std::string& name);

}  // namespace trainyard::tls
