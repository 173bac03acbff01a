#pragma once

#include "trainyard/replica/v1/replica.pb.h"

namespace trainyard::jobs {

/// What the end of an attempt means for its job. Source: docs/adr/0005-restart-policy.md, spec lifecycle.md
/// section 3.
enum class Verdict {
  kDone,       ///< exit status 0
  kPermanent,  ///< it would end the same way again: the job fails
  kTransient,  ///< the replica may be started again
};

/// Permanent: exit status 1, 2, 126 and 127 (user code, usage, not executable, not found), out of memory,
/// failed preparation. Transient: every other status, signals, lost supervisors, the machine's shutdown and
/// shortage. Pure: any thread.
[[nodiscard]] Verdict JudgeExit(const replica::v1::ExitRecord& exit);

/// Whether the user's program was running in that attempt.
[[nodiscard]] bool RanUserCode(const replica::v1::ExitRecord& exit);

}  // namespace trainyard::jobs
