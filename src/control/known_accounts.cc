#include "control/known_accounts.h"

#include "control/intake/instance.h"

namespace trainyard::control {

Accounts AccountsOf(const identity::Identities& identities) {
  return {.id_of = [&identities](std::string_view email) { return identities.AccountId(email); },
          .is = [&identities](std::string_view email,
                              std::string_view id) { return identities.IsAccount(email, id); }};
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
