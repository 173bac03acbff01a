#include "control/accounts.h"

#include "base/ascii.h"
#include "control/intake/instance.h"
#include "rules/iam/principal.h"

namespace trainyard::control {
namespace {

constexpr std::string_view kServiceAccount = "serviceAccount:";

}  // namespace

std::string Accounts::IdOf(std::string_view member) const {
  return id_of && member.starts_with(kServiceAccount) ? id_of(ToLower(iam::EmailOf(member))) : std::string();
}

std::string Accounts::Shown(const std::string& member, std::string_view id) const {
  if (!is || !member.starts_with(kServiceAccount) || is(ToLower(iam::EmailOf(member)), id)) return member;
  std::string shown = "deleted:" + member;
  return id.empty() ? shown : shown.append("?uid=").append(id);
}

std::string Accounts::ShownEmail(const std::string& email, std::string_view id) const {
  return !is || is(email, id) ? email : Shown(iam::ServiceAccountPrincipal(email), id);
}

Accounts AccountsOf(const identity::Identities& identities) {
  return {
      .id_of = [&identities](std::string_view email) { return identities.AccountId(email); },
      .is = [&identities](std::string_view email,
                          std::string_view id) { return identities.IsAccount(email, id); },
      .exists =
          [&identities](std::string_view email) {
            return identities.FindServiceAccount(ToLower(email)).has_value();
          },
      .may =
          [&identities](std::string_view email, std::string_view permission, const iam::Resource& resource) {
            return identities.Grants(iam::ServiceAccountPrincipal(email), permission, resource);
          }};
}

cluster::NumberOf NumbersOf(identity::Identities& identities) {
  return [&identities](std::string_view project) { return identities.NumberOf(project); };
}

std::function<std::string(const control::v1::JobRecord&)> RightsAccount(identity::Identities& identities) {
  return [number_of = NumbersOf(identities),
          accounts = AccountsOf(identities)](const control::v1::JobRecord& job) {
    return accounts.ShownEmail(ServiceAccountOf(job, number_of), job.service_account_id());
  };
}

}  // namespace trainyard::control
