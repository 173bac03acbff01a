#include "control/run/token_service.h"

#include <openssl/rand.h>

#include <array>
#include <chrono>
#include <utility>

#include "base/check.h"
#include "base/text/hex.h"
#include "control/job_service.h"
#include "control/run/access_token.h"

namespace trainyard::control {

namespace {

constexpr std::size_t kNonceBytes = 12;

std::string MakeNonce() {
  std::array<unsigned char, kNonceBytes> bytes{};
  TY_CHECK(RAND_bytes(bytes.data(), static_cast<int>(bytes.size())) == 1);
  return text::Hex(bytes.data(), bytes.size());
}

bool IsAttempt(const std::string& owner) { return owner != kAnyReplica && owner != kAdministration; }

}  // namespace

boost::asio::awaitable<Result<std::string>> TokenService::Issue(std::string owner) {
  if (IsAttempt(owner) && !co_await jobs_.Lives(owner)) {
    co_return std::unexpected(
        Error{Code::kPermissionDenied, "The attempt " + owner + " has ended: it gets no access tokens.", ""});
  }
  const auto now = std::chrono::floor<std::chrono::seconds>(clock_.Now());
  co_return PrintAccessToken(
      settings_.keys, {.owner = std::move(owner), .nonce = MakeNonce(), .expires = now + kAccessTokenLife});
}

boost::asio::awaitable<Result<AccessToken>> TokenService::Check(std::string token) {
  TY_CO_TRY(AccessToken read, ReadAccessToken(settings_.keys, token, clock_.Now()));
  if (!IsAttempt(read.owner) || co_await jobs_.Lives(read.owner)) co_return read;
  co_return std::unexpected(Error{Code::kUnauthenticated,
                                  "The access token died with the attempt " + read.owner +
                                      ", which has ended: ask the metadata server for a new one.",
                                  ""});
}

std::string TokenService::SessionSecret(std::string_view token) const {
  return Mac(settings_.keys.session, token);
}

}  // namespace trainyard::control
