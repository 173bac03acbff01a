#include "net/front/ca_bundle.h"

#include <openssl/evp.h>

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/async/file.h"
#include "base/text/base64.h"

namespace trainyard::front {

namespace {

constexpr std::uint32_t kMagic = 0xFEEDFEED;
constexpr std::uint32_t kVersion = 2;
constexpr std::uint32_t kTrustedCertificate = 2;
constexpr std::string_view kSalt = "Mighty Aphrodite";
constexpr std::size_t kDigestBytes = 20;

/// Numbers are big-endian, as Java's DataOutputStream writes them.
template <class Number>
void AppendNumber(std::string& out, Number number) {
  for (int shift = static_cast<int>(sizeof(number)) * 8 - 8; shift >= 0; shift -= 8)
    out += static_cast<char>(number >> shift & 0xff);
}

void AppendText(std::string& out, std::string_view text) {
  AppendNumber(out, static_cast<std::uint16_t>(text.size()));
  out += text;
}

/// The certificates in DER.
std::vector<std::string> Certificates(std::string_view pem) {
  constexpr std::string_view kBegin = "-----BEGIN CERTIFICATE-----";
  constexpr std::string_view kEnd = "-----END CERTIFICATE-----";
  std::vector<std::string> found;
  for (std::size_t begin = pem.find(kBegin); begin != std::string_view::npos;
       begin = pem.find(kBegin, begin)) {
    begin += kBegin.size();
    const std::size_t end = pem.find(kEnd, begin);
    if (end == std::string_view::npos) break;
    std::string letters;
    for (const char c : pem.substr(begin, end - begin)) {
      if (c != '\n' && c != '\r' && c != ' ') letters += c;
    }
    if (std::optional<std::string> bytes = text::FromBase64(letters); bytes && !bytes->empty())
      found.push_back(*std::move(bytes));
  }
  return found;
}

/// The digest that protects the store's integrity, with the password.
Result<std::string> Digest(const std::string& store, std::string_view password) {
  std::string text;
  for (const char c : password) text.append({'\0', c});  // UTF-16
  text.append(kSalt).append(store);
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned size = 0;
  if (::EVP_Digest(text.data(), text.size(), digest.data(), &size, ::EVP_sha1(), nullptr) != 1 ||
      size != kDigestBytes)
    return std::unexpected(Internal("OpenSSL has no SHA-1"));
  return std::string(digest.begin(), digest.begin() + kDigestBytes);
}

}  // namespace

Status MakeCaBundle(const std::vector<std::string>& system, const std::filesystem::path& own,
                    const std::filesystem::path& bundle) {
  std::string text;
  for (const std::string& place : system) {
    Result<std::string> read = ReadFile(place);
    if (!read || read->empty()) continue;
    text = *std::move(read);
    break;
  }
  if (!text.empty() && !text.ends_with('\n')) text += '\n';
  TY_TRY(const std::string authority, ReadFile(own));
  text += authority;
  if (const Result<std::string> there = ReadFile(bundle); there && *there == text) return {};
  return ReplaceFile(bundle, text);
}

Result<std::string> JavaTrustStore(std::string_view pem_bundle, std::string_view password) {
  const std::vector<std::string> certificates = Certificates(pem_bundle);
  std::string store;
  AppendNumber(store, kMagic);
  AppendNumber(store, kVersion);
  AppendNumber(store, static_cast<std::uint32_t>(certificates.size()));
  for (std::size_t i = 0; i < certificates.size(); ++i) {
    AppendNumber(store, kTrustedCertificate);
    AppendText(store, "authority-" + std::to_string(i));
    AppendNumber(
        store, std::uint64_t{0});  // time of addition: constant, so that the same bundle makes the same store
    AppendText(store, "X.509");
    AppendNumber(store, static_cast<std::uint32_t>(certificates[i].size()));
    store += certificates[i];
  }
  TY_TRY(const std::string digest, Digest(store, password));
  return store + digest;
}

}  // namespace trainyard::front
