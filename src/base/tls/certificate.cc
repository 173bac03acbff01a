#include "base/tls/certificate.h"

#include <arpa/inet.h>
#include <openssl/bio.h>
#include <openssl/bn.h>
#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/rsa.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <openssl/x509_vfy.h>
#include <openssl/x509v3.h>

#include <array>
#include <ctime>
#include <memory>

#include "base/check.h"
#include "base/text/hex.h"

namespace trainyard::tls {

namespace {

constexpr std::chrono::hours kClockSkew{24};  // for clients whose clock is behind

std::unexpected<Error> OpensslError(std::string_view what) {
  std::array<char, 256> text{};
  ::ERR_error_string_n(::ERR_get_error(), text.data(), text.size());
  ::ERR_clear_error();
  return std::unexpected(Internal(std::string(what) + ": " + text.data()));
}

struct BioDeleter {
  void operator()(BIO* bio) const noexcept { ::BIO_free(bio); }
};
using Bio = std::unique_ptr<BIO, BioDeleter>;

std::string TextOf(const Bio& bio) {
  char* data = nullptr;
  const long size = ::BIO_get_mem_data(bio.get(), &data);
  return {data, static_cast<std::size_t>(size)};
}

Bio ReadFrom(std::string_view pem) {
  return Bio(::BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())));
}

bool IsIpAddress(const std::string& name) {
  std::array<unsigned char, 16> ignored{};
  return ::inet_pton(AF_INET, name.c_str(), ignored.data()) == 1 ||
         ::inet_pton(AF_INET6, name.c_str(), ignored.data()) == 1;
}

bool SetTime(ASN1_TIME* field, SysTime time) {
  return ::ASN1_TIME_set(
             field, std::chrono::system_clock::to_time_t(
                        std::chrono::time_point_cast<std::chrono::system_clock::duration>(time))) != nullptr;
}

/// 127 random bits: positive, unique, below RFC 5280's 20 bytes.
bool SetSerial(X509* certificate) {
  std::array<unsigned char, 16> bytes{};
  if (::RAND_bytes(bytes.data(), bytes.size()) != 1) return false;
  bytes[0] = static_cast<unsigned char>((bytes[0] & 0x7f) | 0x40);
  BIGNUM* number = ::BN_bin2bn(bytes.data(), bytes.size(), nullptr);
  const bool done =
      number != nullptr && ::BN_to_ASN1_INTEGER(number, ::X509_get_serialNumber(certificate)) != nullptr;
  ::BN_free(number);
  return done;
}

bool AddExtension(X509* certificate, X509* issuer, int nid, const std::string& value) {
  X509V3_CTX context;
  X509V3_set_ctx_nodb(&context);
  ::X509V3_set_ctx(&context, issuer, certificate, nullptr, nullptr, 0);
  X509_EXTENSION* extension = ::X509V3_EXT_conf_nid(nullptr, &context, nid, value.c_str());
  if (extension == nullptr) return false;
  const bool added = ::X509_add_ext(certificate, extension, -1) == 1;
  ::X509_EXTENSION_free(extension);
  return added;
}

bool SetSubject(X509* certificate, const std::string& common_name) {
  X509_NAME* name = ::X509_get_subject_name(certificate);
  const auto add = [name](const char* field, const std::string& value) {
    return ::X509_NAME_add_entry_by_txt(name, field, MBSTRING_UTF8,
                                        reinterpret_cast<const unsigned char*>(value.c_str()), -1, -1,
                                        0) == 1;
  };
  return add("O", "Trainyard") && add("CN", common_name);
}

/// The common parts of both kinds: everything except issuer, extensions and signature.
Result<KeyPair> Begin(const std::string& common_name, SysTime now, std::chrono::days valid_for) {
  KeyPair pair{Certificate(::X509_new()), PrivateKey(::EVP_EC_gen("P-256"))};
  X509* certificate = pair.certificate.get();
  if (certificate == nullptr || pair.key == nullptr) return OpensslError("cannot make a key");
  const bool done = ::X509_set_version(certificate, X509_VERSION_3) == 1 && SetSerial(certificate) &&
                    SetTime(::X509_getm_notBefore(certificate), now - kClockSkew) &&
                    SetTime(::X509_getm_notAfter(certificate), now + valid_for) &&
                    ::X509_set_pubkey(certificate, pair.key.get()) == 1 &&
                    SetSubject(certificate, common_name);
  if (!done) return OpensslError("cannot make a certificate");
  return pair;
}

