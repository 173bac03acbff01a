#pragma once

#include <cstdint>
#include <string>

#include "programs/image/image.h"
#include "programs/sandbox/sandbox.h"
#include "rules/container/oci_spec.h"

/// A container that an OCI runtime runs: crun or runc is the program of a sandbox, whose mount namespace
/// contains the image and whose PID namespace ends the container with everything else. Only its directory is
/// outside of the sandbox.
namespace trainyard::replica {

struct OciContainer {
  std::string runtime;  ///< absolute path of crun or runc
  /// The container's own directory, absolute, created if needed: the runtime's settings and log, and the
  /// writable layer.
  std::string folder;
  const image::Image& image;
  container::Spec spec;         ///< PlanContainer sets its root and in_user_namespace
  std::int64_t disk_bytes = 0;  ///< limit of the writable layer; 0: none. A limit needs root on the machine
};

/// The directory to which a container in `folder` writes, if there is no limit.
[[nodiscard]] std::string WritableLayer(const std::string& folder);

/// The sandbox that runs the container with that isolation, which must have a PID namespace. Rewrites the
/// directory, except for the writable layer. kFailedPrecondition: it cannot be run (the message says why and
/// what to do); kResourceExhausted: no space.
[[nodiscard]] Result<SandboxPlan> PlanContainer(OciContainer container, Isolation isolation);

/// Why the runtime or the kernel could not run the container in `folder`, in one sentence; empty: they could.
/// Call it when the container has ended. `exit_code`: the runtime's; with 1 it may not have run the program,
/// and only its stderr says so.
[[nodiscard]] std::string ContainerFailure(const std::string& folder, int exit_code);

/// The contents of a file as a process in the image would read it: from the merged layers, following links
/// inside the image; empty: there is no such file.
[[nodiscard]] std::string ReadImageFile(const image::Image& image, const std::string& path);
[[nodiscard]] bool ImageHas(const image::Image& image, const std::string& path);

/// Removes the directory, whoever owns its files: a container's files may be owned by our subordinate ids.
/// Runs an isolated process for that if needed.
void RemoveContainerFolder(const std::string& folder);

}  // namespace trainyard::replica
