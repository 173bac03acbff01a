#include "engine/local/node_settings.h"

#include "base/wire/host_name.h"

namespace trainyard::engine {

namespace {

using replica::v1::Manifest;

/// A disk limit larger than this file system is left out.
void AddContainerPart(const NodeSettings& settings, Manifest& manifest) {
  if (!manifest.program().has_container()) return;
  Manifest::Container& container = *manifest.mutable_program()->mutable_container();
  container.set_runtime_kind(settings.container_runtime);
  container.set_runtime_address(settings.container_runtime_address);
  if (settings.disk_bytes > 0 && manifest.limits().disk_bytes() >= settings.disk_bytes)
    manifest.mutable_limits()->clear_disk_bytes();
}

/// A replica with an isolated network has the front on its own loopback, whatever the machine's ports are.
void AddGoogleFront(const NodeSettings& settings, Manifest& manifest) {
  if (!settings.google_front) return;
  const bool isolated = manifest.network() == Manifest::ISOLATED;
  replica::v1::GoogleFront& front = *manifest.mutable_google_front();
  front = *settings.google_front;
  if (isolated) {
    front.set_address("127.0.0.1");
    front.clear_tls_port();
    front.clear_plain_port();
  }
  // Containers of a daemon or a pod are not children of our supervisor, which therefore cannot redirect their
  // connections.
  const auto kind = manifest.program().container().runtime_kind();
  const bool is_child = kind != Manifest::CONTAINER_DAEMON && kind != Manifest::POD_CONTAINER;
  if (!is_child && (front.tls_port() != 0 || front.plain_port() != 0)) front.clear_address();
  if (front.address().empty() || (!isolated && !settings.front_metadata)) return;
  if (front.has_names()) return;  // the hosts file has the metadata server's names, and no replica's own
  front.add_host_names(std::string(wire::kGoogleMetadataHost));
  front.add_host_names(std::string(wire::kGoogleMetadataShortHost));
  front.add_host_names(manifest.metadata_host_name());
}

}  // namespace

std::map<std::string, std::string> ReplicaVariables(const std::string& url, const std::string& authority) {
  return {{"STORAGE_EMULATOR_HOST", url},
          {"GCE_METADATA_HOST", authority},
          {"GCE_METADATA_IP", authority},
          {"GCSFS_EXPERIMENTAL_ZB_HNS_SUPPORT", "false"}};
}

void AddNodePart(const NodeSettings& settings, const replica::v1::Slot& slot, Manifest& manifest) {
  Manifest::Places& places = *manifest.mutable_places();
  places.set_attempt_dir(settings.attempts_dir + "/" + manifest.attempt_id());
  places.set_environments_dir(settings.environments_dir);
  places.set_images_dir(settings.images_dir);
  places.set_attach_socket(settings.attach_socket);
  places.set_replica_socket(settings.replica_socket);
  *places.mutable_program_isolation() = settings.isolations.program;
  *places.mutable_build_isolation() = settings.isolations.build;
  places.mutable_hidden_dirs()->Assign(settings.hidden_dirs.begin(), settings.hidden_dirs.end());
  manifest.set_network(slot.network());
  if (slot.network() == Manifest::ISOLATED) places.set_relay_port(settings.relay_port);
  manifest.set_address(slot.address());
  manifest.set_port(slot.port());
  if (!slot.devices().accelerator_type().empty()) *manifest.mutable_devices() = slot.devices();
  manifest.mutable_environment()->insert(settings.replica_environment.begin(),
                                         settings.replica_environment.end());
  if (settings.job_users) *manifest.mutable_users() = BlockOf(*settings.job_users, manifest.job_uid());
  AddContainerPart(settings, manifest);
  AddGoogleFront(settings, manifest);
}

void AddCgroupPart(std::int64_t memory_max, const replica::CgroupHome& home,
                   replica::v1::Manifest& manifest) {
  manifest.mutable_places()->set_cgroup_version(home.version);
  manifest.mutable_places()->set_cgroup(home.group);
  if (home.version == 2 && manifest.limits().memory_bytes() == 0)
    manifest.mutable_limits()->set_memory_bytes(memory_max);
}

}  // namespace trainyard::engine
