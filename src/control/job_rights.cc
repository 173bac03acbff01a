#include "control/job_rights.h"

#include <algorithm>

#include "rules/iam/policy_form.h"
#include "rules/iam/principal.h"
#include "rules/iam/roles.h"

namespace trainyard::control {
namespace {

using iam::v1::Binding;
using iam::v1::Policy;

/// Eight bytes, the highest first; the revisions of a job only grow.
std::string EtagOf(std::int64_t revision) {
  std::string etag;
  for (int shift = 56; shift >= 0; shift -= 8) etag.push_back(static_cast<char>(revision >> shift));
  return etag;
}

std::string IdOf(const v1::JobRecord& job, const std::string& member) {
  const auto id = job.policy_account_ids().find(member);
  return id == job.policy_account_ids().end() ? std::string() : id->second;
}

void AddMember(Policy& policy, std::string_view role, std::string member) {
  auto binding = std::ranges::find_if(*policy.mutable_bindings(), [&](const Binding& one) {
    return one.role() == role && !one.has_condition();
  });
  Binding& to = binding == policy.mutable_bindings()->end() ? *policy.add_bindings() : *binding;
  to.set_role(std::string(role));
  if (std::ranges::find(to.members(), member) == to.members().end()) to.add_members(std::move(member));
}

/// The e-mail in lower case, as IAM compares them; texts that are not principals are unchanged.
std::string Canonical(const std::string& member) { return iam::ParsePrincipal(member).value_or(member); }

}  // namespace

Policy PolicyOf(const v1::JobRecord& job, const Accounts& accounts) {
  Policy policy = job.has_iam_policy() ? job.iam_policy() : iam::NoPolicy();
  for (Binding& binding : *policy.mutable_bindings()) {
    for (std::string& member : *binding.mutable_members()) member = accounts.Shown(member, IdOf(job, member));
  }
  if (!job.creator().empty() && !job.policy_has_creator())
    AddMember(policy, iam::kJobOwner, accounts.Shown(job.creator(), job.creator_account_id()));
  return policy;
}

Result<v1::Event::PolicySet> PolicySetOf(const v1::JobRecord& job,
                                         const iam::v1::SetIamPolicyRequest& request,
                                         const Accounts& accounts) {
  v1::Event::PolicySet set;
  TY_TRY(*set.mutable_policy(), iam::PolicyAfter(PolicyOf(job, accounts), request));
  set.mutable_policy()->set_etag(EtagOf(job.revision() + 1));
  set.set_has_creator(true);
  for (Binding& binding : *set.mutable_policy()->mutable_bindings()) {
    for (std::string& member : *binding.mutable_members()) {
      member = Canonical(member);
      if (std::string id = accounts.IdOf(member); !id.empty())
        (*set.mutable_account_ids())[member] = std::move(id);
    }
  }
  return set;
}

JobStanding StandingOn(const v1::JobRecord& job, const Asker& asker, std::string_view permission,
                       const Accounts& accounts) {
  // Even if the creator had bound other roles to itself before losing access to the project.
  if (!asker.is_member && asker.principal == Canonical(job.creator())) return {};
  const Policy policy = PolicyOf(job, accounts);
  const iam::PolicyIndex index(policy);
  return {.is_granted = index.Grants(asker.principal, permission, asker.has_basic_role),
          .is_seen = index.Knows(asker.principal, asker.has_basic_role)};
}

}  // namespace trainyard::control
