#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "engine/local/attempt_accounts.h"
#include "programs/sandbox/cgroups/cgroup.h"
#include "trainyard/replica/v1/replica.pb.h"

namespace trainyard::engine {

/// The isolation between attempts and this machine. If it was not determined, the strongest one.
struct Isolations {
  replica::v1::Manifest::Isolation program;
  replica::v1::Manifest::Isolation build;
};

/// What an attempt host has to know about its machine. Paths are absolute.
struct NodeSettings {
  std::string attempts_dir;      ///< a directory per attempt
  std::string environments_dir;  ///< runtimes and package layers
  std::string images_dir;        ///< pulled images
  std::string attach_socket;     ///< where supervisors attach
  std::string replica_socket;    ///< where replicas and downloads of their packages connect
  /// What runs containers; CONTAINER_RUNTIME_UNSPECIFIED: nothing does.
  replica::v1::Manifest::ContainerRuntime container_runtime =
      replica::v1::Manifest::CONTAINER_RUNTIME_UNSPECIFIED;
  std::string container_runtime_address;  ///< path of the OCI runtime, or of the daemon's socket
  std::int64_t disk_bytes = 0;            ///< of the file system with the attempts; 0: unknown
  /// Port of an isolated replica's loopback whose relay leads to replica_socket; 0: there is none.
  int relay_port = 0;
  std::map<std::string, std::string> replica_environment{};  ///< set in every replica's process
  /// How replicas reach the buckets under Google's host names; empty: these names lead to Google.
  /// `host_names` are those of the TLS front; with an empty `address`, replicas in the machine's own network
  /// cannot use the front.
  std::optional<replica::v1::GoogleFront> google_front{};
  std::int64_t replica_memory_bytes = 0;  ///< the most that a replica without a limit may use; 0: all
  bool front_metadata = false;            ///< the metadata server is on port 80 of that address
  std::optional<JobUsers> job_users{};    ///< users for jobs; empty: jobs run as the server's user
  Isolations isolations{};                ///< found when the server or the agent started
  /// Directories outside of the data directory that are hidden from programs and builds; their paths have no
  /// symbolic links.
  std::vector<std::string> hidden_dirs{};
};

/// Environment variables that Google's clients read, with which replicas find the buckets and the metadata
/// server without the front: at `authority` ("HOST:PORT") and `url` ("http://HOST:PORT"). Pure: any thread.
[[nodiscard]] std::map<std::string, std::string> ReplicaVariables(const std::string& url,
                                                                  const std::string& authority);

/// Adds the node's part to the job's part of a manifest: paths, container runtime, network, devices, front,
/// users. The place of cgroups is added later (AddCgroupPart). Pure: any thread.
void AddNodePart(const NodeSettings& settings, const replica::v1::Slot& slot,
                 replica::v1::Manifest& manifest);

/// Adds the place of cgroups, which the starter finds (keeper_starter.h), and limits a replica without a
/// limit to `memory_max` (NodeSettings::replica_memory_bytes). With version 1 it does not: there a cgroup
/// delays each start by more than a start may take. Pure: any thread.
void AddCgroupPart(std::int64_t memory_max, const replica::CgroupHome& home, replica::v1::Manifest& manifest);

}  // namespace trainyard::engine
