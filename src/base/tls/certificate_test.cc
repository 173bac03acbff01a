#include "base/tls/certificate.h"

#include <gtest/gtest.h>
#include <openssl/bio.h>
#include <openssl/ssl.h>

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "base/async/system_clock.h"

namespace trainyard::tls {
namespace {

using std::chrono::days;

struct Free {
  void operator()(SSL* tls) const noexcept { ::SSL_free(tls); }
  void operator()(SSL_CTX* context) const noexcept { ::SSL_CTX_free(context); }
};
using Context = std::unique_ptr<SSL_CTX, Free>;
using Tls = std::unique_ptr<SSL, Free>;

KeyPair MakeAuthorityPair() { return *MakeAuthority(SystemClock().Now(), days(30)); }
KeyPair MakeLeaf(const KeyPair& authority) {
  return *MakeServerCertificate(authority, {"any.name"}, SystemClock().Now(), days(30));
}

/// Whether the handshake of a client that pins the fingerprint succeeds with a server that has this leaf and
/// presents further certificates.
bool ShakesHands(const std::string& fingerprint, const KeyPair& leaf, const std::vector<X509*>& more) {
  const Context server(::SSL_CTX_new(::TLS_server_method()));
  ::SSL_CTX_use_certificate(server.get(), leaf.certificate.get());
  ::SSL_CTX_use_PrivateKey(server.get(), leaf.key.get());
  for (X509* one : more) ::SSL_CTX_add1_chain_cert(server.get(), one);
  const Context client(::SSL_CTX_new(::TLS_client_method()));
  PinCertificate(client.get(), fingerprint);
  const Tls asks(::SSL_new(client.get()));
  const Tls answers(::SSL_new(server.get()));
  BIO* here = nullptr;
  BIO* there = nullptr;
  ::BIO_new_bio_pair(&here, 0, &there, 0);
  ::SSL_set_bio(asks.get(), here, here);
  ::SSL_set_bio(answers.get(), there, there);
  int asked = -1;
  for (int round = 0; round < 10 && asked != 1; ++round) {
    asked = ::SSL_connect(asks.get());
    ::SSL_accept(answers.get());
  }
  return asked == 1;
}

TEST(PinnedChain, TheAuthorityOrTheLeafMayBePinned) {
  const KeyPair authority = MakeAuthorityPair();
  const KeyPair leaf = MakeLeaf(authority);
  X509* const above = authority.certificate.get();
  EXPECT_TRUE(ShakesHands(Fingerprint(above), leaf, {above}));
  EXPECT_TRUE(ShakesHands(Fingerprint(leaf.certificate.get()), leaf, {above}));
  EXPECT_TRUE(ShakesHands(Fingerprint(leaf.certificate.get()), leaf, {}));
}

TEST(PinnedChain, OthersAreRefused) {
  const KeyPair authority = MakeAuthorityPair();
  const KeyPair other = MakeAuthorityPair();
  const KeyPair leaf = MakeLeaf(other);
  EXPECT_FALSE(ShakesHands(Fingerprint(authority.certificate.get()), leaf, {other.certificate.get()}));
  EXPECT_FALSE(ShakesHands("", leaf, {}));
}

TEST(PinnedChain, APublicCertificateProvesNothing) {
  const KeyPair authority = MakeAuthorityPair();
  const KeyPair other = MakeAuthorityPair();
  const KeyPair leaf = MakeLeaf(other);
  X509* const shown = authority.certificate.get();
  EXPECT_FALSE(ShakesHands(Fingerprint(shown), leaf, {shown}));
  EXPECT_FALSE(ShakesHands(Fingerprint(shown), leaf, {other.certificate.get(), shown}));
}

}  // namespace
}  // namespace trainyard::tls
