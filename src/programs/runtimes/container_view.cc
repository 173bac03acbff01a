#include "programs/runtimes/container_view.h"

#include <unistd.h>

#include <algorithm>
#include <iterator>

#include "base/async/file.h"
#include "programs/runtimes/inside_tools.h"
#include "programs/sandbox/namespaces/device_files.h"
#include "rules/cluster/device_variables.h"
#include "rules/cluster/role.h"
#include "rules/cluster/tf_config.h"

namespace trainyard::replica {

namespace {

constexpr const char* kPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
constexpr const char* kResolverSettings = "/etc/resolv.conf";
/// An operator who gives it lets the image's own gcsfuse mount.
constexpr const char* kFuse = "/dev/fuse";

std::string FolderOf(const std::string& path) { return path.substr(0, path.rfind('/')); }

void Set(Variables& variables, const std::string& text) {
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0) return;
  variables[text.substr(0, equals)] = text.substr(equals + 1);
}

/// A directory that a driver adds goes in front of those of the image.
void SetDevice(Variables& variables, const std::string& text) {
  constexpr std::string_view kLibraries = "LD_LIBRARY_PATH=";
  const auto own = variables.find("LD_LIBRARY_PATH");
  if (text.starts_with(kLibraries) && own != variables.end() && !own->second.empty()) {
    own->second = text.substr(kLibraries.size()) + ":" + own->second;
  } else {
    Set(variables, text);
  }
}

}  // namespace

std::vector<std::string> ContainerVariables(const ProgramStart& start, const container::ImageConfig& image,
                                            const std::string& home, const Channels& channels,
                                            const std::vector<std::string>& devices) {
  const v1::Manifest& manifest = start.manifest;
  Variables all = {{"PATH", kPath}, {"HOME", home}, {"PYTHONUNBUFFERED", "1"}};
  for (const std::string& text : image.environment) Set(all, text);
  all["HOSTNAME"] = manifest.host_name();
  for (const std::string& text : devices) SetDevice(all, text);
  const Variables manifest_variables = {manifest.environment().begin(), manifest.environment().end()};
  for (const Variables& source : {Variables(cluster::DeviceVariables(manifest)),
                                  Variables(cluster::ReplicaVariables(manifest, start.cluster, CpuCount())),
                                  manifest_variables, ChannelVariables(manifest, channels)}) {
    for (const auto& [name, value] : source) all[name] = value;
  }
  std::vector<std::string> variables;
  for (const auto& [name, value] : all) variables.push_back(name + "=" + value);
  return variables;
}

Channels ContainerChannels(const v1::Manifest& manifest) {
  Channels channels = FindChannels(manifest, true);
  channels.files = manifest.has_google_front() && !manifest.google_front().buckets_dir().empty();
  return channels;
}

Result<std::vector<FileView::Bind>> ContainerBinds(
    const ProgramStart& start, const Channels& channels,
    const std::function<bool(const std::string& path)>& image_has) {
  std::vector<FileView::Bind> binds = {{.from = RealPath(start.dir.Hosts()), .to = "/etc/hosts"}};
  if (access(kResolverSettings, R_OK) == 0)
    binds.push_back({.from = RealPath(kResolverSettings), .to = kResolverSettings, .read_only = true});
  // A container's own /tmp is part of its writable layer, which need not be a directory of the machine's.
  if (cluster::ReportsMetric(start.manifest))
    binds.push_back({.from = RealPath(start.dir.Metrics()), .to = "/tmp/hypertune"});
  const v1::GoogleFront& front = start.manifest.google_front();
  if (channels.names) {
    const std::string bundle = RealPath(front.ca_bundle());
    const std::size_t before = binds.size();
    for (const std::string& place : SystemCaBundles()) {
      if (image_has(place)) binds.push_back({.from = bundle, .to = place, .read_only = true});
    }
    if (binds.size() == before)
      binds.push_back({.from = bundle, .to = SystemCaBundles().front(), .read_only = true});
    // The variables name files of this directory.
    binds.push_back({.from = FolderOf(bundle), .to = FolderOf(front.ca_bundle()), .read_only = true});
  }
  if (!channels.files) return binds;
  TY_RETURN_IF_ERROR(MakeBucketPlaces(start.manifest));
  std::ranges::move(BucketBinds(start.manifest), std::back_inserter(binds));
  if (std::ranges::count(start.manifest.devices().device_files(), kFuse) > 0) return binds;
  const AttemptDir real{RealPath(start.dir.path)};
  TY_RETURN_IF_ERROR(WriteStorageTools(real));
  std::ranges::move(StorageToolBinds(real.Tools(), true, image_has), std::back_inserter(binds));
  return binds;
}

}  // namespace trainyard::replica
