#include "control/access_token.h"

#include <openssl/crypto.h>

#include "control/manifest.h"
#include "wire/metadata_host.h"

namespace trainyard::control {

namespace {

constexpr std::string_view kTokenPrefix = "ya29.trainyard.";
constexpr std::size_t kMacDigits = 40;  // a label of a host name has at most 63 characters

/// What is authenticated differs from an attempt's id by its first word: one proof cannot stand for another.
std::string Mac(const Settings& settings, const std::string& purpose, const std::string& owner) {
  return AttemptToken(settings, purpose + " " + owner).substr(0, kMacDigits);
}

/// "OWNER.MAC" with the right MAC.
std::optional<std::string> CheckedOwner(const Settings& settings, const std::string& purpose,
                                        std::string_view text) {
  const std::size_t dot = text.rfind('.');
  if (dot == std::string_view::npos) return std::nullopt;
  std::string owner(text.substr(0, dot));
  const std::string expected = Mac(settings, purpose, owner);
  const std::string_view mac = text.substr(dot + 1);
  if (mac.size() != expected.size() || CRYPTO_memcmp(mac.data(), expected.data(), mac.size()) != 0)
    return std::nullopt;
  return owner;
}

}  // namespace

std::string MetadataHostName(const Settings& settings, const std::string& attempt_id) {
  return attempt_id + "." + Mac(settings, "metadata", attempt_id) + std::string(wire::kMetadataSuffix);
}

std::optional<std::string> AttemptOfHost(const Settings& settings, std::string_view host) {
  host = host.substr(0, host.rfind(':'));
  if (!host.ends_with(wire::kMetadataSuffix)) return std::nullopt;
  return CheckedOwner(settings, "metadata", host.substr(0, host.size() - wire::kMetadataSuffix.size()));
}

std::string AccessToken(const Settings& settings, const std::string& owner) {
  return std::string(kTokenPrefix) + owner + "." + Mac(settings, "access", owner);
}

std::optional<std::string> OwnerOfToken(const Settings& settings, std::string_view token) {
  if (!token.starts_with(kTokenPrefix)) return std::nullopt;
  return CheckedOwner(settings, "access", token.substr(kTokenPrefix.size()));
}

}  // namespace trainyard::control
