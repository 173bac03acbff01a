#pragma once

#include <string>

#include "programs/sandbox/sandbox.h"
#include "trainyard/replica/v1/replica.pb.h"

/// The isolation that every process of one kind has on this machine. It is determined once, when a server or
/// an agent starts, and is required from then on: a process that cannot get it is not started, whatever the
/// machine lacks at that moment. Source: docs/security.md.
namespace trainyard::replica {

struct RequiredIsolation {
  Isolation isolation = Isolation::kNone;
  std::string reason;  ///< why the machine allows no better one; empty: it is the best for this account
  bool operator==(const RequiredIsolation&) const = default;
};

/// The best isolation that the account of this process may have.
[[nodiscard]] Isolation BestIsolation();

/// Tries the isolations, the best one first, in a child process; takes a few ms, any thread. It only goes on
/// to a weaker one if the kernel rejects an isolation: one that fails for a shortage (processes, memory,
/// descriptors, disk) is tried again, and other errors count as success. `is_build`: for tools that build
/// packages, which are root in their user namespaces; otherwise for programs.
[[nodiscard]] RequiredIsolation FindIsolation(bool is_build);

/// Reads it from a manifest; if it was not determined, the best one. Pure, except that it depends on the
/// account.
[[nodiscard]] RequiredIsolation ReadIsolation(const v1::Manifest::Isolation& found);
[[nodiscard]] v1::Manifest::Isolation PrintIsolation(const RequiredIsolation& required);

}  // namespace trainyard::replica
