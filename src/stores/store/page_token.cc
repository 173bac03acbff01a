#include "stores/store/page_token.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>

#include <algorithm>

#include "base/check.h"
#include "base/text/base64.h"

namespace trainyard::store {

namespace {

constexpr std::size_t kNumberBytes = 8;
constexpr std::size_t kSealBytes = 16;  // of HMAC-SHA256's 32

void AppendNumber(std::string& bytes, std::uint64_t number) {
  for (std::size_t i = 0; i < kNumberBytes; ++i) bytes += static_cast<char>(number >> (8 * i));
}

std::uint64_t ReadNumber(std::string_view bytes) {
  std::uint64_t number = 0;
  for (std::size_t i = kNumberBytes; i > 0; --i)
    number = number << 8 | static_cast<unsigned char>(bytes[i - 1]);
  return number;
}

/// The length of the context is part of the text, so that context and position cannot run together.
std::string Seal(const PageTokenKey& key, std::string_view context, std::string_view position) {
  std::string sealed;
  AppendNumber(sealed, context.size());
  sealed.append(context).append(position);
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  TY_CHECK(HMAC(EVP_sha256(), key.data(), static_cast<int>(key.size()),
                reinterpret_cast<const unsigned char*>(sealed.data()), sealed.size(), digest.data(),
                nullptr) != nullptr);
  return {reinterpret_cast<const char*>(digest.data()), kSealBytes};
}

}  // namespace

Result<PageTokenKey> ParsePageTokenKey(std::string_view bytes) {
  PageTokenKey key;
  if (bytes.size() != key.size()) return std::unexpected(DataLoss("malformed page token key"));
  std::ranges::copy(bytes, key.begin());
  return key;
}

Result<PageTokenKey> ReadPageTokenKey(sqlite::Database& database) {
  TY_TRY(sqlite::Statement select, database.Prepare("SELECT value FROM page_token_key"));
  sqlite::Cursor row = select.Query();
  TY_TRY(const bool found, row.Next());
  return ParsePageTokenKey(found ? row.Bytes(0) : std::string_view());
}

Status ReplaceLostPageTokenKey(sqlite::Database& database) {
  return database.Execute(
      "INSERT INTO page_token_key SELECT randomblob(16) WHERE NOT EXISTS (SELECT 1 FROM page_token_key)");
}

std::string SealPageToken(const PageTokenKey& key, std::string_view context,
                          std::span<const std::int64_t> position) {
  std::string bytes;
  for (const std::int64_t number : position) AppendNumber(bytes, static_cast<std::uint64_t>(number));
  bytes += Seal(key, context, bytes);
  return text::Base64(bytes, text::Base64Form::kUrlBare);
}

Status OpenPageToken(const PageTokenKey& key, std::string_view context, std::string_view token,
                     std::span<std::int64_t> position) {
  const std::size_t body = position.size() * kNumberBytes;
  const Error refused = InvalidArgument("page_token", "The page token is not valid for this request");
  const auto bytes = text::FromBase64(token, text::Base64Form::kUrlBare);
  if (!bytes || bytes->size() != body + kSealBytes) return std::unexpected(refused);
  // A token has one spelling: the unused bits of its last letter must be zero.
  if (text::Base64(*bytes, text::Base64Form::kUrlBare) != token) return std::unexpected(refused);
  const std::string_view numbers = std::string_view(*bytes).substr(0, body);
  if (CRYPTO_memcmp(bytes->data() + body, Seal(key, context, numbers).data(), kSealBytes) != 0)
    return std::unexpected(refused);
  for (std::size_t i = 0; i < position.size(); ++i) {
    position[i] = static_cast<std::int64_t>(ReadNumber(numbers.substr(i * kNumberBytes)));
  }
  return {};
}

}  // namespace trainyard::store
