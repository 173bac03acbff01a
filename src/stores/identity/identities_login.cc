#include <boost/asio/post.hpp>
#include <tuple>

#include "base/async/on_pool.h"
#include "rules/iam/principal.h"
#include "rules/iam/refusal.h"
#include "stores/identity/identities_state.h"

namespace trainyard::identity {

using boost::asio::awaitable;

namespace {

/// A hash of issuer and jti, separated by a byte that neither contains.
TokenHash AssertionId(const Jwt& jwt) { return HashOf(jwt.issuer + '\0' + jwt.id.value_or("")); }

}  // namespace

std::string IssuerOf(const Login& login) {
  if (!login.token_id.empty()) return "token " + login.token_id;
  return login.key_id.empty() ? login.credential : "key " + login.key_id;
}

Result<Login> IdentitiesState::CheckToken(std::string_view token) {
  const SysTime now = clock.Now();
  const TokenHash hash = HashOf(token);
  Result<Login> login = CheckOpaqueToken(directory, token, hash, ShownAs::kBearer, now);
  if (login) MarkUsed(hash, now);
  return login;
}

awaitable<Result<Login>> IdentitiesState::Check(std::string token, OwnAudiences own_audiences) {
  const SysTime now = clock.Now();
  if (token.size() > kJwtBytesMax)
    co_return std::unexpected(iam::Unauthenticated("The credential is too long."));
  if (token.starts_with(kTokenPrefix)) co_return CheckToken(token);
  if (!LooksLikeJwt(token)) {
    co_return std::unexpected(
        iam::Unauthenticated("The credential is neither a token of this server (ty_...) nor a JWT that a "
                             "service account's key signs."));
  }
  const TokenHash hash = HashOf(token);
  if (const Login* known = verified.Find(hash, now); known != nullptr) co_return *known;
  TY_CO_TRY(const SignedJwt jwt, co_await Verify(std::move(token)));
  if (const Status holds = CheckBearerClaims(jwt.jwt, own_audiences, now); !holds) {
    const std::string_view reason = IsOver(jwt.jwt, now) ? iam::kTokenExpired : iam::kTokenUnsupported;
    co_return std::unexpected(
        iam::Unauthenticated("The JWT is refused: " + holds.error().message + ".", reason));
  }
  Login login{.principal = iam::ServiceAccountPrincipal(jwt.email),
              .credential = "self-signed by " + jwt.key_id + " of " + jwt.email,
              .expires = AcceptedUntil(jwt.jwt),
              .key_id = jwt.key_id};
  verified.Remember(hash, login);
  co_return login;
}

awaitable<Result<SignedJwt>> IdentitiesState::Verify(std::string text) {
  TY_CO_TRY(ShownJwt read, ReadJwt(directory, text));
  if (verifying == kVerifyingMax) {
    co_return std::unexpected(Unavailable("More than " + std::to_string(kVerifyingMax) +
                                          " signatures wait to be verified: ask again in a moment"));
  }
  const auto shown = std::make_shared<ShownJwt>(std::move(read));  // shared: the caller may be gone
  ++verifying;
  auto look = [shown] { return SignerOf(*shown); };
  const std::string signer = co_await OnPool(verifiers, std::move(look));
  --verifying;
  co_return SignedBy(directory, std::move(*shown), signer);
}

Result<Login> IdentitiesState::CheckSession(std::string_view token) {
  const SysTime now = clock.Now();
  if (!IsTokenText(token)) return std::unexpected(iam::Unauthenticated("The cookie has no token."));
  const TokenHash hash = HashOf(token);
  Result<Login> login = CheckOpaqueToken(directory, token, hash, ShownAs::kCookie, now);
  if (login) MarkUsed(hash, now);
  return login;
}

awaitable<Result<Assertion>> IdentitiesState::CheckAssertion(std::string assertion,
                                                             OwnAudiences own_audiences) {
  const SysTime now = clock.Now();
  Result<SignedJwt> jwt = co_await Verify(std::move(assertion));
  if (!jwt && jwt.error().code == Code::kUnavailable) co_return std::unexpected(jwt.error());
  if (!jwt) co_return std::unexpected(InvalidArgument("assertion", jwt.error().message));
  const auto refuse = [](const std::string& why) {
    return std::unexpected(InvalidArgument("assertion", "The JWT is refused: " + why + "."));
  };
  if (const Status holds = CheckAssertionClaims(jwt->jwt, own_audiences, now); !holds)
    co_return refuse(holds.error().message);
  if (jwt->jwt.id) {
    const AccessStore::UsedAssertion proof{.id = AssertionId(jwt->jwt), .until = AcceptedUntil(jwt->jwt)};
    if (!used.Use(proof.id, proof.until, now)) co_return refuse("its jti was used before");
    auto write = [this, proof, now] { std::ignore = store.PutUsedAssertion(proof, now); };
    boost::asio::post(writer, std::move(write));
  }
  co_return Assertion{.principal = iam::ServiceAccountPrincipal(jwt->email),
                      .key_id = jwt->key_id,
                      .target_audience = jwt->jwt.target_audience.value_or("")};
}

}  // namespace trainyard::identity
