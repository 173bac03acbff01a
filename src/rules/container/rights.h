#pragma once

#include <linux/capability.h>

#include <array>
#include <string_view>

/// What root in a replica keeps of the machine's rights, whether its program is a package or a container.
namespace trainyard::container {

struct Right {
  int number;  ///< as the kernel counts capabilities
  std::string_view name;
};

/// Docker's default without making devices (nothing else keeps a program from another replica's
/// accelerators), raw sockets (in the machine's own network they read everybody's traffic) and writing the
/// audit log: what podman gives. Mounts, the network's and the machine's settings, its clock and its memory
/// are not among it.
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
