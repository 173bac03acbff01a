#include "stores/identity/grants.h"

#include <functional>

#include "rules/iam/principal.h"
#include "rules/iam/roles.h"

namespace trainyard::identity {
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
