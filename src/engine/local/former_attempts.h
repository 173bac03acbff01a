#pragma once

#include <optional>
#include <string>

/// Attempts in another data directory of this machine with the same jobs: the one whose backup this server
/// was restored from. Blocking: call the functions on a pool's thread.
namespace trainyard::engine {

/// The id of a living attempt in `former_dir` of the same job as `attempt_id`; empty: there is none. An empty
/// `former_dir` has none. Source: docs/adr/0044-operating.md.
[[nodiscard]] std::optional<std::string> FindFormerAttempt(const std::string& former_dir,
                                                           const std::string& attempt_id);

/// Whether any attempt there lives; true if that cannot be determined.
[[nodiscard]] bool HasLivingAttempts(const std::string& former_dir);

/// The message about such an attempt: where it still runs, and what to do.
[[nodiscard]] std::string FormerAttemptReason(const std::string& former_dir, const std::string& former_id);

}  // namespace trainyard::engine
