#pragma once

#include <span>

#include "cli/client_settings.h"
#include "cli/command_session.h"
#include "cli/console.h"
#include "cli/gcloud/arguments.h"

/// `admin ...`: draining, backups, what a machine lacks. docs/operators.md.
namespace trainyard::cli {

[[nodiscard]] ExitStatus BackUp(const LocalSession& session);
[[nodiscard]] ExitStatus RestoreFromBackup(const LocalSession& session);
[[nodiscard]] ExitStatus DrainServer(const LocalSession& session);
[[nodiscard]] ExitStatus ReloadServer(const LocalSession& session);
[[nodiscard]] ExitStatus RecoverDataDirectory(const LocalSession& session);
/// The operator's word: the machine's clock is right.
[[nodiscard]] ExitStatus ConfirmRetention(const LocalSession& session);
[[nodiscard]] ExitStatus ShowAdminStatus(const LocalSession& session);
/// Status 0 if jobs can run here, else 1.
[[nodiscard]] ExitStatus ExamineMachine(const LocalSession& session);

}  // namespace trainyard::cli
