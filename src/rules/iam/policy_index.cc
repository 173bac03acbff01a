#include "rules/iam/policy_index.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <optional>
#include <utility>

#include "base/text/suggestion.h"
#include "rules/iam/principal.h"

namespace trainyard::iam {
namespace {

using v1::Binding;

constexpr std::array<std::string_view, 2> kEverybody{"allUsers", "allAuthenticatedUsers"};

struct BasicKind {
  std::string_view prefix;
  std::string_view role;
};
constexpr std::array kBasicKinds{BasicKind{"projectOwner:", "roles/owner"},
                                 BasicKind{"projectEditor:", "roles/editor"},
                                 BasicKind{"projectViewer:", "roles/viewer"}};

bool IsEverybody(std::string_view member) {
  return std::ranges::find(kEverybody, member) != kEverybody.end();
}

/// The basic role and P in "projectOwner:P".
std::optional<std::pair<std::string_view, std::string_view>> BasicRoleOf(std::string_view member) {
  for (const BasicKind& kind : kBasicKinds) {
    if (member.starts_with(kind.prefix) && member.size() > kind.prefix.size())
      return std::pair(kind.role, member.substr(kind.prefix.size()));
  }
  return std::nullopt;
}

void AddOnce(std::vector<const Role*>& roles, const Role* role) {
  if (std::ranges::find(roles, role) == roles.end()) roles.push_back(role);
}

bool AnyHas(const std::vector<const Role*>& roles, std::string_view permission) {
  return std::ranges::any_of(roles, [&](const Role* role) { return role->Has(permission); });
}

Error Invalid(const std::string& field, std::string text) { return InvalidArgument(field, std::move(text)); }

Status CheckRole(const std::string& at, const std::string& name) {
  if (FindRole(name) != nullptr) return {};
  std::vector<std::string_view> names;
  for (const Role& role : Roles()) names.push_back(role.name);
  const std::string_view nearest = text::Suggest(name, names);
  std::string why = "Role " + name + " does not exist on this server. ";
  if (!nearest.empty()) why.append("Do you mean ").append(nearest).append("? ");
  return std::unexpected(Invalid(at + ".role", why + "All of them: gcloud iam roles list"));
}

Status CheckMember(const std::string& at, const std::string& member) {
  if (IsEverybody(member) || BasicRoleOf(member) || ParsePrincipal(member)) return {};
  return std::unexpected(Invalid(
      at + ".members", "The member " + member +
                           " is nobody whom this server knows: it has users (user:NAME@DOMAIN), service "
                           "accounts (serviceAccount:E-MAIL), projectOwner:P, projectEditor:P, "
                           "projectViewer:P, allUsers and allAuthenticatedUsers; no groups and no domains"));
}

}  // namespace

PolicyIndex::PolicyIndex(const v1::Policy& policy) {
  for (const Binding& binding : policy.bindings()) {
    const Role* role = FindRole(binding.role());
    if (role == nullptr || binding.has_condition()) continue;
    for (const std::string& member : binding.members()) Add(member, role);
  }
}

void PolicyIndex::Add(std::string_view member, const Role* role) {
  if (IsEverybody(member)) return AddOnce(everybody_, role);
  if (const auto basic = BasicRoleOf(member)) {
    const auto is_same = [&](const ByProject& by) {
      return by.basic_role == basic->first && by.project == basic->second;
    };
    auto found = std::ranges::find_if(by_project_, is_same);
    if (found == by_project_.end()) {
      by_project_.push_back(
          {.basic_role = std::string(basic->first), .project = std::string(basic->second), .roles = {}});
      found = std::prev(by_project_.end());
    }
    return AddOnce(found->roles, role);
  }
  if (Result<std::string> principal = ParsePrincipal(member))
    AddOnce(by_principal_[*std::move(principal)], role);
}

bool PolicyIndex::Grants(std::string_view principal, std::string_view permission,
                         const HasBasicRole& has_basic_role) const {
  if (AnyHas(everybody_, permission)) return true;
  const auto own = by_principal_.find(principal);
  if (own != by_principal_.end() && AnyHas(own->second, permission)) return true;
  return std::ranges::any_of(by_project_, [&](const ByProject& by) {
    return AnyHas(by.roles, permission) && has_basic_role(by.basic_role, by.project);
  });
}

bool PolicyIndex::Knows(std::string_view principal, const HasBasicRole& has_basic_role) const {
  if (!everybody_.empty() || by_principal_.contains(principal)) return true;
  return std::ranges::any_of(by_project_,
                             [&](const ByProject& by) { return has_basic_role(by.basic_role, by.project); });
}

bool PolicyIndex::Binds(std::string_view principal, std::string_view role) const {
  const auto own = by_principal_.find(principal);
  return own != by_principal_.end() &&
         std::ranges::any_of(own->second, [&](const Role* bound) { return bound->name == role; });
}

Status CheckPolicy(const v1::Policy& policy) {
  for (int i = 0; i < policy.bindings_size(); ++i) {
    const Binding& binding = policy.bindings(i);
    const std::string at = "policy.bindings[" + std::to_string(i) + "]";
    TY_RETURN_IF_ERROR(CheckRole(at, binding.role()));
    for (const std::string& member : binding.members()) TY_RETURN_IF_ERROR(CheckMember(at, member));
    if (!binding.has_condition()) continue;
    return std::unexpected(Invalid(at + ".condition",
                                   "Conditions are not evaluated on this server, so a binding with one would "
                                   "grant nothing. Leave the condition out, or the binding"));
  }
  return {};
}

}  // namespace trainyard::iam
