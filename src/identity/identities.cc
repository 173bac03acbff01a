#include "identity/identities.h"

#include <boost/asio/post.hpp>
#include <tuple>

#include "async/on_pool.h"
#include "async/random_bytes.h"
#include "iam/principal.h"
#include "identity/account_changes.h"
#include "identity/identities_state.h"
#include "identity/policy_changes.h"
#include "identity/token_changes.h"
#include "text/hex.h"
#include "text/json_string.h"
#include "wire/time.h"

namespace trainyard::identity {
namespace {

using boost::asio::awaitable;

constexpr std::size_t kTokenIdBytes = 5;

std::string RandomTokenId() {
  const auto bytes = RandomBytes<std::array<std::uint8_t, kTokenIdBytes>>();
  return text::Hex(bytes.data(), bytes.size());
}

/// Of issuer and jti, told apart by a byte that neither has.
TokenHash AssertionId(const Jwt& jwt) { return HashOf(jwt.issuer + '\0' + jwt.id.value_or("")); }

}  // namespace

Identities::Identities(std::unique_ptr<State> state) noexcept : state_(std::move(state)) {}

Identities::~Identities() = default;

Result<std::unique_ptr<Identities>> Identities::Open(boost::asio::any_io_executor loop, const Clock& clock,
                                                     Options options) {
  TY_TRY(AccessStore store, AccessStore::Open(options.path));
  TY_TRY(const AccessChange all, store.Load());
  TY_TRY(const std::vector<AccessStore::UsedAssertion> used, store.UsedAssertions());
  TY_TRY(const std::optional<std::string> pem, store.SigningKey());
  auto state = std::make_unique<State>(std::move(loop), clock, std::move(options), std::move(store));
  state->directory.Apply(all);
  const SysTime now = clock.Now();
  for (const AccessStore::UsedAssertion& one : used) std::ignore = state->used.Use(one.id, one.until, now);
  if (pem) {
    TY_TRY(RsaPrivateKey key, RsaPrivateKey::FromPem(*pem));
    state->signing_key = std::move(key);
  }
  AccessChange first = ExpiredTokensDropped(state->directory, now);
  if (state->directory.FindPolicy(iam::Resource::Installation()) == nullptr)
    first.policies = FirstAdministrator(RandomEtag()).policies;
  TY_RETURN_IF_ERROR(state->store.Apply(first));
  state->directory.Apply(first);
  return std::unique_ptr<Identities>(new Identities(std::move(state)));
}

Result<Login> Identities::Check(std::string_view token, std::span<const std::string> own_audiences) {
  const SysTime now = state_->clock.Now();
  if (token.size() > kJwtBytesMax)
    return std::unexpected(Error{Code::kUnauthenticated, "The credential is too long.", {}});
  const TokenHash hash = HashOf(token);
  if (token.starts_with(kTokenPrefix)) {
    Result<Login> login = CheckOpaqueToken(state_->directory, token, hash, now);
    if (login) state_->MarkUsed(hash, now);
    return login;
  }
  if (!LooksLikeJwt(token)) {
    return std::unexpected(Error{Code::kUnauthenticated,
                                 "The credential is neither a token of this server (ty_...) nor a JWT that a "
                                 "service account's key signs.",
                                 {}});
  }
  if (const Login* known = state_->verified.Find(hash, now); known != nullptr) return *known;
  TY_TRY(const SignedJwt jwt, VerifyJwt(state_->directory, token));
  if (const Status holds = CheckBearerClaims(jwt.jwt, own_audiences, now); !holds) {
    return std::unexpected(
        Error{Code::kUnauthenticated, "The JWT is refused: " + holds.error().message + ".", {}});
  }
  Login login{.principal = iam::ServiceAccountPrincipal(jwt.email),
              .credential = "self-signed by " + jwt.key_id + " of " + jwt.email,
              .expires = AcceptedUntil(jwt.jwt),
              .key_id = jwt.key_id};
  state_->verified.Remember(hash, login);
  return login;
}

bool Identities::StillHolds(const Login& login) const { return StillProves(state_->directory, login); }

Result<Identities::Assertion> Identities::CheckAssertion(std::string_view assertion,
                                                         std::span<const std::string> own_audiences) {
  const SysTime now = state_->clock.Now();
  Result<SignedJwt> jwt = VerifyJwt(state_->directory, assertion);
  if (!jwt) return std::unexpected(InvalidArgument("assertion", jwt.error().message));
  const auto refuse = [](const std::string& why) {
    return std::unexpected(InvalidArgument("assertion", "The JWT is refused: " + why + "."));
  };
  if (const Status holds = CheckAssertionClaims(jwt->jwt, own_audiences, now); !holds)
    return refuse(holds.error().message);
  if (jwt->jwt.id) {
    const AccessStore::UsedAssertion used{.id = AssertionId(jwt->jwt), .until = AcceptedUntil(jwt->jwt)};
    if (!state_->used.Use(used.id, used.until, now)) return refuse("its jti was used before");
    auto write = [state = state_.get(), used, now] {
      std::ignore = state->store.PutUsedAssertion(used, now);
    };
    boost::asio::post(state_->writer, std::move(write));
  }
  return Assertion{.principal = iam::ServiceAccountPrincipal(jwt->email),
                   .key_id = jwt->key_id,
                   .target_audience = jwt->jwt.target_audience.value_or("")};
}

awaitable<Result<Identities::MadeToken>> Identities::MakeToken(NewToken wanted) {
  const std::string text = PrintToken(RandomBytes<TokenSecret>());
  State* state = state_.get();
  auto decide = [state, wanted = std::move(wanted), text]() -> Result<AccessChange> {
    const SysTime now = state->clock.Now();
    TY_TRY(AccessChange change, TokenMade(state->directory, wanted, RandomTokenId(), HashOf(text), now));
    if (now - state->swept < kSweepStep) return change;
    state->swept = now;
    AccessChange expired = ExpiredTokensDropped(state->directory, now);
    change.tokens_dropped.insert(change.tokens_dropped.end(), expired.tokens_dropped.begin(),
                                 expired.tokens_dropped.end());
    return change;
  };
  TY_CO_TRY(const AccessChange change, co_await state->Change(std::move(decide)));
  co_return MadeToken{.text = text, .token = change.tokens.front().record};
}

std::vector<v1::Token> Identities::Tokens(std::string_view principal) const {
  std::vector<v1::Token> tokens;
  for (const KeptToken* token :
       principal.empty() ? state_->directory.AllTokens() : state_->directory.TokensOf(principal))
    tokens.push_back(token->record);
  return tokens;
}

awaitable<Status> Identities::RevokeToken(std::string id) {
  State* state = state_.get();
  auto decide = [state, id = std::move(id)] { return TokenRevoked(state->directory, id); };
  TY_CO_RETURN_IF_ERROR(co_await state->Change(std::move(decide)));
  co_return Status{};
}

void Identities::OnChanged(std::function<void()> observer) {
  state_->observers.push_back(std::move(observer));
}

}  // namespace trainyard::identity
