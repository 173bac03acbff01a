#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "trainyard/identity/v1/identity.pb.h"

struct evp_pkey_st;

namespace trainyard::identity {

/// The public half of an RSA key. A value; any thread (verifying changes nothing).
class RsaPublicKey {
 public:
  /// Reads a SubjectPublicKeyInfo in DER. kDataLoss: not one, or not an RSA key of at least kRsaBits.
  [[nodiscard]] static Result<RsaPublicKey> FromDer(std::string_view der);

  [[nodiscard]] const std::string& der() const noexcept { return der_; }
  /// Whether the signature (RSASSA-PKCS1-v1_5 with SHA-256: "RS256") is valid for the text. Source: RFC 7518,
  /// 3.3.
  [[nodiscard]] bool Verifies(std::string_view text, std::string_view signature) const;

 private:
  friend class RsaPrivateKey;
  RsaPublicKey(std::shared_ptr<evp_pkey_st> key, std::string der)
      : key_(std::move(key)), der_(std::move(der)) {}

  std::shared_ptr<evp_pkey_st> key_;  // shared: copies of the value use one key, which never changes
  std::string der_;
};

/// Both halves. A value; any thread.
class RsaPrivateKey {
 public:
  /// Takes a tenth of a second or more: not on the loop. kInternal: OpenSSL's random numbers failed.
  [[nodiscard]] static Result<RsaPrivateKey> Generate();
  /// Reads PEM of PKCS #8, without a passphrase. kDataLoss: not a valid key.
  [[nodiscard]] static Result<RsaPrivateKey> FromPem(std::string_view pem);

  [[nodiscard]] std::string Pem() const;
  [[nodiscard]] RsaPublicKey Public() const;
  /// Signs with RS256. About a millisecond.
  [[nodiscard]] std::string Sign(std::string_view text) const;

 private:
  explicit RsaPrivateKey(std::shared_ptr<evp_pkey_st> key) : key_(std::move(key)) {}

  std::shared_ptr<evp_pkey_st> key_;  // shared: as above
};

inline constexpr unsigned kRsaBits = 2'048;  ///< as Google's keys. Source: iam v1, KEY_ALG_RSA_2048

/// The server that a key file refers to.
struct KeyFileServer {
  std::string url;              ///< "https://yard.example:8443": its token_uri is URL/token
  std::string universe_domain;  ///< empty: Google's, for clients that use token_uri (spec access.md, way A)
};

/// A service account's key file as clients read it: JSON, indented, newline at the end. Pure: any thread.
/// Source: spec access.md section 1; google-auth's service_account.Credentials.
[[nodiscard]] std::string PrintKeyFile(const v1::ServiceAccount& account, std::string_view key_id,
                                       std::string_view private_key_pem, const KeyFileServer& server);

}  // namespace trainyard::identity
