#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "control/run/keys.h"

namespace trainyard::control {

/// The operator's settings that the control loop needs. Complete before the loop is created, never changed.
struct Settings {
  Keys keys;                                       ///< of the installation; survive restarts
  std::string server_url;                          ///< "http://127.0.0.1:8470": in webAccessUris
  bool auth = false;                               ///< callers have to log in: URIs alone open nothing
  std::chrono::milliseconds stop_grace{30'000};    ///< from SIGTERM to SIGKILL
  std::chrono::milliseconds restart_pause{1'000};  ///< before the second restart of a replica; doubles
  std::chrono::milliseconds retry_pause{1'000};    ///< between retries after a full disk or a similar error
  /// After this time without a connection from a running supervisor, the server checks on it: it may never
  /// connect.
  std::chrono::milliseconds attach_wait{30'000};
  /// A dismissed supervisor that is still running after this time is killed.
  std::chrono::milliseconds dismiss_wait{120'000};
  std::int64_t job_log_bytes_max = 0;      ///< limit on a job's log of its programs' output; 0: none
  std::int64_t replica_log_bytes_max = 0;  ///< the same for one attempt of a replica
  bool machine_limits = false;  ///< replicas are limited to the CPUs and memory of their machine type
};

}  // namespace trainyard::control
