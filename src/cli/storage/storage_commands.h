#pragma once

#include <span>

#include "cli/command_session.h"

/// `storage cp|ls|cat|rm`: files and gs:// objects, named as in gsutil and gcloud storage. Errors: the
/// server's refusals, and those of the local file system.
namespace trainyard::cli {

struct Command;

/// The table of `storage ...`.
[[nodiscard]] std::span<const Command> StorageCommands();

[[nodiscard]] ExitStatus CopyFiles(const CommandSession& session);
[[nodiscard]] ExitStatus ListStorage(const CommandSession& session);
[[nodiscard]] ExitStatus PrintObjects(const CommandSession& session);
[[nodiscard]] ExitStatus RemoveObjects(const CommandSession& session);

}  // namespace trainyard::cli
