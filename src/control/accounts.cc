#include "control/accounts.h"

#include "base/ascii.h"
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

}  // namespace trainyard::control
