#pragma once

#include <openssl/types.h>

#include <string>

#include "base/tls/certificate.h"

/// Trust in one certificate that is known by its fingerprint, for clients that were told the fingerprint and
/// have no file of authorities. Any thread.
namespace trainyard::tls {

/// SHA-256 of the certificate's DER: 64 lower-case hexadecimal digits.
[[nodiscard]] std::string Fingerprint(const X509* certificate);

/// Makes the context's handshakes succeed only with a server that presents the certificate of that
/// fingerprint and is it, or was signed by it, maybe over others that it presents. That it merely presents
/// the certificate proves nothing: an authority's certificate is public. Names and times are not looked at.
/// `fingerprint` outlives the context.
void PinCertificate(SSL_CTX* context, const std::string& fingerprint);

}  // namespace trainyard::tls
