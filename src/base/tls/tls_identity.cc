#include "base/tls/tls_identity.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/async/file.h"
#include "base/tls/certificate.h"

namespace trainyard::tls {

namespace {

namespace fs = std::filesystem;

constexpr std::chrono::days kAuthorityDays{3650};
constexpr std::chrono::days kAuthorityRenewDays{400};  // so that it outlives every certificate that it signs
constexpr std::chrono::days kServerDays{397};
constexpr std::chrono::days kServerRenewDays{60};

// OpenSSL takes no wildcard right above a top-level name, so the hosts that clients derive from the universe
// domain "localhost" are listed; the wildcard is for those that do.
constexpr const char* kOwnNames[] = {"localhost",         "ml.localhost",     "storage.localhost",
                                     "logging.localhost", "oauth2.localhost", "www.localhost",
                                     "*.localhost",       "127.0.0.1",        "::1"};

Result<KeyPair> Load(const fs::path& directory, const std::string& name) {
  TY_TRY(const std::string certificate_pem, ReadFile(directory / (name + ".pem")));
  TY_TRY(const std::string key_pem, ReadFile(directory / (name + "-key.pem")));
  KeyPair pair;
  TY_TRY(pair.certificate, ParseCertificate(certificate_pem));
  TY_TRY(pair.key, ParsePrivateKey(key_pem));
  return pair;
}

/// Writes the key first: a crash in between leaves a pair that does not match, which is replaced later.
Status Save(const KeyPair& pair, const fs::path& directory, const std::string& name) {
  TY_TRY(const std::string key_pem, PrintPrivateKey(pair.key));
  TY_TRY(const std::string certificate_pem, PrintCertificate(pair.certificate));
  TY_RETURN_IF_ERROR(WriteFileAtomically(directory / (name + "-key.pem"), key_pem, 0600));
  return WriteFileAtomically(directory / (name + ".pem"), certificate_pem, 0644);
}

Result<KeyPair> EnsureAuthority(const fs::path& directory, SysTime now) {
  if (Result<KeyPair> loaded = Load(directory, "ca");
      loaded && IsUsable(*loaded, now, now + kAuthorityRenewDays)) {
    return loaded;
  }
  TY_TRY(KeyPair made, MakeAuthority(now, kAuthorityDays));
  TY_RETURN_IF_ERROR(Save(made, directory, "ca"));
  return made;
}

Result<KeyPair> EnsureServer(const fs::path& directory, const KeyPair& authority,
                             const std::vector<std::string>& names, SysTime now) {
  if (Result<KeyPair> loaded = Load(directory, "server");
      loaded && IsUsable(*loaded, now, now + kServerRenewDays)) {
    const auto has_name = [&loaded](const std::string& name) { return HasName(loaded->certificate, name); };
    if (IsSignedBy(loaded->certificate, authority.certificate) && std::ranges::all_of(names, has_name))
      return loaded;
  }
  TY_TRY(KeyPair made, MakeServerCertificate(authority, names, now, kServerDays));
  TY_RETURN_IF_ERROR(Save(made, directory, "server"));
  return made;
}

}  // namespace

Result<TlsIdentity> EnsureTlsIdentity(const fs::path& directory, const std::vector<std::string>& names,
                                      SysTime now) {
  TY_RETURN_IF_ERROR(MakePrivateFolder(directory));
  std::vector<std::string> all(std::begin(kOwnNames), std::end(kOwnNames));
  for (const std::string& name : names) {
    if (std::ranges::find(all, name) == all.end()) all.push_back(name);
  }
  TY_TRY(const KeyPair authority, EnsureAuthority(directory, now));
  TY_TRY(const KeyPair server, EnsureServer(directory, authority, all, now));
  TlsIdentity identity;
  identity.ca_file = fs::absolute(directory / "ca.pem");
  TY_TRY(identity.certificate_chain_pem, PrintCertificate(server.certificate));
  TY_TRY(const std::string authority_pem, PrintCertificate(authority.certificate));
  identity.certificate_chain_pem += authority_pem;
  TY_TRY(identity.private_key_pem, PrintPrivateKey(server.key));
  return identity;
}

Result<TlsIdentity> LoadTlsIdentity(const fs::path& certificate, const fs::path& key, const fs::path& ca_file,
                                    SysTime now) {
  TlsIdentity identity;
  identity.ca_file = ca_file;
  TY_TRY(identity.certificate_chain_pem, ReadFile(certificate));
  TY_TRY(identity.private_key_pem, ReadFile(key));
  const auto refused = [](const fs::path& file, const std::string& why) {
    return std::unexpected(InvalidArgument("", file.string() + ": " + why));
  };
  KeyPair pair;
  Result<Certificate> first = ParseCertificate(identity.certificate_chain_pem);
  if (!first) return refused(certificate, first.error().message);
  pair.certificate = *std::move(first);
  Result<PrivateKey> read = ParsePrivateKey(identity.private_key_pem);
  if (!read) return refused(key, read.error().message);
  pair.key = *std::move(read);
  if (!IsUsable(pair, now, now))
    return refused(certificate,
                   "the key of " + key.string() +
                       " is not this certificate's, or the certificate's time is over or not begun");
  return identity;
}

}  // namespace trainyard::tls
