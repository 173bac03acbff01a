#include "store/page_token.h"

#include <algorithm>
#include <cstring>

namespace trainyard::store {

namespace {

constexpr std::string_view kAlphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
constexpr std::size_t kNumberBytes = 8;

void AppendWord(std::string& bytes, std::uint64_t word) {
  for (std::size_t i = 0; i < kNumberBytes; ++i) bytes += static_cast<char>(word >> (8 * i));
}

std::uint64_t Mac(const PageTokenKey& key, std::string_view context, std::string_view position) {
  std::string sealed;
  AppendWord(sealed, context.size());
  sealed += context;
  sealed += position;
  return SipHash(key, sealed);
}

/// Six bits a letter, the first bit of a byte first; bits that fill the last letter are zero.
std::string EncodeBase64(std::string_view bytes) {
  std::string text;
  std::uint32_t bits = 0;
  int count = 0;
  for (const char byte : bytes) {
    bits = bits << 8 | static_cast<std::uint8_t>(byte);
    for (count += 8; count >= 6; count -= 6) text += kAlphabet[bits >> (count - 6) & 63];
  }
  if (count > 0) text += kAlphabet[bits << (6 - count) & 63];
  return text;
}

std::string DecodeBase64(std::string_view text) {
  std::string bytes;
  std::uint32_t bits = 0;
  int count = 0;
  for (const char letter : text) {
    const std::size_t value = kAlphabet.find(letter);
    if (value == std::string_view::npos) return {};
    bits = bits << 6 | static_cast<std::uint32_t>(value);
    count += 6;
    if (count < 8) continue;
    count -= 8;
    bytes += static_cast<char>(bits >> count);
  }
  return bytes;
}

}  // namespace

Result<PageTokenKey> ParsePageTokenKey(std::string_view bytes) {
  PageTokenKey key;
  if (bytes.size() != key.size())
    return std::unexpected(Error{Code::kDataLoss, "malformed page token key", {}});
  std::memcpy(key.data(), bytes.data(), key.size());
  return key;
}

std::string SealPageToken(const PageTokenKey& key, std::string_view context,
                          std::span<const std::int64_t> position) {
  std::string bytes;
  for (const std::int64_t number : position) AppendWord(bytes, static_cast<std::uint64_t>(number));
  AppendWord(bytes, Mac(key, context, bytes));
  return EncodeBase64(bytes);
}

Status OpenPageToken(const PageTokenKey& key, std::string_view context, std::string_view token,
                     std::span<std::int64_t> position) {
  const std::size_t body = position.size() * kNumberBytes;
  const Error refused = InvalidArgument("page_token", "The page token is not valid for this request");
  if (token.size() != ((body + kNumberBytes) * 8 + 5) / 6) return std::unexpected(refused);
  const std::string bytes = DecodeBase64(token);
  if (bytes.size() != body + kNumberBytes || EncodeBase64(bytes) != token) return std::unexpected(refused);
  const std::string_view numbers = std::string_view(bytes).substr(0, body);
  if (LittleEndianWord(std::string_view(bytes).substr(body)) != Mac(key, context, numbers))
    return std::unexpected(refused);
  for (std::size_t i = 0; i < position.size(); ++i) {
    position[i] = static_cast<std::int64_t>(LittleEndianWord(numbers.substr(i * kNumberBytes)));
  }
  return {};
}

}  // namespace trainyard::store