std::string AlternativeNames(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) {
    if (!text.empty()) text += ",";
    text += (IsIpAddress(name) ? "IP:" : "DNS:") + name;
  }
  return text;
}

std::string RandomHex() {
  std::array<unsigned char, 4> bytes{};
  ::RAND_bytes(bytes.data(), bytes.size());
  return text::Hex(bytes.data(), bytes.size());
}

struct StoreDeleter {
  void operator()(X509_STORE* store) const noexcept { ::X509_STORE_free(store); }
  void operator()(X509_STORE_CTX* check) const noexcept { ::X509_STORE_CTX_free(check); }
};

/// Whether there is a path of signatures from the leaf to the pinned certificate.
bool LeadsTo(X509* leaf, STACK_OF(X509) * presented, X509* pinned) {
  const std::unique_ptr<X509_STORE, StoreDeleter> store(::X509_STORE_new());
  const std::unique_ptr<X509_STORE_CTX, StoreDeleter> check(::X509_STORE_CTX_new());
  if (!store || !check || ::X509_STORE_add_cert(store.get(), pinned) != 1 ||
      ::X509_STORE_CTX_init(check.get(), store.get(), leaf, presented) != 1)
    return false;
  // The pinned certificate may be the leaf or an intermediate; times are not checked because nodes' clocks
  // may be wrong.
  ::X509_STORE_CTX_set_flags(check.get(), X509_V_FLAG_PARTIAL_CHAIN | X509_V_FLAG_NO_CHECK_TIME);
  const bool leads = ::X509_verify_cert(check.get()) == 1;
  ::ERR_clear_error();
  return leads;
}

int Verify(X509_STORE_CTX* handshake, void* pinned) {
  const std::string& fingerprint = *static_cast<const std::string*>(pinned);
  X509* leaf = ::X509_STORE_CTX_get0_cert(handshake);
  STACK_OF(X509)* presented = ::X509_STORE_CTX_get0_untrusted(handshake);
  for (int i = 0; leaf != nullptr && i < sk_X509_num(presented); ++i) {
    X509* one = sk_X509_value(presented, i);
    if (Fingerprint(one) == fingerprint && LeadsTo(leaf, presented, one)) return 1;
  }
  ::X509_STORE_CTX_set_error(handshake, X509_V_ERR_CERT_UNTRUSTED);
  return 0;
}

}  // namespace

void CertificateDeleter::operator()(X509* certificate) const noexcept { ::X509_free(certificate); }
void KeyDeleter::operator()(EVP_PKEY* key) const noexcept { ::EVP_PKEY_free(key); }

Result<KeyPair> MakeAuthority(SysTime now, std::chrono::days valid_for) {
  // A unique name: authorities of two installations in one bundle must not be confused.
  TY_TRY(KeyPair pair, Begin("Trainyard CA " + RandomHex(), now, valid_for));
  X509* certificate = pair.certificate.get();
  const bool done =
      ::X509_set_issuer_name(certificate, ::X509_get_subject_name(certificate)) == 1 &&
      AddExtension(certificate, certificate, NID_basic_constraints, "critical,CA:TRUE,pathlen:0") &&
      AddExtension(certificate, certificate, NID_key_usage, "critical,keyCertSign,cRLSign") &&
      AddExtension(certificate, certificate, NID_subject_key_identifier, "hash") &&
      ::X509_sign(certificate, pair.key.get(), ::EVP_sha256()) > 0;
  if (!done) return OpensslError("cannot make the authority's certificate");
  return pair;
}

Result<KeyPair> MakeServerCertificate(const KeyPair& authority, const std::vector<std::string>& names,
                                      SysTime now, std::chrono::days valid_for) {
  for (const std::string& name : names) {
    if (name.empty() || name.find_first_of(",:;\n\\ ") != std::string::npos) {
      if (!IsIpAddress(name))
        return std::unexpected(InvalidArgument("", "'" + name + "' is not a host name"));
    }
  }
  TY_TRY(KeyPair pair, Begin("Trainyard server", now, valid_for));
  X509* certificate = pair.certificate.get();
  X509* issuer = authority.certificate.get();
  const bool done = ::X509_set_issuer_name(certificate, ::X509_get_subject_name(issuer)) == 1 &&
                    AddExtension(certificate, issuer, NID_basic_constraints, "critical,CA:FALSE") &&
                    AddExtension(certificate, issuer, NID_key_usage, "critical,digitalSignature") &&
                    AddExtension(certificate, issuer, NID_ext_key_usage, "serverAuth") &&
                    AddExtension(certificate, issuer, NID_subject_key_identifier, "hash") &&
                    AddExtension(certificate, issuer, NID_authority_key_identifier, "keyid:always") &&
                    AddExtension(certificate, issuer, NID_subject_alt_name, AlternativeNames(names)) &&
                    ::X509_sign(certificate, authority.key.get(), ::EVP_sha256()) > 0;
  if (!done) return OpensslError("cannot make the server's certificate");
  return pair;
}

