#pragma once

#include <cstdint>
#include <optional>

/// The restrictions for every process of a user: a package's program, its shell, the tools that build
/// packages. (A container gets the same from its runtime: rules/container/oci_spec.h.)
namespace trainyard::replica {

/// The capabilities that root keeps. Other users keep none.
enum class Rights : std::uint8_t {
  kContainer,  ///< rules/container/rights.h
  kNone,
};

struct ConfinementFailure {
  const char* step;
  int error;  ///< errno
};

/// Restricts the calling process and its descendants permanently: all other capabilities are removed from all
/// five sets, setuid and file capabilities have no effect (no_new_privs), and system calls go through the
/// filter (rules/container/seccomp_filter.h). Call it last before the exec: mounting, joining namespaces and
/// the like no longer work. The process must have one thread. It fails if the kernel cannot do it: then the
/// program must not run. Without CAP_SETPCAP the bounding set is not reduced, but it grants nothing.
[[nodiscard]] std::optional<ConfinementFailure> Confine(Rights rights = Rights::kContainer);

}  // namespace trainyard::replica
