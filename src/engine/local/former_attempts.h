#pragma once

#include <optional>
#include <string>

/// Attempts of another data directory of this machine with the same jobs: of the server whose backup this one
/// is made of. Blocking: a pool's thread.
namespace trainyard::engine {

/// The id of an attempt in `former_dir` that lives and is of the same replica's job as `attempt_id`; nothing:
/// there is none. An empty `former_dir` has none. Source: docs/adr/0044-operating.md.
[[nodiscard]] std::optional<std::string> FindFormerAttempt(const std::string& former_dir,
                                                           const std::string& attempt_id);

/// Whether any attempt there lives.
/// Where that cannot be found out, one may.
[[nodiscard]] bool HasLivingAttempts(const std::string& former_dir);

/// For who asks what became of the attempt: where it still runs, and what to do.
[[nodiscard]] std::string FormerAttemptReason(const std::string& former_dir, const std::string& former_id);

}  // namespace trainyard::engine
