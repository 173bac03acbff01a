#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "programs/attempt/attempt_dir.h"
#include "programs/sandbox/namespaces/file_view.h"

/// What we put into replicas: process 1 of a container, and `gcsfuse` for scripts that mount buckets. Source:
/// ADR 0034.
namespace trainyard::replica {

/// Where a container has its process 1.
inline constexpr const char* kContainerInit = "/dev/init";

/// Whether the program is an init itself (tini, dumb-init, s6): it has to be process 1. By its name. Pure.
[[nodiscard]] bool IsInit(const std::string& program);

/// Writes process 1 of a container into the attempt's directory. @return its path.
[[nodiscard]] Result<std::string> WriteContainerInit(const AttemptDir& dir);

/// Writes gcsfuse, fusermount, fusermount3 and umount into AttemptDir::Tools(), which goes into PATH.
[[nodiscard]] Status WriteStorageTools(const AttemptDir& dir);
/// Puts them in the place of those that there are. Where `add`, also into /usr/local/bin. Pure, but for
/// `has_file`.
[[nodiscard]] std::vector<FileView::Bind> StorageToolBinds(
    const std::string& tools, bool add, const std::function<bool(const std::string& path)>& has_file);

}  // namespace trainyard::replica
