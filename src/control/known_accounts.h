#pragma once

#include <functional>
#include <string>

#include "control/accounts.h"
#include "rules/cluster/project_number.h"
#include "stores/identity/identities.h"
#include "trainyard/control/v1/record.pb.h"

/// The parts of Identities that jobs need. `identities` outlives what is returned. Loop thread only.
namespace trainyard::control {

[[nodiscard]] Accounts AccountsOf(const identity::Identities& identities);

[[nodiscard]] cluster::NumberOf NumbersOf(identity::Identities& identities);

/// The account whose rights a job's programs have, as an e-mail; if it was deleted, a text that names no
/// account, even if a new account has its e-mail.
[[nodiscard]] std::function<std::string(const control::v1::JobRecord& job)> RightsAccount(
    identity::Identities& identities);

}  // namespace trainyard::control
