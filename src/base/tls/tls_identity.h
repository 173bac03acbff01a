#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"

namespace trainyard::tls {

/// The certificate that a TLS listener presents, and the authority that its clients must trust.
struct TlsIdentity {
  std::filesystem::path ca_file;      ///< PEM; clients are told to trust it
  std::string certificate_chain_pem;  ///< server certificate, then the CA's
  std::string private_key_pem;
};

/// The identity in `directory` (created with mode 0700), made on first use: a CA of our own (ca.pem,
/// ca-key.pem) and a server certificate (server.pem, server-key.pem) for localhost, *.localhost, 127.0.0.1,
/// ::1 and `names` (DNS names or IP addresses). Key files have mode 0600. The server certificate is replaced
/// when it is about to expire, when it lacks some of `names`, or when it is not from this CA; the CA only
/// when it is about to expire or unreadable, so that clients keep trusting it. Blocks for a few milliseconds.
/// Errors: the file system's; kInternal for what OpenSSL refuses. Valid for OpenSSL 3, Python's requests and
/// Node.
[[nodiscard]] Result<TlsIdentity> EnsureTlsIdentity(const std::filesystem::path& directory,
                                                    const std::vector<std::string>& names, SysTime now);

/// The operator's own identity: a certificate with its intermediates, and its private key, both PEM.
/// `ca_file`: the authorities that clients are told to trust in addition to their own. kInvalidArgument,
/// naming the file: not PEM, the key does not match the certificate, or it has expired. Other errors: the
/// file system's.
[[nodiscard]] Result<TlsIdentity> LoadTlsIdentity(const std::filesystem::path& certificate,
                                                  const std::filesystem::path& key,
                                                  const std::filesystem::path& ca_file, SysTime now);

}  // namespace trainyard::tls
