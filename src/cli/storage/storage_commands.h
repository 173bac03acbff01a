#pragma once

#include "cli/command_session.h"

/// `storage cp|ls|cat|rm`: files and gs:// objects, as gsutil and gcloud storage name them.
namespace trainyard::cli {

[[nodiscard]] ExitStatus CopyFiles(const CommandSession& session);
[[nodiscard]] ExitStatus ListStorage(const CommandSession& session);
[[nodiscard]] ExitStatus PrintObjects(const CommandSession& session);
[[nodiscard]] ExitStatus RemoveObjects(const CommandSession& session);

}  // namespace trainyard::cli
