#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "rules/retention/keep.h"

namespace trainyard::service {

/// The things that one sweep removed.
struct SweepReport {
  std::int64_t jobs = 0;
  std::int64_t job_log_bytes = 0;
  std::int64_t logs = 0;
  std::int64_t log_bytes = 0;
  std::int64_t attempts = 0;
  std::int64_t builds = 0;
  std::int64_t build_bytes = 0;
  std::int64_t environments = 0;
  std::int64_t environment_bytes = 0;
};

/// "removed 2 jobs that ended more than 90 days ago (3.1 MiB of logs), 1 environment (1.2 GiB)"; empty: it
/// removed nothing. Pure: any thread.
[[nodiscard]] std::string SweepText(const SweepReport& report, const retention::Policy& policy);

/// What would be removed while the clock is ahead because of an unconfirmed jump.
struct SweepDoubt {
  std::chrono::nanoseconds ahead{0};
  std::string data_dir;
  retention::Share jobs{};
  retention::Share logs{};
  retention::Share environments{};
};
/// A text that says what is not removed, and how the operator can decide. Pure: any thread.
[[nodiscard]] std::string DoubtText(const SweepDoubt& doubt);

}  // namespace trainyard::service
