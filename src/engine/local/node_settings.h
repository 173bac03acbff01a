#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "engine/local/job_users.h"
#include "trainyard/replica/v1/replica.pb.h"

namespace trainyard::engine {

/// What separates attempts from this machine; where nobody has looked, the best that there is.
struct Isolations {
  replica::v1::Manifest::Isolation program;
  replica::v1::Manifest::Isolation build;
};

/// What an attempt host has to know of its machine. Paths are absolute.
struct NodeSettings {
  std::string attempts_dir;      ///< a directory per attempt
  std::string environments_dir;  ///< runtimes and package layers
  std::string images_dir;        ///< pulled images
  std::string attach_socket;     ///< where supervisors attach
  std::string replica_socket;    ///< where replicas and their packages' downloads ask
  /// What runs containers; CONTAINER_RUNTIME_UNSPECIFIED: nothing does.
  replica::v1::Manifest::ContainerRuntime container_runtime =
      replica::v1::Manifest::CONTAINER_RUNTIME_UNSPECIFIED;
  std::string container_runtime_address;  ///< path of the OCI runtime, or of the daemon's socket
  std::int64_t disk_bytes = 0;            ///< of the file system with the attempts; 0: unknown
  /// Port of an isolated replica's loopback whose relay leads to replica_socket; 0: there is none.
  int relay_port = 0;
  std::map<std::string, std::string> replica_environment{};  ///< set in every replica's process
  /// How replicas reach the buckets under Google's host names; nothing: those mean Google. `host_names` are
  /// those of the TLS front; an empty `address` says that replicas in the machine's own network cannot have
  /// it.
  std::optional<replica::v1::GoogleFront> google_front{};
  bool front_metadata = false;          ///< the metadata server is on port 80 of that address
  std::optional<JobUsers> job_users{};  ///< what jobs run as; nothing: as the server does
  Isolations isolations{};              ///< found when the server or the agent started
  /// Folders outside of the data directory of which no program and no build sees anything; free of links.
  std::vector<std::string> hidden_dirs{};
};

/// Where replicas find the buckets and the metadata server without the front: under `authority` ("HOST:PORT")
/// and `url` ("http://HOST:PORT"), in variables that Google's clients read. Pure: any thread.
[[nodiscard]] std::map<std::string, std::string> ReplicaVariables(const std::string& url,
                                                                  const std::string& authority);

/// Adds the node's part to the job's part of a manifest: places, container runtime, network, devices, front,
/// users; where cgroups are is the starter's knowledge (supervisor_starter.h). A function of its arguments.
/// Pure: any thread.
void AddNodePart(const NodeSettings& settings, const replica::v1::Slot& slot,
                 replica::v1::Manifest& manifest);

}  // namespace trainyard::engine
