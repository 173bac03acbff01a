#include "stores/identity/identities.h"

#include <boost/asio/post.hpp>
#include <tuple>

#include "base/async/on_pool.h"
#include "base/async/random_bytes.h"
#include "base/text/hex.h"
#include "base/text/json_string.h"
#include "base/wire/time.h"
#include "rules/iam/principal.h"
#include "stores/identity/account_changes.h"
#include "stores/identity/identities_state.h"
#include "stores/identity/policy_changes.h"
#include "stores/identity/token_changes.h"

namespace trainyard::identity {
using boost::asio::awaitable;

Identities::Identities(std::unique_ptr<IdentitiesState> state) noexcept : state_(std::move(state)) {}

Identities::~Identities() = default;

Result<std::unique_ptr<Identities>> Identities::Open(boost::asio::any_io_executor loop, const Clock& clock,
                                                     Options options) {
  TY_TRY(std::unique_ptr<IdentitiesState> state,
         IdentitiesState::Open(std::move(loop), clock, std::move(options)));
  return std::unique_ptr<Identities>(new Identities(std::move(state)));
}

awaitable<Result<Login>> Identities::Check(std::string token, std::span<const std::string> own_audiences) {
  return state_->Check(std::move(token), own_audiences);
}

Result<Login> Identities::CheckToken(std::string_view token) { return state_->CheckToken(token); }

Result<Login> Identities::CheckSession(std::string_view token) { return state_->CheckSession(token); }

bool Identities::StillHolds(const Login& login) const { return StillProves(state_->directory, login); }

awaitable<Result<Assertion>> Identities::CheckAssertion(std::string assertion,
                                                        std::span<const std::string> own_audiences) {
  return state_->CheckAssertion(std::move(assertion), own_audiences);
}

awaitable<Result<Identities::IssuedToken>> Identities::MakeToken(NewToken wanted) {
  const std::string text = PrintToken(RandomBytes<TokenSecret>());
  IdentitiesState* state = state_.get();
  StillMay still_may = std::move(wanted.still_may);
  auto decide = [state, wanted = std::move(wanted), text]() -> Result<AccessChange> {
    return state->DecideToken(wanted, text);
  };
  TY_CO_TRY(const AccessChange change, co_await state->Change(std::move(decide), std::move(still_may)));
  co_return IssuedToken{.text = text, .token = change.tokens.front().record};
}

std::vector<v1::Token> Identities::Tokens(std::string_view principal) const {
  std::vector<v1::Token> tokens;
  for (const StoredToken* token :
       principal.empty() ? state_->directory.AllTokens() : state_->directory.TokensOf(principal))
    tokens.push_back(token->record);
  return tokens;
}

awaitable<Status> Identities::RevokeToken(std::string id) {
  return state_->Do(state_->By(TokenRevoked, std::move(id)));
}

}  // namespace trainyard::identity
