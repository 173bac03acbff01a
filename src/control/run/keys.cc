#include "control/run/keys.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>

#include <array>

#include "base/check.h"
#include "base/text/hex.h"

namespace trainyard::control {

namespace {

constexpr std::size_t kDigestBytes = 32;  // SHA-256

std::string Hmac(std::string_view key, std::string_view text) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned size = 0;
  const unsigned char* made =
      HMAC(EVP_sha256(), key.data(), static_cast<int>(key.size()),
           reinterpret_cast<const unsigned char*>(text.data()), text.size(), digest.data(), &size);
  TY_CHECK(made != nullptr && size == kDigestBytes);
  return {reinterpret_cast<const char*>(digest.data()), size};
}

}  // namespace

Keys Keys::Derive(std::string_view secret) {
  return {.attempt = Hmac(secret, "trainyard/1 attempt"),
          .metadata_host = Hmac(secret, "trainyard/1 metadata host"),
          .access = Hmac(secret, "trainyard/1 access token"),
          .shell = Hmac(secret, "trainyard/1 shell"),
          .session = Hmac(secret, "trainyard/1 session"),
          .ports = Hmac(secret, "trainyard/1 ports")};
}

std::string Mac(std::string_view key, std::string_view text) { return text::Hex(Hmac(key, text)); }

bool IsSame(std::string_view presented, std::string_view expected) {
  return presented.size() == expected.size() &&
         CRYPTO_memcmp(presented.data(), expected.data(), expected.size()) == 0;
}

}  // namespace trainyard::control
