#pragma once

#include <filesystem>
#include <span>
#include <string>

#include "base/wire/resource_name.h"
#include "cli/command_session.h"

/// `storage buckets create` and `storage cp|ls|cat|rm`: files and gs:// objects, named as in gsutil and
/// gcloud storage. Errors: the server's refusals, and those of the local file system.
namespace trainyard::cli {

[[nodiscard]] ExitStatus CopyFiles(const CommandSession& session);
/// Downloads one object to `relative` below the folder; says so. kInvalidArgument: the name leads out of it.
[[nodiscard]] Status DownloadBelow(const CommandSession& session, const wire::ObjectUri& object,
                                   const std::string& relative, const std::filesystem::path& folder);

[[nodiscard]] ExitStatus CreateBuckets(const CommandSession& session);
[[nodiscard]] ExitStatus ListStorage(const CommandSession& session);
[[nodiscard]] ExitStatus PrintObjects(const CommandSession& session);
[[nodiscard]] ExitStatus RemoveObjects(const CommandSession& session);

}  // namespace trainyard::cli
