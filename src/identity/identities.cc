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

}  // namespace

Identities::Identities(std::unique_ptr<IdentitiesState> state) noexcept : state_(std::move(state)) {}

Identities::~Identities() = default;

Result<std::unique_ptr<Identities>> Identities::Open(boost::asio::any_io_executor loop, const Clock& clock,
                                                     Options options) {
  TY_TRY(std::unique_ptr<IdentitiesState> state,
         IdentitiesState::Open(std::move(loop), clock, std::move(options)));
  return std::unique_ptr<Identities>(new Identities(std::move(state)));
}

Result<Login> Identities::Check(std::string_view token, std::span<const std::string> own_audiences) {
  return state_->Check(token, own_audiences);
}

Result<Login> Identities::CheckSession(std::string_view token) { return state_->CheckSession(token); }

bool Identities::StillHolds(const Login& login) const { return StillProves(state_->directory, login); }

Result<Identities::Assertion> Identities::CheckAssertion(std::string_view assertion,
                                                         std::span<const std::string> own_audiences) {
  return state_->CheckAssertion(assertion, own_audiences);
}

awaitable<Result<Identities::MadeToken>> Identities::MakeToken(NewToken wanted) {
  const std::string text = PrintToken(RandomBytes<TokenSecret>());
  IdentitiesState* state = state_.get();
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
  IdentitiesState* state = state_.get();
  auto decide = [state, id = std::move(id)] { return TokenRevoked(state->directory, id); };
  return state->Do(std::move(decide));
}

void Identities::OnChanged(std::function<void()> observer) {
  state_->observers.push_back(std::move(observer));
}

}  // namespace trainyard::identity
