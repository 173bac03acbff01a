#pragma once

#include <cstdint>
#include <optional>

/// What every process of a user's runs under, whatever runs it: a package, its shell, the building of
/// packages. (A container gets the same from its runtime: rules/container/oci_spec.h.)
namespace trainyard::replica {

/// What root keeps. Anybody else keeps nothing.
enum class Rights : std::uint8_t {
  kContainer,  ///< rules/container/rights.h
  kNone,
};

struct ConfinementFailure {
  const char* step;
  int error;  ///< errno
};

/// Confines the calling process and all that it will start, for good: rights beyond those are gone from all
/// five sets, setuid and file capabilities give nothing (no_new_privs), and system calls go through the
/// filter (rules/container/seccomp_filter.h). Call it last, with an exec behind it: mounting, joining
/// namespaces and the like no longer work. In a process with one thread. A failure is a kernel that cannot do
/// it: the program must not run. Without CAP_SETPCAP the bounding set stays, and grants nothing.
[[nodiscard]] std::optional<ConfinementFailure> Confine(Rights rights = Rights::kContainer);

}  // namespace trainyard::replica
