#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "control/job_users.h"
#include "control/keys.h"
#include "trainyard/replica/v1/replica.pb.h"

namespace trainyard::control {

/// What the operator decided, as the control loop needs it. Paths are absolute.
struct Settings {
  std::string attempts_dir;                        ///< a folder per attempt
  std::string environments_dir;                    ///< runtimes and package layers
  std::string images_dir;                          ///< pulled images
  std::string attach_socket;                       ///< where supervisors attach
  std::string replica_socket;                      ///< where replicas and their packages' downloads ask
  Keys keys;                                       ///< of the installation; survive restarts
  std::string server_url;                          ///< "http://127.0.0.1:8470": in webAccessUris
  std::chrono::milliseconds stop_grace{30'000};    ///< from SIGTERM to SIGKILL
  std::chrono::milliseconds restart_pause{1'000};  ///< before the second restart of a replica; doubles
  std::chrono::milliseconds retry_pause{1'000};    ///< between tries at what a full disk or the like refuses
  /// What runs containers; ENGINE_UNSPECIFIED: nothing does.
  replica::v1::Manifest::Engine container_engine = replica::v1::Manifest::ENGINE_UNSPECIFIED;
  std::string container_engine_address;    ///< path of the OCI runtime, or of the engine's socket
  std::int64_t disk_bytes = 0;             ///< of the file system with the attempts; 0: unknown
  std::int64_t job_log_bytes_max = 0;      ///< what a job's log keeps of its programs' output; 0: all
  std::int64_t replica_log_bytes_max = 0;  ///< the same of one attempt of a replica
  bool machine_limits = false;             ///< no replica gets more CPUs and memory than its machine type has
  std::map<std::string, std::string> replica_environment;  ///< set in every replica's process
  /// How replicas reach the buckets under Google's host names; nothing: those mean Google. `host_names` are
  /// those of the TLS front; an empty `address` says that replicas in the machine's own network cannot have
  /// it.
  std::optional<replica::v1::GoogleFront> google_front;
  std::optional<JobUsers> job_users;  ///< what jobs run as; nothing: as the server does
  bool front_metadata = false;        ///< the metadata server is on port 80 of that address
};

}  // namespace trainyard::control
