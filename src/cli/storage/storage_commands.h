#pragma once

#include "cli/session.h"

/// `storage cp|ls|cat|rm`: files and gs:// objects, as gsutil and gcloud storage name them.
namespace trainyard::cli {

[[nodiscard]] ExitStatus CopyFiles(const Session& session);
[[nodiscard]] ExitStatus ListStorage(const Session& session);
[[nodiscard]] ExitStatus PrintObjects(const Session& session);
[[nodiscard]] ExitStatus RemoveObjects(const Session& session);

}  // namespace trainyard::cli
