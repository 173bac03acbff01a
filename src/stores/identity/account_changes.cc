#include "stores/identity/account_changes.h"

#include <algorithm>
#include <set>

#include "base/wire/time.h"
#include "rules/iam/principal.h"
#include "stores/identity/identities.h"
#include "stores/identity/policy_changes.h"
#include "stores/identity/token_changes.h"

namespace trainyard::identity {
namespace {

constexpr std::string_view kKeyIssuer = "key ";
/// Like Google's keys, which never expire by themselves.
constexpr SysTime kNever{std::chrono::sys_days{std::chrono::year{2261} / 12 / 31}};

std::string ResourceName(std::string_view project, std::string_view email) {
  return "projects/" + std::string(project) + "/serviceAccounts/" + std::string(email);
}

Status CheckDisplayName(std::string_view name) {
  if (name.size() <= kDisplayNameMax) return {};
  return std::unexpected(
      InvalidArgument("service_account.display_name",
                      "The display name must have at most " + std::to_string(kDisplayNameMax) + " bytes"));
}

Status CheckDescription(std::string_view text) {
  if (text.size() <= kDescriptionMax) return {};
  return std::unexpected(
      InvalidArgument("service_account.description",
                      "The description must have at most " + std::to_string(kDescriptionMax) + " bytes"));
}

Result<const Directory::Account*> FindAccount(const Directory& known, std::string_view email) {
  const Directory::Account* account = known.FindAccount(email);
  if (account == nullptr) return std::unexpected(NoSuchAccount(email));
  return account;
}

/// Drops the tokens that were obtained with the key or made through it.
void DropTokensOfKey(const Directory& known, std::string_view key_id, AccessChange& change) {
  const std::set<std::string>& made = known.TokensMadeFrom(KeyIssuer(key_id));
  change.tokens_dropped.insert(change.tokens_dropped.end(), made.begin(), made.end());
}

Result<const StoredKey*> FindKey(const Directory& known, std::string_view email, std::string_view key_id) {
  TY_TRY(const Directory::Account* account, FindAccount(known, email));
  const auto key = account->keys.find(key_id);
  if (key == account->keys.end()) return std::unexpected(NoSuchKey(email, key_id));
  return &key->second;
}

}  // namespace

Error NoSuchAccount(std::string_view email) {
  return NotFound("Unknown service account: " + std::string(email));
}

Error NoSuchKey(std::string_view email, std::string_view key_id) {
  return NotFound("Service account key " + std::string(key_id) + " of " + std::string(email) +
                  " does not exist.");
}

std::string IdOfAccount(const Directory& known, std::string_view email) {
  if (known.ProjectOfAgent(email) != nullptr) return {};
  const Directory::Account* account = known.FindAccount(email);
  return std::string(account == nullptr ? kNoAccount : std::string_view(account->record.unique_id()));
}

std::string KeyIssuer(std::string_view key_id) { return std::string(kKeyIssuer).append(key_id); }

std::string_view KeyOfIssuer(std::string_view issuer) {
  return issuer.starts_with(kKeyIssuer) ? issuer.substr(kKeyIssuer.size()) : std::string_view();
}

Result<AccessChange> AccountCreated(const Directory& known, const NewAccount& wanted) {
  TY_TRY(const std::string email, iam::ServiceAccountEmail(wanted.account_id, wanted.project));
  TY_RETURN_IF_ERROR(CheckDisplayName(wanted.display_name));
  TY_RETURN_IF_ERROR(CheckDescription(wanted.description));
  if (known.FindAccount(email) != nullptr) {
    return std::unexpected(AlreadyExists("Service account " + wanted.account_id +
                                         " already exists within project " +
                                         ResourceName(wanted.project, email) + "."));
  }
  const auto of_project = std::ranges::count_if(known.accounts(), [&](const auto& entry) {
    return entry.second.record.project_id() == wanted.project;
  });
  if (of_project >= kServiceAccountsMax) {
    return std::unexpected(ResourceExhausted("Project " + wanted.project + " has " +
                                             std::to_string(of_project) +
                                             " service accounts, which is the limit: delete one first"));
  }
  AccessChange change;
  v1::ServiceAccount& account = change.accounts.emplace_back();
  account.set_name(ResourceName(wanted.project, email));
  account.set_project_id(wanted.project);
  account.set_unique_id(wanted.unique_id);
  account.set_email(email);
  account.set_display_name(wanted.display_name);
  account.set_description(wanted.description);
  account.set_etag("\x01");
  account.set_oauth2_client_id(wanted.unique_id);
  return change;
}

Result<AccessChange> AccountChanged(const Directory& known, std::string_view email, const AccountEdit& edit) {
  TY_TRY(const Directory::Account* account, FindAccount(known, email));
  AccessChange change;
  v1::ServiceAccount& record = change.accounts.emplace_back(account->record);
  if (edit.display_name) {
    TY_RETURN_IF_ERROR(CheckDisplayName(*edit.display_name));
    record.set_display_name(*edit.display_name);
  }
  if (edit.description) {
    TY_RETURN_IF_ERROR(CheckDescription(*edit.description));
    record.set_description(*edit.description);
  }
  if (edit.disabled) {
    if (*edit.disabled) TY_RETURN_IF_ERROR(CheckAdministratorWithout(known, record.email()));
    record.set_disabled(*edit.disabled);
  }
  return change;
}

Result<AccessChange> AccountDeleted(const Directory& known, std::string_view email, std::string_view etag) {
  TY_TRY(const Directory::Account* account, FindAccount(known, email));
  const std::string& name = account->record.email();
  TY_RETURN_IF_ERROR(CheckAdministratorWithout(known, name));
  const std::string principal = iam::ServiceAccountPrincipal(name);
  AccessChange change;
  change.accounts_dropped.push_back(name);
  change.policies_dropped.push_back(iam::Resource::ServiceAccount(account->record.project_id(), name));
  for (const StoredToken* token : known.TokensOf(principal))
    change.tokens_dropped.push_back(token->record.id());
  for (const auto& [id, key] : account->keys) {
    change.keys_dropped.push_back(id);
    DropTokensOfKey(known, id, change);
  }
  DropExchanged(known, change.tokens_dropped);
  const iam::Resource own = change.policies_dropped.front();
  for (const auto& [key, entry] : known.policies()) {
    if (entry.kept.resource == own) continue;
    if (std::optional<iam::v1::Policy> policy = WithoutMember(entry.kept.policy, principal)) {
      policy->set_etag(std::string(etag));
      change.policies.push_back({.resource = entry.kept.resource, .policy = *std::move(policy)});
    }
  }
  return change;
}

Result<AccessChange> KeyCreated(const Directory& known, std::string_view email, const std::string& key_id,
                                const RsaPublicKey& key, SysTime now) {
  TY_TRY(const Directory::Account* account, FindAccount(known, email));
  const std::string& name = account->record.email();
  if (account->record.disabled())
    return std::unexpected(FailedPrecondition("Service account " + name + " is disabled: enable it first"));
  if (account->keys.size() >= Identities::kKeysMax) {
    return std::unexpected(ResourceExhausted("Service account " + name + " has " +
                                             std::to_string(Identities::kKeysMax) +
                                             " keys, which is the limit: delete one first"));
  }
  StoredKey made{.email = name, .id = key_id, .public_key = key, .record = {}};
  made.record.set_name(account->record.name() + "/keys/" + key_id);
  made.record.set_key_algorithm("KEY_ALG_RSA_2048");
  *made.record.mutable_valid_after_time() = wire::ToProto(std::chrono::floor<std::chrono::seconds>(now));
  *made.record.mutable_valid_before_time() = wire::ToProto(kNever);
  made.record.set_key_origin("GOOGLE_PROVIDED");
  made.record.set_key_type("USER_MANAGED");
  AccessChange change;
  change.keys.push_back(std::move(made));
  return change;
}

Result<AccessChange> KeySetDisabled(const Directory& known, std::string_view email, std::string_view key_id,
                                    bool disabled) {
  TY_TRY(const StoredKey* key, FindKey(known, email, key_id));
  AccessChange change;
  change.keys.push_back(*key);
  change.keys.back().record.set_disabled(disabled);
  return change;
}

Result<AccessChange> KeyDeleted(const Directory& known, std::string_view email, std::string_view key_id) {
  TY_TRY(const StoredKey* key, FindKey(known, email, key_id));
  AccessChange change;
  change.keys_dropped.push_back(key->id);
  DropTokensOfKey(known, key_id, change);
  DropExchanged(known, change.tokens_dropped);
  return change;
}

}  // namespace trainyard::identity
