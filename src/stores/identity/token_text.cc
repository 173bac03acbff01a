#include "stores/identity/token_text.h"

#include <openssl/evp.h>

#include <algorithm>

#include "base/check.h"
#include "base/crc32c.h"

namespace trainyard::identity {
namespace {

constexpr std::string_view kDigits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
constexpr std::size_t kSecretDigits = 43;   // 62^43 is just above 2^256
constexpr std::size_t kChecksumDigits = 6;  // 62^6 is above 2^32
constexpr unsigned kByteValues = 256;

/// Takes the last digit (base 62) of a number of 256 bits (most significant byte first), and divides it by
/// 62.
char TakeDigit(TokenSecret& number) {
  unsigned rest = 0;
  for (std::uint8_t& byte : number) {
    const unsigned value = rest * kByteValues + byte;
    byte = static_cast<std::uint8_t>(value / kDigits.size());
    rest = value % kDigits.size();
  }
  return kDigits[rest];
}

std::string Checksum(std::string_view secret_digits) {
  std::uint32_t sum = Crc32c(secret_digits);
  std::string digits(kChecksumDigits, '0');
  for (auto digit = digits.rbegin(); digit != digits.rend(); ++digit, sum /= kDigits.size())
    *digit = kDigits[sum % kDigits.size()];
  return digits;
}

}  // namespace

std::string PrintToken(const TokenSecret& secret) {
  TokenSecret number = secret;
  std::string digits(kSecretDigits, '0');
  for (auto digit = digits.rbegin(); digit != digits.rend(); ++digit) *digit = TakeDigit(number);
  return std::string(kTokenPrefix) + digits + Checksum(digits);
}

bool IsTokenText(std::string_view text) {
  if (text.size() != kTokenTextBytes || !text.starts_with(kTokenPrefix)) return false;
  const std::string_view digits = text.substr(kTokenPrefix.size(), kSecretDigits);
  const bool known = std::ranges::all_of(digits, [](char c) { return kDigits.contains(c); });
  return known && text.substr(kTokenPrefix.size() + kSecretDigits) == Checksum(digits);
}

TokenHash HashOf(std::string_view text) {
  TokenHash hash{};
  TY_CHECK(EVP_Digest(text.data(), text.size(), hash.data(), nullptr, EVP_sha256(), nullptr) == 1);
  return hash;
}

}  // namespace trainyard::identity
