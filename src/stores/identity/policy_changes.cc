#include "stores/identity/policy_changes.h"

#include <algorithm>
#include <set>

#include "rules/cluster/project_number.h"
#include "rules/iam/policy_form.h"
#include "rules/iam/principal.h"
#include "rules/iam/roles.h"
#include "stores/identity/account_changes.h"
#include "stores/identity/bucket_projects.h"
#include "stores/identity/directory.h"

namespace trainyard::identity {
namespace {

using iam::Resource;
using iam::v1::Binding;
using iam::v1::Policy;

constexpr std::string_view kUser = "user:";

std::set<std::string, std::less<>> Members(const Policy& policy) {
  std::set<std::string, std::less<>> members;
  for (const Binding& binding : policy.bindings())
    members.insert(binding.members().begin(), binding.members().end());
  return members;
}

/// Writes principals in their only valid spelling, so that they can be compared.
void Canonicalize(Policy& policy) {
  for (Binding& binding : *policy.mutable_bindings()) {
    for (std::string& member : *binding.mutable_members()) {
      if (Result<std::string> principal = iam::ParsePrincipal(member)) member = *std::move(principal);
    }
  }
}

/// Whether a principal that can log in is bound to the role that owns the installation.
bool HasAdministrator(const Directory& known, const Policy& policy, std::string_view except_email) {
  for (const Binding& binding : policy.bindings()) {
    if (binding.role() != iam::kInstallationAdmin || binding.has_condition()) continue;
    for (const std::string& member : binding.members()) {
      if (member.starts_with(kUser)) return true;
      if (!member.starts_with(iam::kServiceAccountPrefix) || iam::EmailOf(member) == except_email) continue;
      const Directory::Account* account = known.FindAccount(iam::EmailOf(member));
      if (account != nullptr && !account->record.disabled()) return true;
    }
  }
  return false;
}

Error LastAdministrator() {
  return FailedPrecondition("The installation would have no administrator: bind " +
                            std::string(iam::kInstallationAdmin) + " to another principal first");
}

/// Whether it is an account that the service manages for a project: it need not be created, and policies may
/// name it at any time. The TPU's has no rights here; the page on TPUs says to bind it to a role.
bool IsManaged(const Directory& known, std::string_view email) {
  const std::optional<std::int64_t> tpu = cluster::NumberOfTpuServiceAccount(email);
  return known.ProjectOfAgent(email) != nullptr || (tpu && known.numbers().ProjectOf(*tpu) != nullptr);
}

/// Otherwise a mistyped member would stay there until an account of that name was created.
Status CheckMembers(const Directory& known, const Policy& before, const Policy& after) {
  const auto old = Members(before);
  for (const std::string& member : Members(after)) {
    if (!member.starts_with(iam::kServiceAccountPrefix) || old.contains(member)) continue;
    const std::string_view email = iam::EmailOf(member);
    if (known.FindAccount(email) != nullptr || IsManaged(known, email)) continue;
    return std::unexpected(
        InvalidArgument("policy.bindings", "Service account " + std::string(email) + " does not exist."));
  }
  return {};
}

Status CheckPlace(const Directory& known, const Resource& resource, const Policy& after) {
  if (resource.kind == Resource::Kind::kJob)
    return std::unexpected(Internal("a job's policy is kept with its job"));
  if (resource.kind == Resource::Kind::kServiceAccount && known.FindAccount(resource.name) == nullptr)
    return std::unexpected(NoSuchAccount(resource.name));
  if (resource.kind == Resource::Kind::kInstallation) {
    if (!HasAdministrator(known, after, {})) return std::unexpected(LastAdministrator());
    return {};
  }
  for (const Binding& binding : after.bindings()) {
    if (binding.role() == iam::kInstallationAdmin) {
      return std::unexpected(InvalidArgument(
          "policy.bindings",
          "Role " + binding.role() + " is bound on the installation only; a project's is roles/owner"));
    }
  }
  return {};
}

Result<AccessChange> Kept(const Directory& known, const Resource& resource, const Policy& before,
                          Policy after, std::string_view etag) {
  TY_RETURN_IF_ERROR(iam::CheckPolicy(after));
  Canonicalize(after);
  TY_RETURN_IF_ERROR(CheckMembers(known, before, after));
  TY_RETURN_IF_ERROR(CheckPlace(known, resource, after));
  after.set_etag(std::string(etag));
  AccessChange change;
  change.policies.push_back({.resource = known.Normal(resource), .policy = std::move(after)});
  return change;
}

Policy Unset(const Directory& known, const Resource& resource) {
  return resource.kind == Resource::Kind::kBucket ? BucketDefault(known.bucket_projects()->Of(resource.name))
                                                  : iam::NoPolicy();
}

}  // namespace

Policy PolicyOf(const Directory& known, const Resource& resource) {
  const Directory::PolicyEntry* entry = known.FindPolicy(resource);
  return entry == nullptr ? Unset(known, resource) : entry->kept.policy;
}

Result<AccessChange> PolicySet(const Directory& known, const Resource& resource,
                               const iam::v1::SetIamPolicyRequest& request, std::string_view etag) {
  const Policy before = PolicyOf(known, resource);
  TY_TRY(Policy after, iam::PolicyAfter(before, request));
  return Kept(known, resource, before, std::move(after), etag);
}

Result<AccessChange> BindingAdded(const Directory& known, const Resource& resource, const std::string& role,
                                  const std::string& wanted, std::string_view etag) {
  const std::string member = iam::ParsePrincipal(wanted).value_or(wanted);
  const Policy before = PolicyOf(known, resource);
  Policy after = before;
  auto* bindings = after.mutable_bindings();
  auto binding = std::ranges::find_if(
      *bindings, [&](const Binding& one) { return one.role() == role && !one.has_condition(); });
  if (binding == bindings->end()) {
    after.add_bindings()->set_role(role);
    binding = std::prev(bindings->end());
  }
  if (std::ranges::find(binding->members(), member) != binding->members().end()) return AccessChange{};
  binding->add_members(member);
  iam::v1::SetIamPolicyRequest request;
  *request.mutable_policy() = after;
  TY_TRY(after, iam::PolicyAfter(before, request));
  return Kept(known, resource, before, std::move(after), etag);
}

std::optional<Policy> WithoutMember(const Policy& policy, std::string_view member) {
  if (!Members(policy).contains(member)) return std::nullopt;
  Policy after = policy;
  after.clear_bindings();
  for (const Binding& binding : policy.bindings()) {
    Binding kept = binding;
    kept.clear_members();
    for (const std::string& one : binding.members()) {
      if (one != member) kept.add_members(one);
    }
    if (!kept.members().empty()) *after.add_bindings() = std::move(kept);
  }
  return after;
}

Status CheckAdministratorWithout(const Directory& known, std::string_view email) {
  if (HasAdministrator(known, PolicyOf(known, Resource::Installation()), email)) return {};
  return std::unexpected(LastAdministrator());
}

AccessChange FirstAdministrator(std::string_view etag) {
  Policy policy;
  policy.set_version(1);
  policy.set_etag(std::string(etag));
  Binding& binding = *policy.add_bindings();
  binding.set_role(std::string(iam::kInstallationAdmin));
  binding.add_members(std::string(iam::kAdministrator));
  AccessChange change;
  change.policies.push_back({.resource = Resource::Installation(), .policy = std::move(policy)});
  return change;
}

}  // namespace trainyard::identity
