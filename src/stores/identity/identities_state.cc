#include "stores/identity/identities_state.h"

#include <boost/asio/post.hpp>
#include <tuple>

#include "base/async/diagnostics.h"
#include "base/async/on_pool.h"
#include "base/async/random_bytes.h"
#include "base/wire/time.h"
#include "rules/iam/refusal.h"
#include "stores/identity/jwt.h"
#include "stores/identity/policy_changes.h"
#include "stores/identity/token_changes.h"

namespace trainyard::identity {

using boost::asio::awaitable;

namespace {

constexpr std::size_t kTokenIdBytes = 5;

}  // namespace

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
  const auto projects_of_jobs = std::move(options.projects_of_jobs);
  auto state =
      std::make_unique<IdentitiesState>(std::move(loop), clock, std::move(options), std::move(store));
  state->directory.Apply(all);
  const SysTime now = clock.Now();
  for (const AccessStore::UsedAssertion& one : used) std::ignore = state->used.Use(one.id, one.until, now);
  if (pem) {
    TY_TRY(RsaPrivateKey key, RsaPrivateKey::FromPem(*pem));
    state->signing_key = std::move(key);
  }
  const bool was_used = state->directory.FindPolicy(iam::Resource::Installation()) != nullptr;
  TY_RETURN_IF_ERROR(state->OpenNumbers(was_used, projects_of_jobs));
  AccessChange first = ExpiredTokensDropped(state->directory, now);
  if (!was_used) first.policies = FirstAdministrator(RandomEtag()).policies;
  TY_RETURN_IF_ERROR(state->store.Apply(first));
  state->directory.Apply(first);
  return state;
}

Status IdentitiesState::OpenNumbers(
    bool was_used, const std::function<Result<std::vector<std::string>>()>& projects_of_jobs) {
  TY_TRY(const std::optional<std::string> secret, store.NumberSecret());
  if (secret) {
    number_secret = *secret;
    return {};
  }
  const auto bytes = RandomBytes<std::array<char, 32>>();
  number_secret.assign(bytes.data(), bytes.size());
  if (was_used) {
    auto projects = directory.projects();
    if (projects_of_jobs) {
      TY_TRY(const std::vector<std::string> of_jobs, projects_of_jobs());
      projects.insert(of_jobs.begin(), of_jobs.end());
    }
    AccessChange change;
    change.numbers = NumbersFromBefore(directory.numbers(), number_secret, projects);
    TY_RETURN_IF_ERROR(store.Apply(change));
    directory.Apply(change);
  }
  return store.PutNumberSecret(number_secret);  // last: if a power cut interrupts this, it is done again
}

std::int64_t IdentitiesState::ShownNumber(std::string_view project) {
  if (directory.numbers().Of(project) || directory.projects().contains(project)) return NumberOf(project);
  const ProjectNumber chosen = directory.numbers().Choose(number_secret, project);
  directory.ShowNumber(chosen);
  return chosen.number;
}

std::int64_t IdentitiesState::NumberOf(std::string_view project) {
  if (const auto given = directory.numbers().Of(project)) return *given;
  ProjectNumber chosen = directory.numbers().Choose(number_secret, project);
  const std::int64_t number = chosen.number;
  if (directory.numbers().IsFull()) return number;
  AccessChange change;
  change.numbers.push_back(std::move(chosen));
  directory.Apply(change);
  auto write = [this, change = std::move(change)] {
    const Status written = store.Apply(change);
    if (!written)
      Diagnose(DiagnosticLevel::kError, "access.db: a project's number: " + written.error().message);
  };
  boost::asio::post(writer, std::move(write));
  return number;
}

IdentitiesState::~IdentitiesState() {
  verifiers.join();
  makers.join();
  writer.join();  // waiting last uses are written
}

awaitable<Status> CheckStillMay(StillMay still_may) {
  const bool may = !still_may || co_await still_may();
  if (may) co_return Status{};
  co_return std::unexpected(iam::Unauthenticated(
      "The credential was revoked, or lost its permission, while the request waited: nothing was changed."));
}

awaitable<Result<AccessChange>> IdentitiesState::Change(Decide decide, StillMay still_may) {
  Turns::Waiter turn(turns);
  turn.Want();
  if (!co_await turn.WaitFor(kTurnMax)) {
    co_return std::unexpected(
        Unavailable("access.db is busy with other changes for " + std::to_string(kTurnMax.count()) + " s"));
  }
  // In this change's turn: a completed revocation is seen, and none can happen before this change.
  TY_CO_RETURN_IF_ERROR(co_await CheckStillMay(std::move(still_may)));
  TY_CO_TRY(AccessChange decided, decide());
  // Shared with the writer, which continues if the caller is gone.
  auto change = std::make_shared<const AccessChange>(std::move(decided));
  auto write = [this, change] { return store.Apply(*change); };
  TY_CO_RETURN_IF_ERROR(co_await OnPool(writer, std::move(write)));
  // No waiting from here on, so that what is written also takes effect.
  directory.Apply(*change);
  verified.Forget();
  co_return *change;
}

Result<AccessChange> IdentitiesState::DecideToken(const NewToken& wanted, std::string_view text) {
  const SysTime now = clock.Now();
  TY_TRY(AccessChange change, TokenMade(directory, wanted, RandomHex<kTokenIdBytes>(), HashOf(text), now));
  if (now - swept < kSweepStep) return change;
  swept = now;
  AccessChange expired = ExpiredTokensDropped(directory, now);
  change.tokens_dropped.insert(change.tokens_dropped.end(), expired.tokens_dropped.begin(),
                               expired.tokens_dropped.end());
  return change;
}

awaitable<Status> IdentitiesState::Do(Decide decide, StillMay still_may) {
  TY_CO_RETURN_IF_ERROR(co_await Change(std::move(decide), std::move(still_may)));
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
  const StoredToken* token = directory.FindToken(hash);
  if (token == nullptr) return;
  if (token->record.has_last_use_time() &&
      wire::FromProto(token->record.last_use_time()) + kLastUseStep > now)
    return;
  token = directory.SetLastUse(hash, wire::ToProto(std::chrono::floor<std::chrono::hours>(now)));
  auto write = [this, hash, record = token->record] { std::ignore = store.PutLastUse(hash, record); };
  boost::asio::post(writer, std::move(write));
}

}  // namespace trainyard::identity
