#pragma once

#include <linux/capability.h>

#include <array>
#include <string_view>

/// The capabilities that root keeps in a replica, both for packages and containers.
namespace trainyard::container {

struct Right {
  int number;  ///< the kernel's number of the capability
  std::string_view name;
};

/// Docker's default without CAP_MKNOD (with device files a program could use another replica's accelerators),
/// without raw sockets (in the machine's own network they read all traffic) and without writing the audit
/// log. This is podman's default. It does not include mounts, settings of the network and the machine, the
/// clock or the machine's memory.
inline constexpr std::array kRights = {Right{CAP_CHOWN, "CAP_CHOWN"},
                                       Right{CAP_DAC_OVERRIDE, "CAP_DAC_OVERRIDE"},
                                       Right{CAP_FOWNER, "CAP_FOWNER"},
                                       Right{CAP_FSETID, "CAP_FSETID"},
                                       Right{CAP_KILL, "CAP_KILL"},
                                       Right{CAP_SETGID, "CAP_SETGID"},
                                       Right{CAP_SETUID, "CAP_SETUID"},
                                       Right{CAP_SETPCAP, "CAP_SETPCAP"},
                                       Right{CAP_NET_BIND_SERVICE, "CAP_NET_BIND_SERVICE"},
                                       Right{CAP_SYS_CHROOT, "CAP_SYS_CHROOT"},
                                       Right{CAP_SETFCAP, "CAP_SETFCAP"}};

}  // namespace trainyard::container
