#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "programs/sandbox/namespaces/file_view.h"

/// Programs that we put into replicas: process 1 of a container, and `gcsfuse` for scripts that mount
/// buckets. Source: ADR 0034.
namespace trainyard::replica {

/// The path of process 1 in a container.
inline constexpr const char* kContainerInit = "/dev/init";

/// Whether the program is itself an init (tini, dumb-init, s6), which has to be process 1. Decided by its
/// name. Pure.
[[nodiscard]] bool IsInit(const std::string& program);

/// The paths of these programs. All replicas of an installation share them.
struct InsideTools {
  std::string init;     ///< process 1 of a container
  std::string storage;  ///< the directory of gcsfuse, fusermount, fusermount3 and umount, for PATH
};

/// Writes the programs below the environments directory, unless they are there already. The directory is
/// named by its contents: programs of two versions may use one environments directory.
[[nodiscard]] Result<InsideTools> FindInsideTools(const std::string& environments_dir);
/// Binds these tools over existing ones; with `add`, also into /usr/local/bin. Pure, except for `has_file`.
[[nodiscard]] std::vector<FileView::Bind> StorageToolBinds(
    const std::string& tools, bool add, const std::function<bool(const std::string& path)>& has_file);

}  // namespace trainyard::replica
