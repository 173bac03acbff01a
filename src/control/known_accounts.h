#pragma once

#include <functional>
#include <string>

#include "control/accounts.h"
#include "rules/cluster/project_number.h"
#include "stores/identity/identities.h"
#include "trainyard/control/v1/record.pb.h"

/// What jobs want to know of accounts and projects, as it is kept. `identities` outlives what is returned.
/// Loop thread only.
namespace trainyard::control {

[[nodiscard]] Accounts AccountsOf(const identity::Identities& identities);

[[nodiscard]] cluster::NumberOf NumbersOf(identity::Identities& identities);

/// Whose rights a job's programs have, as an e-mail: nobody's if the account is gone, whoever has its name
/// now.
[[nodiscard]] std::function<std::string(const control::v1::JobRecord& job)> RightsAccount(
    identity::Identities& identities);

}  // namespace trainyard::control
