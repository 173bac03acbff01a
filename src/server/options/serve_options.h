#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/async/loop_watch.h"
#include "base/result.h"
#include "control/intake/request_quota.h"
#include "control/intake/runtime_choice.h"
#include "engine/engine_options.h"
#include "engine/local/container_support.h"
#include "net/access/account_rules.h"
#include "net/access/forwarded_rules.h"
#include "net/mail/mail.h"
#include "net/sockets/metrics_address.h"
#include "programs/environment/catalogue.h"
#include "rules/jobs/accelerator_quota.h"
#include "rules/notices/destination.h"
#include "rules/placement/accelerator_map.h"
#include "rules/placement/device.h"
#include "rules/placement/plan.h"
#include "rules/placement/project_use.h"
#include "rules/placement/quota.h"
#include "rules/retention/disk_marks.h"
#include "rules/retention/keep.h"
#include "stores/audit/audit_files.h"
#include "trainyard/replica/v1/replica.pb.h"

namespace trainyard::server {

/// The origin of requests, and the audit log.
struct AccessOptions {
  access::TrustedProxies trusted_proxies;
  audit::Retention audit;
};

/// Containers and their images.
struct ContainerOptions {
  engine::ContainerChoice choice;
  std::vector<std::pair<std::string, std::string>> image_map;  ///< pattern (jobs::MatchesImage), reference
  std::vector<std::string> insecure_registries;                ///< contacted without TLS
  std::int64_t images_bytes_max = 0;                           ///< the most that the cache keeps; 0: no limit
  std::chrono::days images_age_max{30};                        ///< since an image ran last; 0: no limit
};

/// How projects and principals share the installation.
struct ShareOptions {
  placement::Quotas quotas;
  placement::ProjectWeights weights;
};

/// What is kept for how long, and what happens when disk space is low.
struct RetentionOptions {
  retention::Policy policy;
  retention::DiskMarks marks;
};

/// Notices about jobs: to whom, about what, and how.
struct NoticeOptions {
  std::vector<notices::Destination> destinations;
  retention::Keep long_wait = std::chrono::minutes(30);  ///< nullopt: waiting jobs are not reported
  std::string secret_file;                               ///< absolute path; empty: none
  std::optional<mail::MailServer> mail_server;           ///< without sender and password
  std::string mail_from;
  std::string mail_password_file;  ///< absolute path; empty: none
};

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
  engine::EngineOptions engine;
  placement::Capacity::Mode capacity = placement::Capacity::Mode::kShare;
  std::optional<std::vector<placement::Device>> accelerators;  ///< declared ones; empty: those that are found
  placement::AcceleratorMap accelerator_map;
  replica::v1::Manifest::Network network = replica::v1::Manifest::HOST;
  std::string keeper;  ///< absolute path of the keeper's socket; empty: this server starts supervisors itself
  static constexpr std::int64_t kAutomatic = -1;
  /// How much memory warm interpreters may have; 0: there are none; kAutomatic: a share of the machine's.
  std::int64_t warm_bytes_max = kAutomatic;
  bool google_front = true;  ///< replicas find this server's buckets under Google's host names
  std::map<std::string, std::string>
      bucket_dirs;         ///< buckets elsewhere on the machine: name -> absolute directory
  std::string backup_dir;  ///< directory for backups that are made through the API; empty: the API makes none
  std::vector<std::string> real_buckets;         ///< buckets of the real Cloud Storage
  std::string real_bucket_token;                 ///< file with an access token for them; empty: none is sent
  control::RequestQuota::Limits request_limits;  ///< per project and minute
  ShareOptions shares;
  RetentionOptions retention;
  NoticeOptions notices;
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

/// Checks that flags of which one means nothing without the other fit together. An error's field is the wrong
/// flag. Pure: any thread.
[[nodiscard]] Status CheckFlagPairs(const ServeOptions& options);
/// Checks that the options fit together otherwise, and that this version supports them. The same error.
[[nodiscard]] Status CheckOptionRules(const ServeOptions& options);

}  // namespace trainyard::server
