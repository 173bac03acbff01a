#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/async/loop_watch.h"
#include "base/configuration/key.h"
#include "cli/commands.h"
#include "control/intake/request_quota.h"
#include "control/intake/runtime_choice.h"
#include "net/access/account_rules.h"
#include "net/sockets/metrics_address.h"
#include "programs/environment/catalogue.h"
#include "rules/jobs/accelerator_quota.h"
#include "rules/placement/accelerator_map.h"
#include "rules/placement/device.h"
#include "rules/placement/plan.h"
#include "rules/slurm/engine_options.h"
#include "server/options/access_options.h"
#include "server/options/container_options.h"
#include "server/options/retention_options.h"
#include "server/options/share_options.h"
#include "trainyard/replica/v1/replica.pb.h"

namespace trainyard::server {

/// The flags of `trainyard serve`.
struct ServeOptions {
  std::string config_file;  ///< as given; empty: none
  std::string data_dir;     ///< absolute
  std::string host = "127.0.0.1";
  std::uint16_t port = 8470;                       ///< 0: any free port, the same as last time if possible
  std::optional<sockets::MetricsAddress> metrics;  ///< address of the metrics listener; empty: none
  std::vector<std::string> host_names;             ///< more host names of the server; lower case, no port
  bool local_users = false;                        ///< every account of this machine may send requests
  std::string tls_certificate;  ///< file with the TLS port's certificate; empty: the installation's own
  std::string tls_key;          ///< file of its private key
  bool auth = false;            ///< requests need a token; policies decide what they may do
  AccessOptions access;
  std::optional<access::UidRange> job_uids;  ///< users for jobs; empty: the server's user
  std::string project = "trainyard";         ///< what the metadata server tells clients that do not name one
  std::string default_runtime = "2.15";
  environment::FallbackPolicy runtime_fallback = environment::FallbackPolicy::kNearest;
  std::vector<control::ImageRuntime> images;
  ContainerOptions containers;
  slurm::EngineOptions engine;
  placement::Capacity::Mode capacity = placement::Capacity::Mode::kShare;
  std::optional<std::vector<placement::Device>> accelerators;  ///< declared ones; empty: those that are found
  placement::AcceleratorMap accelerator_map;
  replica::v1::Manifest::Network network = replica::v1::Manifest::HOST;
  std::string keeper;  ///< absolute path of the keeper's socket; empty: this server starts supervisors itself
  bool google_front = true;  ///< replicas find this server's buckets under Google's host names
  std::map<std::string, std::string>
      bucket_dirs;         ///< buckets elsewhere on the machine: name -> absolute directory
  std::string backup_dir;  ///< directory for backups that are made through the API; empty: the API makes none
  std::vector<std::string> real_buckets;         ///< buckets of the real Cloud Storage
  std::string real_bucket_token;                 ///< file with an access token for them; empty: none is sent
  control::RequestQuota::Limits request_limits;  ///< per project and minute
  ShareOptions shares;
  RetentionOptions retention;
  jobs::AcceleratorCounts accelerator_quota;  ///< per project; types without a number have no limit
  std::chrono::seconds stop_grace{30};
  std::chrono::milliseconds restart_pause{1'000};  ///< before the second restart of a replica; doubles
  std::int64_t job_log_bytes_max =
      10'000'000'000;  ///< how much of the output of a job's programs is kept; 0: all
  std::int64_t replica_log_bytes_max = 5'000'000'000;             ///< the same for one attempt of a replica
  std::chrono::milliseconds loop_turn_max = LoopWatch::kTurnMax;  ///< a longer turn counts as a stall
  bool create_buckets = true;
  bool verbose = false;
};

/// Parses the words of a command line, without the program's name; reads no file. Empty: help was requested.
/// An error's field is the wrong flag; empty if there is none.
[[nodiscard]] Result<std::optional<ServeOptions>> ReadServeFlags(const std::vector<std::string>& words);

/// The flags for the help, the manual page and completion of `trainyard`.
[[nodiscard]] std::vector<cli::ServeFlag> DescribeServeFlags();

/// The flags as keys of the configuration file, sorted: all but those that are ->configurable(false).
[[nodiscard]] std::vector<configuration::Key> ConfigurationKeys();

}  // namespace trainyard::server
