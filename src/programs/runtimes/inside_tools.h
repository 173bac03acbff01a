#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "programs/attempt/attempt_dir.h"
#include "programs/sandbox/namespaces/file_view.h"

/// Programs that we put into replicas: process 1 of a container, and `gcsfuse` for scripts that mount
/// buckets. Source: ADR 0034.
namespace trainyard::replica {

/// The path of process 1 in a container.
inline constexpr const char* kContainerInit = "/dev/init";

/// Whether the program is itself an init (tini, dumb-init, s6), which has to be process 1. Decided by its
/// name. Pure.
[[nodiscard]] bool IsInit(const std::string& program);

/// Writes process 1 of a container into the attempt's directory. @return its path.
[[nodiscard]] Result<std::string> WriteContainerInit(const AttemptDir& dir);

/// Writes gcsfuse, fusermount, fusermount3 and umount into AttemptDir::Tools(), a directory that is added to
/// PATH.
[[nodiscard]] Status WriteStorageTools(const AttemptDir& dir);
/// Binds these tools over existing ones; with `add`, also into /usr/local/bin. Pure, except for `has_file`.
[[nodiscard]] std::vector<FileView::Bind> StorageToolBinds(
    const std::string& tools, bool add, const std::function<bool(const std::string& path)>& has_file);

}  // namespace trainyard::replica
