#pragma once

#include <cstdint>
#include <string>

#include "programs/image/image.h"
#include "programs/sandbox/sandbox.h"
#include "rules/container/oci_spec.h"

/// A container by an OCI runtime: crun or runc is the program of a sandbox, whose mount namespace has the
/// image and whose PID namespace ends the container with everything else. Nothing of it is outside of the
/// sandbox but its directory.
namespace trainyard::replica {

struct OciContainer {
  std::string runtime;  ///< absolute path of crun or runc
  /// Its own, absolute, made if need be: the runtime's settings and log, and the writable layer.
  std::string folder;
  const image::Image& image;
  container::Spec spec;         ///< its root and in_user_namespace are set here
  std::int64_t disk_bytes = 0;  ///< of the writable layer; 0: as much as there is. Needs the machine's root
};

/// Where a container of that directory keeps what it writes, if there is no limit.
[[nodiscard]] std::string WritableLayer(const std::string& folder);

/// What runs the container with that isolation, which has a PID namespace. Writes the directory again, but
/// for the writable layer. kFailedPrecondition: it cannot be run (the message says why and what to do);
/// kResourceExhausted: no space.
[[nodiscard]] Result<SandboxPlan> PlanContainer(OciContainer container, Isolation isolation);

/// Why the runtime or the kernel could not run the container of that directory, in one sentence; empty: they
/// could. Read when it has ended. `exit_code`: the runtime's; after 1 it may not have run the program, and
/// says so on its stderr only.
[[nodiscard]] std::string ContainerFailure(const std::string& folder, int exit_code);

/// The file as a process in the image would read it: of the merged layers, links followed inside; empty:
/// there is none.
[[nodiscard]] std::string ReadImageFile(const image::Image& image, const std::string& path);
[[nodiscard]] bool ImageHas(const image::Image& image, const std::string& path);

/// Removes the directory, whoever owns what is in it: what a container of ours wrote may be owned by further
/// ids of ours. Runs an isolated process for that where it is needed.
void RemoveContainerFolder(const std::string& folder);

}  // namespace trainyard::replica
