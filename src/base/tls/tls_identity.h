#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"

namespace trainyard::tls {

/// What a TLS listener presents, and the authority that its clients must trust.
struct TlsIdentity {
  std::filesystem::path ca_file;      ///< PEM; clients are told to trust it
  std::string certificate_chain_pem;  ///< server certificate, then the CA's
  std::string private_key_pem;
};

/// The identity in `directory` (created with mode 0700), made on first use: a CA of our own (ca.pem,
/// ca-key.pem) and a server certificate (server.pem, server-key.pem) for localhost, *.localhost, 127.0.0.1,
/// ::1 and `names` (DNS names or IP addresses). Key files have mode 0600. The server certificate is
/// replaced when it is near its end, when `names` asks for more than it has, or when it is not of this CA;
/// the CA only when it is near its own end or unreadable, so that clients keep trusting it. Blocks for a few
/// milliseconds. Errors: the file system's; kInternal for what OpenSSL refuses. Valid for OpenSSL 3, Python's
/// requests and Node.
[[nodiscard]] Result<TlsIdentity> EnsureTlsIdentity(const std::filesystem::path& directory,
                                                    const std::vector<std::string>& names, SysTime now);

/// The operator's own: a certificate with those above it, and its private key, both PEM. `ca_file`: what
/// clients are told to trust beside what they trust anyway. kInvalidArgument: not PEM, the key is not the
/// certificate's, or its time is over, naming the file; others: the file system's.
[[nodiscard]] Result<TlsIdentity> LoadTlsIdentity(const std::filesystem::path& certificate,
                                                  const std::filesystem::path& key,
                                                  const std::filesystem::path& ca_file, SysTime now);

}  // namespace trainyard::tls
