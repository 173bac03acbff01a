#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "trainyard/control/v1/admin.pb.h"

/// The results of `trainyard admin doctor` for a machine. Pure: any thread. Source:
/// docs/adr/0044-operating.md.
namespace trainyard::service {

/// The findings of the probes; every `Status` is the result of a test.
struct DoctorFacts {
  bool is_root = false;
  Status data_directory{};   ///< it exists or can be created, and this account may write to it
  std::string server_url{};  ///< of the server that has the data directory; empty: none runs
  Status port{};             ///< the port that a server would listen on; not tested while one runs
  Status user_namespaces{};  ///< not tried by root
  Status own_root{};
  Status doors{};  ///< whether connections can be redirected to the server's own ports
  Status isolated_networks{};
  int cgroup_version = 0;        ///< 0: no groups for attempts
  std::string limits_lacking{};  ///< one sentence; empty: all limits work
  std::string logout{};          ///< the effect of a logout; empty: no session is involved
  bool logout_ends_jobs = false;
  std::vector<std::string> devices{};       ///< accelerators, one line each
  std::vector<std::string> device_notes{};  ///< what could not be read about them
  std::string containers{};                 ///< what runs containers; empty: nothing
  std::string containers_lacking{};
  std::vector<std::string> pythons{};         ///< "3.11"
  std::vector<std::string> runtimes_ready{};  ///< versions that are built or can be built
  std::string default_runtime{};
  struct Disk {
    std::string folder;
    std::string kind;  ///< "ext4"
    std::int64_t free_bytes = 0;
    std::int64_t total_bytes = 0;
    std::int64_t free_inodes = -1;  ///< -1: not counted
    std::int64_t total_inodes = -1;
    Status written{};                         ///< a small file, synced
    std::chrono::microseconds write_time{0};  ///< median of several
  } disk{};
  bool clock_synchronised = false;
  std::optional<SysTime> certificate_ends{};  ///< nullopt: there is none yet
  bool has_gcs_folder = false;                ///< /gcs, where replicas see the buckets
  SysTime now{};
};

/// One row for each fact, in their order.
[[nodiscard]] control::v1::Doctor JudgeMachine(const DoctorFacts& facts);

}  // namespace trainyard::service
