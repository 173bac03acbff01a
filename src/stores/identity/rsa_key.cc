#include "stores/identity/rsa_key.h"

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rsa.h>
#include <openssl/x509.h>

#include "base/check.h"
#include "base/text/json_string.h"
#include "base/text/percent.h"

namespace trainyard::identity {
namespace {

constexpr int kRsaBitsMax = 8'192;  // verifying with a longer one takes too long

using MdContext = std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)>;
using Bio = std::unique_ptr<BIO, decltype(&BIO_free)>;

std::shared_ptr<EVP_PKEY> Own(EVP_PKEY* key) { return {key, EVP_PKEY_free}; }

const unsigned char* Bytes(std::string_view text) {
  return reinterpret_cast<const unsigned char*>(text.data());
}

bool IsUsable(const EVP_PKEY* key) {
  return key != nullptr && EVP_PKEY_get_base_id(key) == EVP_PKEY_RSA &&
         EVP_PKEY_get_bits(key) >= static_cast<int>(kRsaBits) && EVP_PKEY_get_bits(key) <= kRsaBitsMax;
}

std::unexpected<Error> Unreadable(const char* what) {
  ERR_clear_error();
  return std::unexpected(DataLoss(std::string(what) + " cannot be read"));
}

constexpr std::string_view kGoogleUniverse = "googleapis.com";

void AddMember(std::string& json, std::string_view name, std::string_view value) {
  json.append(json.empty() ? "{\n  " : ",\n  ");
  json.append(text::QuoteJson(name)).append(": ").append(text::QuoteJson(value));
}

}  // namespace

Result<RsaPublicKey> RsaPublicKey::FromDer(std::string_view der) {
  const unsigned char* at = Bytes(der);
  std::shared_ptr<EVP_PKEY> key = Own(d2i_PUBKEY(nullptr, &at, static_cast<long>(der.size())));
  if (!IsUsable(key.get()) || at != Bytes(der) + der.size()) return Unreadable("an RSA public key");
  return RsaPublicKey(std::move(key), std::string(der));
}

bool RsaPublicKey::Verifies(std::string_view text, std::string_view signature) const {
  const MdContext context(EVP_MD_CTX_new(), EVP_MD_CTX_free);
  TY_CHECK(context != nullptr);
  TY_CHECK(EVP_DigestVerifyInit(context.get(), nullptr, EVP_sha256(), nullptr, key_.get()) == 1);
  const int verdict =
      EVP_DigestVerify(context.get(), Bytes(signature), signature.size(), Bytes(text), text.size());
  if (verdict != 1) ERR_clear_error();
  return verdict == 1;
}

Result<RsaPrivateKey> RsaPrivateKey::Generate() {
  std::shared_ptr<EVP_PKEY> key = Own(EVP_RSA_gen(kRsaBits));
  if (key == nullptr) {
    ERR_clear_error();
    return std::unexpected(Internal("OpenSSL cannot make an RSA key"));
  }
  return RsaPrivateKey(std::move(key));
}

Result<RsaPrivateKey> RsaPrivateKey::FromPem(std::string_view pem) {
  const Bio bio(BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())), BIO_free);
  TY_CHECK(bio != nullptr);
  const auto no_passphrase = [](char*, int, int, void*) { return -1; };
  std::shared_ptr<EVP_PKEY> key = Own(PEM_read_bio_PrivateKey(bio.get(), nullptr, no_passphrase, nullptr));
  if (!IsUsable(key.get())) return Unreadable("an RSA private key");
  return RsaPrivateKey(std::move(key));
}

std::string RsaPrivateKey::Pem() const {
  const Bio bio(BIO_new(BIO_s_mem()), BIO_free);
  TY_CHECK(bio != nullptr);
  TY_CHECK(PEM_write_bio_PKCS8PrivateKey(bio.get(), key_.get(), nullptr, nullptr, 0, nullptr, nullptr) == 1);
  char* text = nullptr;
  const long size = BIO_get_mem_data(bio.get(), &text);
  return {text, static_cast<std::size_t>(size)};
}

RsaPublicKey RsaPrivateKey::Public() const {
  unsigned char* der = nullptr;
  const int size = i2d_PUBKEY(key_.get(), &der);
  TY_CHECK(size > 0);
  const std::string bytes(reinterpret_cast<const char*>(der), static_cast<std::size_t>(size));
  OPENSSL_free(der);
  Result<RsaPublicKey> key = RsaPublicKey::FromDer(bytes);
  TY_CHECK(key.has_value());
  return *std::move(key);
}

std::string RsaPrivateKey::Sign(std::string_view text) const {
  const MdContext context(EVP_MD_CTX_new(), EVP_MD_CTX_free);
  TY_CHECK(context != nullptr);
  TY_CHECK(EVP_DigestSignInit(context.get(), nullptr, EVP_sha256(), nullptr, key_.get()) == 1);
  std::size_t size = static_cast<std::size_t>(EVP_PKEY_get_size(key_.get()));
  std::string signature(size, '\0');
  TY_CHECK(EVP_DigestSign(context.get(), reinterpret_cast<unsigned char*>(signature.data()), &size,
                          Bytes(text), text.size()) == 1);
  signature.resize(size);
  return signature;
}

std::string PrintKeyFile(const v1::ServiceAccount& account, std::string_view key_id,
                         std::string_view private_key_pem, const KeyFileServer& server) {
  std::string json;
  AddMember(json, "type", "service_account");
  AddMember(json, "project_id", account.project_id());
  AddMember(json, "private_key_id", key_id);
  AddMember(json, "private_key", private_key_pem);
  AddMember(json, "client_email", account.email());
  AddMember(json, "client_id", account.unique_id());
  AddMember(json, "auth_uri", server.url + "/o/oauth2/auth");
  AddMember(json, "token_uri", server.url + "/token");
  AddMember(json, "auth_provider_x509_cert_url", server.url + "/oauth2/v1/certs");
  AddMember(json, "client_x509_cert_url",
            server.url + "/robot/v1/metadata/x509/" + text::PercentEncode(account.email()));
  AddMember(json, "universe_domain",
            server.universe_domain.empty() ? kGoogleUniverse : std::string_view(server.universe_domain));
  return json + "\n}\n";
}

}  // namespace trainyard::identity
