#include "base/tls/pinned_chain.h"

#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <openssl/x509_vfy.h>

#include <array>
#include <memory>

#include "base/check.h"
#include "base/text/hex.h"

namespace trainyard::tls {

namespace {

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
  // The pinned one may be the leaf, or one that another has signed; clocks of nodes are what they are.
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
