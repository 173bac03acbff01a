#include <boost/asio/post.hpp>
#include <tuple>

#include "iam/principal.h"
#include "iam/refusal.h"
#include "identity/identities_state.h"

namespace trainyard::identity {
namespace {

/// Of issuer and jti, told apart by a byte that neither has.
TokenHash AssertionId(const Jwt& jwt) { return HashOf(jwt.issuer + '\0' + jwt.id.value_or("")); }

}  // namespace

std::string IssuerOf(const Login& login) {
  if (!login.token_id.empty()) return "token " + login.token_id;
  return login.key_id.empty() ? login.credential : "key " + login.key_id;
}

Result<Login> IdentitiesState::Check(std::string_view token, std::span<const std::string> own_audiences) {
  const SysTime now = clock.Now();
  if (token.size() > kJwtBytesMax)
    return std::unexpected(iam::Unauthenticated("The credential is too long."));
  const TokenHash hash = HashOf(token);
  if (token.starts_with(kTokenPrefix)) {
    Result<Login> login = CheckOpaqueToken(directory, token, hash, ShownAs::kBearer, now);
    if (login) MarkUsed(hash, now);
    return login;
  }
  if (!LooksLikeJwt(token)) {
    return std::unexpected(
        iam::Unauthenticated("The credential is neither a token of this server (ty_...) nor a JWT that a "
                             "service account's key signs."));
  }
  if (const Login* known = verified.Find(hash, now); known != nullptr) return *known;
  TY_TRY(const SignedJwt jwt, VerifyJwt(directory, token));
  if (const Status holds = CheckBearerClaims(jwt.jwt, own_audiences, now); !holds) {
    const std::string_view reason = IsOver(jwt.jwt, now) ? iam::kTokenExpired : iam::kTokenUnsupported;
    return std::unexpected(
        iam::Unauthenticated("The JWT is refused: " + holds.error().message + ".", reason));
  }
  Login login{.principal = iam::ServiceAccountPrincipal(jwt.email),
              .credential = "self-signed by " + jwt.key_id + " of " + jwt.email,
              .expires = AcceptedUntil(jwt.jwt),
              .key_id = jwt.key_id};
  verified.Remember(hash, login);
  return login;
}

Result<Login> IdentitiesState::CheckSession(std::string_view token) {
  const SysTime now = clock.Now();
  if (!IsTokenText(token)) return std::unexpected(iam::Unauthenticated("The cookie has no token."));
  const TokenHash hash = HashOf(token);
  Result<Login> login = CheckOpaqueToken(directory, token, hash, ShownAs::kCookie, now);
  if (login) MarkUsed(hash, now);
  return login;
}

Result<Identities::Assertion> IdentitiesState::CheckAssertion(std::string_view assertion,
                                                              std::span<const std::string> own_audiences) {
  const SysTime now = clock.Now();
  Result<SignedJwt> jwt = VerifyJwt(directory, assertion);
  if (!jwt) return std::unexpected(InvalidArgument("assertion", jwt.error().message));
  const auto refuse = [](const std::string& why) {
    return std::unexpected(InvalidArgument("assertion", "The JWT is refused: " + why + "."));
  };
  if (const Status holds = CheckAssertionClaims(jwt->jwt, own_audiences, now); !holds)
    return refuse(holds.error().message);
  if (jwt->jwt.id) {
    const AccessStore::UsedAssertion proof{.id = AssertionId(jwt->jwt), .until = AcceptedUntil(jwt->jwt)};
    if (!used.Use(proof.id, proof.until, now)) return refuse("its jti was used before");
    auto write = [this, proof, now] { std::ignore = store.PutUsedAssertion(proof, now); };
    boost::asio::post(writer, std::move(write));
  }
  return Identities::Assertion{.principal = iam::ServiceAccountPrincipal(jwt->email),
                               .key_id = jwt->key_id,
                               .target_audience = jwt->jwt.target_audience.value_or("")};
}

}  // namespace trainyard::identity
