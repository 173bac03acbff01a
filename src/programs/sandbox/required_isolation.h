#pragma once

#include <string>

#include "programs/sandbox/sandbox.h"
#include "trainyard/replica/v1/replica.pb.h"

/// Which isolation every process of one kind has on this machine. It is found once, when a server or an agent
/// starts, and is required from then on: a process that cannot have it is not started, whatever the machine
/// lacks at that moment. Source: docs/security.md.
namespace trainyard::replica {

struct RequiredIsolation {
  Isolation isolation = Isolation::kNone;
  std::string reason;  ///< why the machine allows no better one; empty: it is the best for this account
  bool operator==(const RequiredIsolation&) const = default;
};

/// The best isolation that there is for the account of this process.
[[nodiscard]] Isolation BestIsolation();

/// Tries the isolations, the best one first, in a process of its own; a few ms, any thread. Only what the
/// kernel refuses leads to less: one that fails for a shortage (processes, memory, descriptors, disk) is
/// tried again, and what is not known is taken as possible. `is_build`: for what builds packages, which is
/// root in its user namespaces where we are; else for programs.
[[nodiscard]] RequiredIsolation FindIsolation(bool is_build);

/// As a manifest has it; where nobody has looked, the best one. Pure but for the account.
[[nodiscard]] RequiredIsolation ReadIsolation(const v1::Manifest::Isolation& found);
[[nodiscard]] v1::Manifest::Isolation PrintIsolation(const RequiredIsolation& required);

}  // namespace trainyard::replica
