#include "stores/identity/directory.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "rules/cluster/project_number.h"
#include "rules/iam/principal.h"
#include "rules/iam/roles.h"
#include "stores/identity/bucket_projects.h"

namespace trainyard::identity {

using iam::Resource;

namespace {

/// Changes of tokens and keys, which are frequent, name no projects.
bool NamesProjects(const AccessChange& change) {
  return !change.accounts.empty() || !change.accounts_dropped.empty() || !change.policies.empty() ||
         !change.policies_dropped.empty() || !change.buckets.empty() || !change.buckets_dropped.empty();
}

}  // namespace

void Directory::Apply(const AccessChange& change) {
  Drop(change);
  for (const v1::ServiceAccount& account : change.accounts) {
    accounts_[account.email()].record = account;
    emails_[account.unique_id()] = account.email();
  }
  for (const StoredKey& key : change.keys) {
    const auto account = accounts_.find(key.email);
    if (account == accounts_.end()) continue;
    account->second.keys.insert_or_assign(key.id, key);
    key_owners_[key.id] = key.email;
  }
  for (const StoredToken& token : change.tokens) {
    tokens_.insert_or_assign(token.hash, token);
    token_ids_.insert_or_assign(token.record.id(), token.hash);
    tokens_of_[token.record.principal()].insert(token.record.id());
    made_from_[CredentialBehind(token.record)].insert(token.record.id());
  }
  for (const StoredPolicy& kept : change.policies) {
    PolicyEntry entry{.kept = {.resource = Normal(kept.resource), .policy = kept.policy},
                      .index = iam::PolicyIndex(kept.policy)};
    policies_.insert_or_assign(NameOf(entry.kept.resource), std::move(entry));
  }
  for (const StoredBucket& kept : change.buckets) bucket_projects_->Set(kept.bucket, kept.project);
  for (const ProjectNumber& kept : change.numbers) numbers_.Keep(kept);
  if (projects_.empty() || NamesProjects(change)) CollectProjects();
}

void Directory::Drop(const AccessChange& change) {
  for (const std::string& id : change.tokens_dropped) DropToken(id);
  for (const std::string& id : change.keys_dropped) {
    const auto owner = key_owners_.find(id);
    if (owner == key_owners_.end()) continue;
    if (const auto account = accounts_.find(owner->second); account != accounts_.end())
      account->second.keys.erase(id);
    key_owners_.erase(owner);
  }
  // Before the accounts: the name of an account's policy contains its project.
  for (const Resource& resource : change.policies_dropped) policies_.erase(NameOf(Normal(resource)));
  for (const std::string& email : change.accounts_dropped) {
    deleted_.insert(email);
    const auto account = accounts_.find(email);
    if (account == accounts_.end()) continue;
    for (const auto& [id, key] : account->second.keys) key_owners_.erase(id);
    emails_.erase(account->second.record.unique_id());
    accounts_.erase(account);
  }
  for (const std::string& bucket : change.buckets_dropped) bucket_projects_->Set(bucket, std::nullopt);
}

void Directory::DropToken(const std::string& id) {
  const auto found = token_ids_.find(id);
  if (found == token_ids_.end()) return;
  const auto token = tokens_.find(found->second);
  const auto forget = [&id](auto& ids_by, const std::string& key) {
    const auto ids = ids_by.find(key);
    ids->second.erase(id);
    if (ids->second.empty()) ids_by.erase(ids);
  };
  forget(tokens_of_, token->second.record.principal());
  forget(made_from_, CredentialBehind(token->second.record));
  tokens_.erase(token);
  token_ids_.erase(found);
}

void Directory::CollectProjects() {
  projects_ = bucket_projects_->Recorded();
  if (!default_project().empty()) projects_.insert(default_project());
  for (const auto& [name, entry] : policies_) {
    if (entry.kept.resource.kind != Resource::Kind::kBucket && !entry.kept.resource.project.empty())
      projects_.insert(entry.kept.resource.project);
  }
  for (const auto& [email, account] : accounts_) projects_.insert(account.record.project_id());
  std::erase_if(bucket_defaults_, [&](const auto& entry) { return !projects_.contains(entry.first); });
  for (const std::string& project : projects_) {
    if (!bucket_defaults_.contains(project))
      bucket_defaults_.emplace(project, iam::PolicyIndex(BucketDefault(project)));
  }
}

const iam::PolicyIndex& Directory::BucketDefaultOf(std::string_view project) const {
  static const iam::PolicyIndex kNothing;
  const auto found = bucket_defaults_.find(project);
  return found == bucket_defaults_.end() ? kNothing : found->second;
}

const Directory::Account* Directory::FindAccount(std::string_view email_or_id) const {
  auto account = accounts_.find(email_or_id);
  if (const auto email = emails_.find(email_or_id); email != emails_.end())
    account = accounts_.find(email->second);
  return account == accounts_.end() ? nullptr : &account->second;
}

const std::string* Directory::ProjectOfAgent(std::string_view email) const {
  const std::optional<std::int64_t> number = cluster::NumberOfServiceAccount(email);
  if (!number) return nullptr;
  if (const std::string* project = numbers_.ProjectOf(*number)) return project;
  const auto shown = shown_.find(*number);
  return shown == shown_.end() ? nullptr : &shown->second;
}

void Directory::ShowNumber(const ProjectNumber& shown) {
  if (shown_.size() >= kShownMax) shown_.clear();
  shown_.emplace(shown.number, shown.project);
}

const StoredToken* Directory::FindToken(const TokenHash& hash) const {
  const auto token = tokens_.find(hash);
  return token == tokens_.end() ? nullptr : &token->second;
}

const StoredToken* Directory::FindTokenById(std::string_view id) const {
  const auto hash = token_ids_.find(id);
  return hash == token_ids_.end() ? nullptr : FindToken(hash->second);
}

std::vector<const StoredToken*> Directory::TokensOf(std::string_view principal) const {
  std::vector<const StoredToken*> tokens;
  const auto ids = tokens_of_.find(principal);
  if (ids == tokens_of_.end()) return tokens;
  for (const std::string& id : ids->second) tokens.push_back(FindTokenById(id));
  return tokens;
}

const std::set<std::string>& Directory::TokensMadeFrom(std::string_view credential) const {
  static const std::set<std::string> kNone;
  const auto ids = made_from_.find(credential);
  return ids == made_from_.end() ? kNone : ids->second;
}

std::vector<const StoredToken*> Directory::AllTokens() const {
  std::vector<const StoredToken*> tokens;
  tokens.reserve(token_ids_.size());
  for (const auto& [id, hash] : token_ids_) tokens.push_back(FindToken(hash));
  return tokens;
}

const StoredToken* Directory::SetLastUse(const TokenHash& hash, const google::protobuf::Timestamp& time) {
  const auto token = tokens_.find(hash);
  if (token == tokens_.end()) return nullptr;
  *token->second.record.mutable_last_use_time() = time;
  return &token->second;
}

Resource Directory::Normal(Resource resource) const {
  if (resource.kind == Resource::Kind::kBucket) resource.project.clear();
  if (resource.kind == Resource::Kind::kServiceAccount) {
    if (const Account* account = FindAccount(resource.name); account != nullptr) {
      resource.project = account->record.project_id();
      resource.name = account->record.email();
    } else if (const std::string* project = ProjectOfAgent(resource.name); project != nullptr) {
      resource.project = *project;  // whatever a path says
    }
  }
  return resource;
}

const Directory::PolicyEntry* Directory::FindPolicy(const Resource& resource) const {
  const auto entry = policies_.find(NameOf(Normal(resource)));
  return entry == policies_.end() ? nullptr : &entry->second;
}

namespace {

using iam::Resource;
using Kind = Resource::Kind;

constexpr std::string_view kAgentPrincipal = "serviceAccount:service-";

bool Binds(const Directory& known, const Resource& resource, std::string_view principal,
           std::string_view role) {
  const Directory::PolicyEntry* entry = known.FindPolicy(resource);
  return entry != nullptr && entry->index.Binds(principal, role);
}

/// A project's basic roles, bound there or on the whole installation.
iam::PolicyIndex::HasBasicRole BasicRolesOf(const Directory& known, std::string_view principal) {
  return [&known, principal](std::string_view role, std::string_view project) {
    return HasBasicRole(known, principal, role, project);
  };
}

std::string ProjectOf(const Directory& known, const Resource& resource) {
  return resource.kind == Kind::kBucket ? known.bucket_projects()->Of(resource.name)
                                        : known.Normal(resource).project;
}

bool IsAgentOf(const Directory& known, std::string_view principal, std::string_view project) {
  if (!principal.starts_with(kAgentPrincipal) || project.empty()) return false;
  const std::string* own = known.ProjectOfAgent(iam::EmailOf(principal));
  return own != nullptr && *own == project;
}

/// Whether `says` is true for any policy that applies to the resource.
template <class Says>
bool AnyPolicy(const Directory& known, const Resource& resource, const std::string& project, Says says) {
  const auto set = [&](const Resource& above) {
    const Directory::PolicyEntry* entry = known.FindPolicy(above);
    return entry != nullptr && says(entry->index);
  };
  if (set(Resource::Installation())) return true;
  if (!project.empty() && set(Resource::Project(project))) return true;
  if (resource.kind == Kind::kServiceAccount) return set(resource);
  if (resource.kind != Kind::kBucket) return false;
  const Directory::PolicyEntry* own = known.FindPolicy(resource);
  return says(own == nullptr ? known.BucketDefaultOf(project) : own->index);
}

}  // namespace

bool HasBasicRole(const Directory& known, std::string_view principal, std::string_view role,
                  std::string_view project) {
  return Binds(known, Resource::Project(std::string(project)), principal, role) ||
         Binds(known, Resource::Installation(), principal, role);
}

bool Grants(const Directory& known, std::string_view principal, std::string_view permission,
            const Resource& resource) {
  const std::string project = ProjectOf(known, resource);
  if (IsAgentOf(known, principal, project)) {
    const iam::Role* role = iam::FindRole(iam::kServiceAgent);
    if (role != nullptr && role->Has(permission)) return true;
  }
  const iam::PolicyIndex::HasBasicRole basic = BasicRolesOf(known, principal);
  return AnyPolicy(known, resource, project, [&](const iam::PolicyIndex& policy) {
    return policy.Grants(principal, permission, basic);
  });
}

bool Knows(const Directory& known, std::string_view principal, const Resource& resource) {
  const std::string project = ProjectOf(known, resource);
  const iam::PolicyIndex::HasBasicRole basic = BasicRolesOf(known, principal);
  return IsAgentOf(known, principal, project) ||
         AnyPolicy(known, resource, project,
                   [&](const iam::PolicyIndex& policy) { return policy.Knows(principal, basic); });
}

}  // namespace trainyard::identity