Result<PrivateKey> MakeSigningKey() {
  constexpr unsigned kBits = 2048;
  PrivateKey key(::EVP_RSA_gen(kBits));
  if (key == nullptr) return OpensslError("cannot make a key");
  return key;
}

Result<Certificate> ParseCertificate(std::string_view pem) {
  Certificate certificate(::PEM_read_bio_X509(ReadFrom(pem).get(), nullptr, nullptr, nullptr));
  if (certificate == nullptr) return OpensslError("cannot read a certificate");
  return certificate;
}

Result<PrivateKey> ParsePrivateKey(std::string_view pem) {
  PrivateKey key(::PEM_read_bio_PrivateKey(ReadFrom(pem).get(), nullptr, nullptr, nullptr));
  if (key == nullptr) return OpensslError("cannot read a private key");
  return key;
}

Result<std::string> PrintCertificate(const Certificate& certificate) {
  const Bio bio(::BIO_new(::BIO_s_mem()));
  if (::PEM_write_bio_X509(bio.get(), certificate.get()) != 1)
    return OpensslError("cannot print a certificate");
  return TextOf(bio);
}

Result<std::string> PrintPrivateKey(const PrivateKey& key) {
  const Bio bio(::BIO_new(::BIO_s_mem()));
  if (::PEM_write_bio_PKCS8PrivateKey(bio.get(), key.get(), nullptr, nullptr, 0, nullptr, nullptr) != 1) {
    return OpensslError("cannot print a private key");
  }
  return TextOf(bio);
}

bool IsUsable(const KeyPair& pair, SysTime now, SysTime until) {
  const auto is_before = [](const ASN1_TIME* time, SysTime limit) {
    std::time_t seconds = std::chrono::system_clock::to_time_t(
        std::chrono::time_point_cast<std::chrono::system_clock::duration>(limit));
    return ::X509_cmp_time(time, &seconds) < 0;
  };
  return ::X509_check_private_key(pair.certificate.get(), pair.key.get()) == 1 &&
         is_before(::X509_get0_notBefore(pair.certificate.get()), now) &&
         !is_before(::X509_get0_notAfter(pair.certificate.get()), until);
}

bool IsSignedBy(const Certificate& certificate, const Certificate& authority) {
  const bool signed_by = ::X509_verify(certificate.get(), ::X509_get0_pubkey(authority.get())) == 1;
  ::ERR_clear_error();
  return signed_by;
}

bool HasName(const Certificate& certificate, const std::string& name) {
  if (IsIpAddress(name)) return ::X509_check_ip_asc(certificate.get(), name.c_str(), 0) == 1;
  auto* names = static_cast<GENERAL_NAMES*>(
      ::X509_get_ext_d2i(certificate.get(), NID_subject_alt_name, nullptr, nullptr));
  bool found = false;
  for (int i = 0; i < sk_GENERAL_NAME_num(names); ++i) {
    int kind = 0;
    const auto* text =
        static_cast<const ASN1_STRING*>(::GENERAL_NAME_get0_value(sk_GENERAL_NAME_value(names, i), &kind));
    if (kind != GEN_DNS) continue;
    const auto* bytes = reinterpret_cast<const char*>(::ASN1_STRING_get0_data(text));
    found = found || name == std::string_view(bytes, static_cast<std::size_t>(::ASN1_STRING_length(text)));
  }
  ::GENERAL_NAMES_free(names);
  return found;
}

std::string Fingerprint(const X509* certificate) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned size = 0;
  TY_CHECK(::X509_digest(certificate, ::EVP_sha256(), digest.data(), &size) == 1);
  return text::Hex(digest.data(), size);
}

void PinCertificate(SSL_CTX* context, const std::string& fingerprint) {
  ::SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION);
  ::SSL_CTX_set_verify(context, SSL_VERIFY_PEER, nullptr);
  ::SSL_CTX_set_cert_verify_callback(context, Verify, const_cast<std::string*>(&fingerprint));
}

}  // namespace trainyard::tls
