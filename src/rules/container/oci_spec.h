#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "rules/container/user.h"

/// The configuration of a container for an OCI runtime (crun, runc). Pure: any thread. Source: OCI runtime
/// specification 1.0, config.md and config-linux.md.

namespace trainyard::container {

// The filter of seccomp_filter.h in the formats of OCI runtimes. Pure: any thread. Source: OCI runtime
// specification 1.0, config-linux.md, "Seccomp"; crun(1), run.oci.seccomp_bpf_data.

/// linux.seccomp: the rules, which the runtime compiles. It leaves out calls whose names its library does not
/// know.
[[nodiscard]] std::string PrintSeccomp();

/// The compiled filter in base64: crun installs it unchanged, which saves the milliseconds for compiling.
[[nodiscard]] std::string EncodeSeccompFilter();

/// A file or directory of the machine seen in the container.
struct Bind {
  std::string source;       ///< absolute
  std::string destination;  ///< absolute; made if the image does not have it
  bool read_only = false;
  bool data_only = false;  ///< setuid bits and device files have no effect there
  bool operator==(const Bind&) const = default;
};

/// A character or block device file.
struct DeviceNode {
  std::string path;
  char type = 'c';  ///< 'c' or 'b'
  std::int64_t major = 0;
  std::int64_t minor = 0;
  bool operator==(const DeviceNode&) const = default;
};

/// A program that the runtime runs outside of the container while it creates the container.
struct Hook {
  std::string stage;  ///< "createContainer" and the like
  std::string path;
  std::vector<std::string> args;
  std::vector<std::string> environment;
  bool operator==(const Hook&) const = default;
};

/// A container to make. It is created inside the replica's namespaces (host name, IPC, network, users, as in
/// the sandbox) and also gets a new PID and mount namespace.
struct Spec {
  std::vector<std::string> args;
  std::vector<std::string> environment;  ///< NAME=value
  std::string working_dir = "/";         ///< made if the image does not have it
  User user;
  std::string root;                      ///< absolute: where the image is mounted
  std::vector<Bind> binds;               ///< in order
  std::vector<DeviceNode> devices;       ///< in addition to those of every container
  std::vector<Hook> hooks;               ///< in order
  std::int64_t shared_memory_bytes = 0;  ///< of /dev/shm; 0: half of the machine's memory
  bool in_user_namespace = false;        ///< what needs the machine's own root is left out
};

/// Prints config.json. The capabilities are those of rights.h for root and none for other users; setuid files
/// give no additional ones; system calls go through the filter of seccomp_filter.h. It requests no cgroup:
/// docs/adr/0015-containers.md, docs/adr/0023-confinement.md.
[[nodiscard]] std::string PrintSpec(const Spec& spec);

}  // namespace trainyard::container
