#include "server/node_settings.h"

#include <unistd.h>

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/async/diagnostics.h"
#include "engine/local/google_front_files.h"
#include "engine/local/machine.h"
#include "net/front/google_names.h"
#include "net/sockets/listen_address.h"

namespace trainyard::server {

namespace {

/// The variables with which replicas find the buckets and the metadata server without the front.
std::map<std::string, std::string> ReplicaEnvironment(const ServeOptions& options, std::uint16_t port) {
  // In an isolated network a relay listens there, on the replica's loopback.
  const bool isolated = options.network == replica::v1::Manifest::ISOLATED;
  const std::string host = isolated ? "127.0.0.1" : sockets::LocalHost(options.host);
  const std::string authority = host + ":" + std::to_string(port);
  return engine::ReplicaVariables(sockets::Url("http", host, port), authority);
}

std::int64_t DiskBytes(const std::string& folder) {
  std::error_code error;
  const std::filesystem::space_info space = std::filesystem::space(folder, error);
  return error ? 0 : static_cast<std::int64_t>(space.capacity);
}

/// Directories to hide. One that does not exist yet is hidden once it does.
std::vector<std::string> HiddenDirs(const ServeOptions& options) {
  if (options.backup_dir.empty()) return {};
  std::error_code error;
  const std::filesystem::path real = std::filesystem::weakly_canonical(options.backup_dir, error);
  return {error ? options.backup_dir : real.string()};
}

/// The ids that the operator reserves for jobs; empty: jobs run as the server's user.
std::optional<engine::JobUsers> JobUsersOf(const ServeOptions& options) {
  if (!options.job_uids) return std::nullopt;
  return engine::JobUsers{.first = options.job_uids->first, .count = options.job_uids->count};
}

}  // namespace

engine::NodeSettings MakeNodeSettings(const ServeOptions& options, const store::DataDirectory& data,
                                      const engine::ContainerSupport& containers,
                                      const BoundSockets& sockets) {
  return {.attempts_dir = data.attempts_dir(),
          .environments_dir = data.environments_dir(),
          .images_dir = data.images_dir(),
          .attach_socket = data.attach_socket(),
          .replica_socket = data.replica_socket(),
          .container_runtime = containers.kind,
          .container_runtime_address = containers.address,
          .disk_bytes = DiskBytes(data.attempts_dir()),
          .relay_port = sockets.replicas ? sockets.replicas->port : 0,
          .replica_environment = sockets.replicas ? ReplicaEnvironment(options, sockets.replicas->port)
                                                  : std::map<std::string, std::string>(),
          .replica_memory_bytes =
              placement::ReplicaMemoryMax(engine::MachineCapacity(options.capacity).memory_bytes),
          .front_metadata = sockets.front && sockets.front->plain,
          .job_users = JobUsersOf(options),
          .isolations = engine::FindIsolations(),
          .hidden_dirs = HiddenDirs(options)};
}

Result<replica::v1::GoogleFront> PrepareGoogleFront(const ServeOptions& options,
                                                    const store::DataDirectory& data,
                                                    const BoundSockets& sockets) {
  const std::string bundle = data.ca_bundle();
  TY_RETURN_IF_ERROR(engine::WriteGoogleFrontFiles({.authority = sockets.identity.ca_file,
                                                    .folder = data.front_dir(),
                                                    .bundle = bundle,
                                                    .project = options.project}));
  replica::v1::GoogleFront told;
  told.set_tls_socket(data.front_tls_socket());
  told.set_plain_socket(data.front_plain_socket());
  told.set_ca_bundle(bundle);
  for (const std::string_view name : front::kTlsHosts) told.add_host_names(std::string(name));
  if (::access("/etc/hosts", F_OK) != 0) {
    Diagnose(DiagnosticLevel::kWarning,
             "this machine has no /etc/hosts, so replicas cannot find each other or Google's names. Create "
             "it with the line '127.0.0.1 localhost'");
  }
  if (sockets.front) engine::DescribeFront(*sockets.front, told);
  if (const Status made = sockets.has_namespaces ? engine::EnsureGcsFolder() : Status()) {
    told.set_buckets_dir(data.Path("buckets"));
    told.mutable_bucket_dirs()->insert(options.bucket_dirs.begin(), options.bucket_dirs.end());
  } else {
    Diagnose(DiagnosticLevel::kWarning,
             "replicas will not see the buckets as files below /gcs: " + made.error().message);
  }
  return told;
}

Status CheckJobUsers(const ServeOptions& options, const store::DataDirectory& data) {
  const auto users = JobUsersOf(options);
  if (!users) return {};
  const auto refused = [](const std::string& why) {
    return std::unexpected(FailedPrecondition("--job-users: " + why));
  };
  if (::geteuid() != 0)
    return refused(
        "only root can run jobs as other users. Without this option, jobs run as the server's account");
  std::vector<std::string> folders = {data.Path(""), data.environments_dir()};
  for (const auto& [name, folder] : options.bucket_dirs) folders.push_back(folder);
  for (const std::string& folder : folders) {
    const Status shown = engine::CheckJobUsers(*users, folder);
    if (!shown) return refused(shown.error().message + ". Remove the option, or use another directory");
  }
  return {};
}

}  // namespace trainyard::server
