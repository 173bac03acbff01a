#include "control/run/token_service.h"

#include <openssl/rand.h>

#include <array>
#include <chrono>
#include <utility>

#include "base/check.h"
#include "base/number.h"
#include "base/text/hex.h"
#include "base/wire/host_name.h"
#include "control/job_service.h"
#include "rules/iam/refusal.h"

namespace trainyard::control {
namespace {

constexpr std::size_t kNonceBytes = 12;

std::string MakeNonce() {
  std::array<unsigned char, kNonceBytes> bytes{};
  TY_CHECK(RAND_bytes(bytes.data(), static_cast<int>(bytes.size())) == 1);
  return text::Hex(bytes.data(), bytes.size());
}

bool IsAttempt(const std::string& owner) { return owner != kAnyReplica && owner != kAdministration; }

constexpr std::string_view kTokenPrefix = "ya29.trainyard.";
constexpr std::size_t kMacDigits = 40;  // a label of a host name has at most 63 characters

std::string ShortMac(std::string_view key, std::string_view text) {
  return Mac(key, text).substr(0, kMacDigits);
}

/// The text before the last dot, if its MAC follows that dot.
std::optional<std::string_view> Proven(std::string_view key, std::string_view text) {
  const std::size_t dot = text.rfind('.');
  if (dot == std::string_view::npos) return std::nullopt;
  const std::string_view said = text.substr(0, dot);
  if (!IsSame(text.substr(dot + 1), ShortMac(key, said))) return std::nullopt;
  return said;
}

/// Takes "REST.LAST" apart; without a dot everything is left in `rest`.
std::string_view TakeLast(std::string_view& rest) {
  const std::size_t dot = rest.rfind('.');
  if (dot == std::string_view::npos) return {};
  const std::string_view last = rest.substr(dot + 1);
  rest = rest.substr(0, dot);
  return last;
}

std::unexpected<Error> Refuse(const char* reason) {
  return std::unexpected(Error{Code::kUnauthenticated, reason, ""});
}

}  // namespace

boost::asio::awaitable<Result<std::string>> TokenService::Issue(std::string owner) {
  if (IsAttempt(owner) && !co_await jobs_.Lives(owner)) {
    co_return std::unexpected(
        PermissionDenied("The attempt " + owner + " has ended: it gets no access tokens."));
  }
  const auto now = std::chrono::floor<std::chrono::seconds>(clock_.Now());
  co_return PrintAccessToken(
      settings_.keys, {.owner = std::move(owner), .nonce = MakeNonce(), .expires = now + kAccessTokenLife});
}

boost::asio::awaitable<Result<AccessToken>> TokenService::Check(std::string token) {
  TY_CO_TRY(AccessToken read, ReadAccessToken(settings_.keys, token, clock_.Now()));
  if (!IsAttempt(read.owner) || co_await jobs_.Lives(read.owner)) co_return read;
  co_return std::unexpected(Error{
      Code::kUnauthenticated,
      "The attempt " + read.owner +
          " has ended, so its access token is not valid any more: get a new one from the metadata server.",
      ""});
}

std::string TokenService::SessionSecret(std::string_view token) const {
  return Mac(settings_.keys.session, token);
}

std::string MetadataHostName(const Keys& keys, const std::string& attempt_id) {
  return attempt_id + "." + ShortMac(keys.metadata_host, attempt_id) + std::string(wire::kMetadataSuffix);
}

std::optional<std::string> AttemptOfHost(const Keys& keys, std::string_view host) {
  host = host.substr(0, host.rfind(':'));
  if (!host.ends_with(wire::kMetadataSuffix)) return std::nullopt;
  const auto attempt = Proven(keys.metadata_host, host.substr(0, host.size() - wire::kMetadataSuffix.size()));
  return attempt ? std::optional<std::string>(*attempt) : std::nullopt;
}

std::string PrintAccessToken(const Keys& keys, const AccessToken& token) {
  const std::string said =
      token.owner + "." + std::to_string(token.expires.time_since_epoch().count()) + "." + token.nonce;
  return std::string(kTokenPrefix) + said + "." + ShortMac(keys.access, said);
}

bool LooksLikeAccessToken(std::string_view text) { return text.starts_with(kTokenPrefix); }

Result<AccessToken> ReadAccessToken(const Keys& keys, std::string_view text, SysTime now) {
  constexpr const char* kForeign =
      "The access token was not issued by this server: get one from its metadata server.";
  if (!LooksLikeAccessToken(text)) return Refuse(kForeign);
  const auto proven = Proven(keys.access, text.substr(kTokenPrefix.size()));
  if (!proven) return Refuse(kForeign);
  std::string_view rest = *proven;
  AccessToken token{.owner = {}, .nonce = std::string(TakeLast(rest)), .expires = {}};
  const std::string_view digits = TakeLast(rest);
  token.owner = std::string(rest);
  const auto seconds = WholeNumber<std::int64_t>(digits);
  if (!seconds) return Refuse(kForeign);
  token.expires = std::chrono::sys_seconds(std::chrono::seconds(*seconds));
  if (token.expires <= now)
    return std::unexpected(iam::Unauthenticated(
        "The access token has expired: get a new one from the metadata server.", iam::kTokenExpired));
  return token;
}

}  // namespace trainyard::control
