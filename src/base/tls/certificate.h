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

// Trust in one certificate that is known by its fingerprint, for clients that were told the fingerprint and
// have no file of authorities. Any thread.

/// SHA-256 of the certificate's DER: 64 lower-case hexadecimal digits.
[[nodiscard]] std::string Fingerprint(const X509* certificate);

/// Makes the context's handshakes succeed only with a server that presents the certificate of that
/// fingerprint and is it, or was signed by it, maybe over others that it presents. That it merely presents
/// the certificate proves nothing: an authority's certificate is public. Names and times are not looked at.
/// `fingerprint` outlives the context.
void PinCertificate(SSL_CTX* context, const std::string& fingerprint);

}  // namespace trainyard::tls
