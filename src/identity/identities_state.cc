#include "identity/identities_state.h"

#include <boost/asio/post.hpp>
#include <tuple>

#include "async/on_pool.h"
#include "async/random_bytes.h"
#include "identity/id_token.h"
#include "identity/policy_changes.h"
#include "identity/token_changes.h"
#include "wire/time.h"

namespace trainyard::identity {

using boost::asio::awaitable;

std::string RandomEtag() {
  const auto bytes = RandomBytes<std::array<char, 8>>();
  return {bytes.data(), bytes.size()};
}

IdentitiesState::IdentitiesState(boost::asio::any_io_executor executor, const Clock& used_clock,
                                 Identities::Options options, AccessStore opened)
    : loop(std::move(executor)),
      clock(used_clock),
      store(std::move(opened)),
      directory(std::move(options.default_project)),
      swept(clock.Now()),
      turns(loop, 1) {}

Result<std::unique_ptr<IdentitiesState>> IdentitiesState::Open(boost::asio::any_io_executor loop,
                                                               const Clock& clock,
                                                               Identities::Options options) {
  TY_TRY(AccessStore store, AccessStore::Open(options.path));
  TY_TRY(const AccessChange all, store.Load());
  TY_TRY(const std::vector<AccessStore::UsedAssertion> used, store.UsedAssertions());
  TY_TRY(const std::optional<std::string> pem, store.SigningKey());
  auto state =
      std::make_unique<IdentitiesState>(std::move(loop), clock, std::move(options), std::move(store));
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
  return state;
}

IdentitiesState::~IdentitiesState() {
  makers.join();
  writer.join();  // last uses that wait are written
}

awaitable<Result<AccessChange>> IdentitiesState::Change(Decide decide) {
  Turns::Waiter turn(turns);
  turn.Want();
  if (!co_await turn.WaitFor(kTurnMax)) {
    co_return std::unexpected(
        Unavailable("access.db is busy with other changes for " + std::to_string(kTurnMax.count()) + " s"));
  }
  TY_CO_TRY(AccessChange decided, decide());
  // Shared with the writer, which goes on if the caller is gone.
  auto change = std::make_shared<const AccessChange>(std::move(decided));
  auto write = [this, change] { return store.Apply(*change); };
  TY_CO_RETURN_IF_ERROR(co_await OnPool(writer, std::move(write)));
  // No wait from here on: what is written is also known.
  directory.Apply(*change);
  verified.Forget();
  NotifyObservers();
  co_return *change;
}

awaitable<Status> IdentitiesState::Do(Decide decide) {
  TY_CO_RETURN_IF_ERROR(co_await Change(std::move(decide)));
  co_return Status{};
}

awaitable<Result<std::string>> IdentitiesState::SignClaims(std::string claims) {
  if (!signing_key) {
    TY_CO_TRY(RsaPrivateKey made, co_await OnPool(makers, RsaPrivateKey::Generate));
    // Another call may have made one meanwhile: the writer keeps the first.
    auto keep = [this, made = std::move(made)] { return FirstSigningKey(store, made); };
    TY_CO_TRY(RsaPrivateKey kept, co_await OnPool(writer, std::move(keep)));
    signing_key = std::move(kept);
  }
  auto sign = [key = *signing_key, claims = std::move(claims)] { return SignIdToken(key, claims); };
  co_return co_await OnPool(makers, std::move(sign));
}

void IdentitiesState::MarkUsed(const TokenHash& hash, SysTime now) {
  const KeptToken* token = directory.FindToken(hash);
  if (token == nullptr) return;
  if (token->record.has_last_use_time() &&
      wire::FromProto(token->record.last_use_time()) + kLastUseStep > now)
    return;
  token = directory.SetLastUse(hash, wire::ToProto(std::chrono::floor<std::chrono::hours>(now)));
  auto write = [this, hash, record = token->record] { std::ignore = store.PutLastUse(hash, record); };
  boost::asio::post(writer, std::move(write));
}

void IdentitiesState::NotifyObservers() const {
  for (const auto& observer : observers) observer();
}

}  // namespace trainyard::identity
