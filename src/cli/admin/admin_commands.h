#pragma once

#include <span>

#include "cli/client_settings.h"
#include "cli/command_session.h"
#include "cli/console.h"
#include "cli/gcloud/arguments.h"

/// `admin ...`: draining, backups, what a machine lacks. docs/operators.md.
namespace trainyard::cli {

struct Command;

/// The table of `admin ...`.
[[nodiscard]] std::span<const Command> AdminCommands();

[[nodiscard]] ExitStatus BackUp(const Arguments& arguments, const SettingSources& sources,
                                const Console& console);
[[nodiscard]] ExitStatus RestoreFromBackup(const Arguments& arguments, const SettingSources& sources,
                                           const Console& console);
[[nodiscard]] ExitStatus DrainServer(const Arguments& arguments, const SettingSources& sources,
                                     const Console& console);
[[nodiscard]] ExitStatus ReloadServer(const Arguments& arguments, const SettingSources& sources,
                                      const Console& console);
[[nodiscard]] ExitStatus RecoverDataDirectory(const Arguments& arguments, const SettingSources& sources,
                                              const Console& console);
/// The operator's word: the machine's clock is right.
[[nodiscard]] ExitStatus ConfirmRetention(const Arguments& arguments, const SettingSources& sources,
                                          const Console& console);
[[nodiscard]] ExitStatus ShowAdminStatus(const Arguments& arguments, const SettingSources& sources,
                                         const Console& console);
/// Status 0 if jobs can run here, else 1.
[[nodiscard]] ExitStatus ExamineMachine(const Arguments& arguments, const SettingSources& sources,
                                        const Console& console);

}  // namespace trainyard::cli
