#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "control/run/keys.h"

namespace trainyard::control {

/// What the operator decided, as the control loop needs it. Complete before the loop is made, never changed.
struct Settings {
  Keys keys;                                     ///< of the installation; survive restarts
  std::string server_url;                        ///< "http://127.0.0.1:8470": in webAccessUris
  bool auth = false;                             ///< who asks has to log in: URIs open nothing by themselves
  std::chrono::milliseconds stop_grace{30'000};  ///< from SIGTERM to SIGKILL
  std::chrono::milliseconds restart_pause{1'000};  ///< before the second restart of a replica; doubles
  std::chrono::milliseconds retry_pause{1'000};    ///< between tries at what a full disk or the like refuses
  /// A supervisor that lives and is not connected for as long is looked at: it may never come.
  std::chrono::milliseconds attach_wait{30'000};
  /// A supervisor that has been dismissed and is still there after this is killed.
  std::chrono::milliseconds dismiss_wait{120'000};
  std::int64_t job_log_bytes_max = 0;      ///< what a job's log keeps of its programs' output; 0: all
  std::int64_t replica_log_bytes_max = 0;  ///< the same of one attempt of a replica
  bool machine_limits = false;             ///< no replica gets more CPUs and memory than its machine type has
};

}  // namespace trainyard::control
