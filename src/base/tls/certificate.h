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

/// A P-256 key and a self-signed certificate that may only sign server certificates.
[[nodiscard]] Result<KeyPair> MakeAuthority(SysTime now, std::chrono::days valid_for);
/// A P-256 key and a certificate for `names` (DNS names, wildcards, IP addresses), signed by the authority.
[[nodiscard]] Result<KeyPair> MakeServerCertificate(const KeyPair& authority,
                                                    const std::vector<std::string>& names, SysTime now,
                                                    std::chrono::days valid_for);

/// An RSA key of 2048 bits, for clients that can only sign with RS256. Takes about a tenth of a second.
[[nodiscard]] Result<PrivateKey> MakeSigningKey();

[[nodiscard]] Result<Certificate> ParseCertificate(std::string_view pem);
[[nodiscard]] Result<PrivateKey> ParsePrivateKey(std::string_view pem);
[[nodiscard]] Result<std::string> PrintCertificate(const Certificate& certificate);
[[nodiscard]] Result<std::string> PrintPrivateKey(const PrivateKey& key);

/// Whether key and certificate belong together and the certificate is valid from now until `until`.
[[nodiscard]] bool IsUsable(const KeyPair& pair, SysTime now, SysTime until);
/// Whether the certificate was signed by that authority's key.
[[nodiscard]] bool IsSignedBy(const Certificate& certificate, const Certificate& authority);
/// Whether the certificate lists the DNS name (also a wildcard, as it is written) or IP address.
[[nodiscard]] bool HasName(const Certificate& certificate, const std::string& name);

// Trust in one certificate by its fingerprint, for clients that know the fingerprint and have no CA file. Any
// thread.

/// SHA-256 of the certificate's DER: 64 lower-case hexadecimal digits.
[[nodiscard]] std::string Fingerprint(const X509* certificate);

/// Makes the context's handshakes succeed only if the server presents the certificate of that fingerprint and
/// either uses it as its own or has a certificate signed by it, maybe through intermediates that it presents.
/// Presenting the certificate alone proves nothing, because an authority's certificate is public. Names and
/// validity times are not checked. `fingerprint` outlives the context.
void PinCertificate(SSL_CTX* context, const std::string& fingerprint);

}  // namespace trainyard::tls
