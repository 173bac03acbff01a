#include <algorithm>

#include "base/async/on_pool.h"
#include "base/async/random_bytes.h"
#include "rules/cluster/project_number.h"
#include "stores/identity/account_changes.h"
#include "stores/identity/identities_state.h"
#include "stores/identity/jwt.h"

namespace trainyard::identity {
namespace {

using boost::asio::awaitable;

constexpr int kUniqueIdDigits = 21;  // as in Google's ids
constexpr std::size_t kKeyIdBytes = 20;

std::string RandomUniqueId() {
  const auto bytes = RandomBytes<std::array<std::uint8_t, kUniqueIdDigits>>();
  std::string digits(1, '1');
  for (const std::uint8_t byte : bytes) digits += static_cast<char>('0' + byte % 10);
  return digits.substr(0, kUniqueIdDigits);
}

v1::ServiceAccount AgentOf(const std::string& project, const std::string& email) {
  v1::ServiceAccount account;
  account.set_name("projects/" + project + "/serviceAccounts/" + email);
  account.set_project_id(project);
  account.set_unique_id(std::to_string(cluster::NumberOfServiceAccount(email).value_or(0)));
  account.set_email(email);
  account.set_display_name("The project's own account");
  return account;
}

}  // namespace

awaitable<Result<v1::ServiceAccount>> Identities::CreateServiceAccount(std::string project,
                                                                       std::string account_id,
                                                                       std::string display_name,
                                                                       std::string description) {
  IdentitiesState* state = state_.get();
  NewAccount wanted{.project = std::move(project),
                    .account_id = std::move(account_id),
                    .display_name = std::move(display_name),
                    .description = std::move(description),
                    .unique_id = {}};
  auto decide = [state, wanted = std::move(wanted)]() mutable {
    do wanted.unique_id = RandomUniqueId();
    while (state->directory.FindAccount(wanted.unique_id) != nullptr);
    return AccountCreated(state->directory, wanted);
  };
  TY_CO_TRY(const AccessChange change, co_await state->Change(std::move(decide)));
  co_return change.accounts.front();
}

std::vector<v1::ServiceAccount> Identities::ServiceAccounts(std::string_view project) const {
  std::vector<v1::ServiceAccount> accounts;
  for (const auto& [email, account] : state_->directory.accounts()) {
    if (account.record.project_id() == project) accounts.push_back(account.record);
  }
  return accounts;
}

Result<v1::ServiceAccount> Identities::FindServiceAccount(std::string_view email) const {
  if (const Directory::Account* account = state_->directory.FindAccount(email); account != nullptr)
    return account->record;
  if (const std::string* project = state_->directory.ProjectOfAgent(email); project != nullptr)
    return AgentOf(*project, std::string(email));
  return std::unexpected(NoSuchAccount(email));
}

std::string Identities::AccountId(std::string_view email) const {
  return IdOfAccount(state_->directory, email);
}

bool Identities::IsAccount(std::string_view email, std::string_view account_id) const {
  return account_id.empty() ? !state_->directory.WasDeleted(email) : AccountId(email) == account_id;
}

awaitable<Status> Identities::DeleteServiceAccount(std::string email) {
  return state_->Do(state_->By(AccountDeleted, std::move(email), RandomEtag()));
}

awaitable<Status> Identities::SetServiceAccountDisabled(std::string email, bool disabled,
                                                        StillMay still_may) {
  const AccountEdit edit{.disabled = disabled, .display_name = {}, .description = {}};
  return state_->Do(state_->By(AccountChanged, std::move(email), edit), std::move(still_may));
}

awaitable<Result<v1::ServiceAccount>> Identities::DescribeServiceAccount(std::string email,
                                                                         AccountTexts texts) {
  AccountEdit edit{.disabled = {},
                   .display_name = std::move(texts.display_name),
                   .description = std::move(texts.description)};
  auto decide = state_->By(AccountChanged, std::move(email), std::move(edit));
  TY_CO_TRY(const AccessChange change, co_await state_->Change(std::move(decide)));
  co_return change.accounts.front();
}

awaitable<Result<Identities::IssuedKey>> Identities::CreateKey(std::string email, StillMay still_may) {
  IdentitiesState* state = state_.get();
  if (state->directory.FindAccount(email) == nullptr) co_return std::unexpected(NoSuchAccount(email));
  TY_CO_TRY(const RsaPrivateKey key, co_await OnPool(state->makers, RsaPrivateKey::Generate));
  auto decide = [state, email = std::move(email), made = key.Public(), id = RandomHex<kKeyIdBytes>()] {
    return KeyCreated(state->directory, email, id, made, state->clock.Now());
  };
  TY_CO_TRY(const AccessChange change, co_await state->Change(std::move(decide), std::move(still_may)));
  co_return IssuedKey{.key = change.keys.front().record, .private_key_pem = key.Pem()};
}

Result<std::vector<v1::ServiceAccountKey>> Identities::Keys(std::string_view email) const {
  const Directory::Account* account = state_->directory.FindAccount(email);
  if (account == nullptr) return std::unexpected(NoSuchAccount(email));
  std::vector<v1::ServiceAccountKey> keys;
  for (const auto& [id, key] : account->keys) keys.push_back(key.record);
  return keys;
}

awaitable<Status> Identities::SetKeyDisabled(std::string email, std::string key_id, bool disabled,
                                             StillMay still_may) {
  return state_->Do(state_->By(KeySetDisabled, std::move(email), std::move(key_id), disabled),
                    std::move(still_may));
}

awaitable<Status> Identities::DeleteKey(std::string email, std::string key_id) {
  return state_->Do(state_->By(KeyDeleted, std::move(email), std::move(key_id)));
}

awaitable<Result<std::string>> Identities::MakeIdToken(IdToken wanted) {
  IdentitiesState* state = state_.get();
  TY_CO_TRY(const v1::ServiceAccount account, FindServiceAccount(wanted.email));
  TY_CO_TRY(std::string claims, IdTokenClaims(account, wanted, state->clock.Now()));
  TY_CO_TRY(std::string token, co_await state->SignClaims(std::move(claims)));
  // An identity token cannot be revoked, so it is returned only if it would still be issued.
  TY_CO_RETURN_IF_ERROR(co_await CheckStillMay(std::move(wanted.still_may)));
  TY_CO_TRY(const v1::ServiceAccount now, FindServiceAccount(wanted.email));
  if (now.disabled() || now.unique_id() != account.unique_id())
    co_return std::unexpected(FailedPrecondition("Service account " + wanted.email + " is disabled or gone"));
  co_return token;
}

}  // namespace trainyard::identity
