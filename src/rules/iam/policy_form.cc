#include "rules/iam/policy_form.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>

#include "base/fnv1a.h"
#include "base/text/hex.h"
#include "base/wire/field_selector.h"

namespace trainyard::iam {
namespace {

using v1::Binding;
using v1::Policy;

constexpr int kConditionsVersion = 3;
constexpr std::string_view kNoPolicyEtag("\x00\x20\x01", 3);
constexpr std::array<std::string_view, 4> kUpdatable{"bindings", "etag", "version", "audit_configs"};

// What may precede ':' in a member. Source: discovery document, GoogleIamV1__Binding.members.
constexpr std::array<std::string_view, 10> kMemberKinds{
    "user",         "serviceAccount", "group",         "domain",        "principal",
    "principalSet", "projectOwner",   "projectEditor", "projectViewer", "deleted"};

std::unexpected<Error> Invalid(std::string_view field, std::string text) {
  return std::unexpected(InvalidArgument(field, std::move(text)));
}

bool HasCondition(const Policy& policy) {
  return std::ranges::any_of(policy.bindings(),
                             [](const Binding& binding) { return binding.has_condition(); });
}

Status CheckVersion(std::string_view field, std::int64_t version) {
  if (version == 0 || version == 1 || version == kConditionsVersion) return {};
  return Invalid(field, "Policy versions are 0, 1 and 3, not " + std::to_string(version));
}

bool IsRole(std::string_view role) {
  constexpr std::string_view kRoles = "roles/";
  const std::size_t at = role.find(kRoles);
  if (at == std::string_view::npos || role.substr(at + kRoles.size()).empty()) return false;
  return at == 0 || role.starts_with("projects/") || role.starts_with("organizations/");
}

bool IsMember(std::string_view member) {
  if (member == "allUsers" || member == "allAuthenticatedUsers") return true;
  const std::size_t colon = member.find(':');
  return colon != std::string_view::npos && colon + 1 < member.size() &&
         std::ranges::find(kMemberKinds, member.substr(0, colon)) != kMemberKinds.end();
}

Status CheckBindings(const Policy& policy) {
  int principals = 0;
  for (int i = 0; i < policy.bindings_size(); ++i) {
    const Binding& binding = policy.bindings(i);
    const std::string at = "policy.bindings[" + std::to_string(i) + "]";
    if (!IsRole(binding.role()))
      return Invalid(at + ".role", "Role '" + binding.role() + "' is not a role's name");
    if (binding.members().empty())
      return Invalid(at + ".members", "Each binding must have at least one member");
    for (const std::string& member : binding.members()) {
      if (!IsMember(member)) {
        return Invalid(at + ".members",
                       "The member " + member +
                           " is of an unknown type. Please set a valid type prefix for the member.");
      }
    }
    if (binding.has_condition() && binding.condition().expression().empty())
      return Invalid(at + ".condition", "A condition must have an expression");
    principals += binding.members_size();
  }
  if (principals <= kPrincipalsMax) return {};
  return Invalid("policy.bindings",
                 "A policy can have at most " + std::to_string(kPrincipalsMax) + " members");
}

/// Distinguishes bindings of one role.
std::string ConditionHash(const Binding& binding) {
  constexpr int kDigits = 10;
  const std::uint64_t hash = Fnv1a(binding.role() + "/" + binding.condition().SerializeAsString());
  return text::HexNumber(hash >> (64 - 4 * kDigits), kDigits);
}

bool Names(const std::vector<std::string>& mask, std::string_view name) {
  return std::ranges::find(mask, name) != mask.end();
}

bool IsPermission(std::string_view permission) {
  const auto is_name = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
  };
  int dots = 0;
  for (std::size_t i = 0; i < permission.size(); ++i) {
    const bool dot = permission[i] == '.';
    dots += dot ? 1 : 0;
    const bool at_end = i == 0 || i + 1 == permission.size();
    if (dot ? at_end || permission[i - 1] == '.' : !is_name(permission[i])) return false;
  }
  return dots >= 1;
}

}  // namespace

Policy NoPolicy() {
  Policy policy;
  policy.set_etag(kNoPolicyEtag.data(), kNoPolicyEtag.size());
  return policy;
}

Result<Policy> PolicyAfter(const Policy& stored, const v1::SetIamPolicyRequest& request) {
  TY_TRY(std::vector<std::string> mask, wire::ParseFieldMask(request.update_mask(), kUpdatable));
  if (mask.empty()) mask = {"bindings", "etag"};
  const Policy& wanted = request.policy();
  TY_RETURN_IF_ERROR(CheckVersion("policy.version", wanted.version()));
  TY_RETURN_IF_ERROR(CheckBindings(wanted));
  const bool with_etag = Names(mask, "etag") && !wanted.etag().empty();
  if (with_etag && wanted.etag() != stored.etag()) {
    return std::unexpected(
        Error{Code::kAborted,
              "There were concurrent policy changes. Please retry the whole read-modify-write with "
              "exponential backoff.",
              "policy.etag"});
  }
  const bool concerns_conditions = HasCondition(wanted) || (with_etag && HasCondition(stored));
  if (Names(mask, "bindings") && concerns_conditions && wanted.version() != kConditionsVersion)
    return Invalid("policy.version", "A policy with conditions must have version 3");

  Policy after = stored;
  if (Names(mask, "bindings")) *after.mutable_bindings() = wanted.bindings();
  if (Names(mask, "audit_configs")) *after.mutable_audit_configs() = wanted.audit_configs();
  after.set_version(HasCondition(after) ? kConditionsVersion : 1);
  return after;
}

Result<Policy> PolicyAtVersion(Policy policy, std::int64_t version) {
  TY_RETURN_IF_ERROR(CheckVersion("options.requested_policy_version", version));
  if (version == kConditionsVersion || !HasCondition(policy)) return policy;
  policy.set_version(1);
  for (Binding& binding : *policy.mutable_bindings()) {
    if (!binding.has_condition()) continue;
    binding.set_role(binding.role() + "_withcond_" + ConditionHash(binding));
    binding.clear_condition();
  }
  return policy;
}

Status CheckPermissionNames(const v1::TestIamPermissionsRequest& request) {
  for (const std::string& permission : request.permissions()) {
    if (!IsPermission(permission))
      return Invalid("permissions", "Permission " + permission + " is not valid for this resource.");
  }
  return {};
}

}  // namespace trainyard::iam
