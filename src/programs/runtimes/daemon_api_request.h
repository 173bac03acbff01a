#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "programs/image/image.h"
#include "programs/sandbox/namespaces/device_files.h"
#include "programs/sandbox/namespaces/file_view.h"
#include "trainyard/replica/v1/replica.pb.h"

/// Makes requests to a container daemon and parses its answers: the Docker Engine API, version 1.41, of
/// Docker and podman. Pure: any thread. Source: spec engines.md section 2, "Engine API flow".
namespace trainyard::replica {

/// How a container daemon gives a container NVIDIA GPUs.
enum class GpuWay {
  kDeviceFiles,      ///< DaemonContainer::files: there is no NVIDIA container toolkit
  kNvidiaRuntime,    ///< Docker with the toolkit: DeviceRequests of the driver "nvidia"
  kDeviceInterface,  ///< CDI: DeviceRequests of the driver "cdi"
};

/// The complete description of one container.
struct DaemonContainer {
  std::string image;                     ///< an id or a name that the daemon knows
  std::vector<std::string> argv;         ///< replaces ENTRYPOINT and CMD
  std::vector<std::string> environment;  ///< NAME=value: added to the image's variables
  std::string host_name;                 ///< empty: the daemon's choice
  std::string user;                      ///< empty: the image's
  std::map<std::string, std::string> labels;
  std::vector<FileView::Bind> binds;  ///< paths that the image does not have are created
  v1::Manifest::Limits limits;        ///< memory, cpus, pids, shared memory
  v1::Devices devices;
  /// What the devices need. A daemon with a way for GPUs brings it by itself, except for the
  /// variables, which are in `environment`.
  DeviceFiles files{};
  GpuWay gpu_way = GpuWay::kDeviceFiles;
  bool init = false;  ///< process 1 is the daemon's own init
};

/// The body of POST containers/create. The container uses the machine's network; the daemon does not keep its
/// output, since we read it as it is written.
[[nodiscard]] std::string CreateContainerBody(const DaemonContainer& container);

/// An image as in the answer to GET images/NAME/json.
struct DaemonImage {
  std::string id;  ///< "sha256:..." of its configuration
  container::ImageConfig config;
};
[[nodiscard]] Result<DaemonImage> ParseDaemonImage(std::string_view json);
/// The inverse of ParseDaemonImage.
[[nodiscard]] std::string PrintDaemonImage(const DaemonImage& image);

/// The state of a container as in the answer to GET containers/NAME/json.
struct ContainerState {
  bool running = false;
  int exit_code = 0;  ///< 128+n after signal n
  bool out_of_memory = false;
  std::string error;  ///< of the daemon; mostly empty
  std::int64_t pid = 0;
  friend bool operator==(const ContainerState&, const ContainerState&) = default;
};
[[nodiscard]] Result<ContainerState> ParseContainerState(std::string_view json);
/// The status in the answer to a wait; empty if the daemon does not know it.
[[nodiscard]] std::optional<int> ParseWaitStatus(std::string_view json);

/// One line of the progress of POST images/create and images/load.
struct DaemonProgress {
  std::string line;   ///< for the log; empty: not worth logging (a progress bar)
  std::string error;  ///< why it failed; empty: it has not
  friend bool operator==(const DaemonProgress&, const DaemonProgress&) = default;
};
[[nodiscard]] DaemonProgress ParseDaemonProgress(std::string_view line);

/// The names of GET containers/json, without the slash before each.
[[nodiscard]] Result<std::vector<std::string>> ParseContainerNames(std::string_view json);

/// Decides how containers get NVIDIA GPUs, from the answers to GET info and GET version. `cdi_found`: a
/// CDI file of this machine describes these GPUs.
[[nodiscard]] GpuWay ParseGpuWay(std::string_view info, std::string_view version, bool cdi_found);

/// X-Registry-Auth for the registry of `reference`, from the text of Docker's config.json; empty: no
/// credentials for it. kFailedPrecondition: the file leaves them to a credential helper, or is not JSON.
[[nodiscard]] Result<std::string> RegistryAuth(std::string_view auth_file, std::string_view reference);

/// A pull's name and its tag or digest: {"docker.io/library/busybox", "sha256:..."}.
struct SplitReference {
  std::string name;
  std::string tag;  ///< tag or digest; "latest" if there is none
  friend bool operator==(const SplitReference&, const SplitReference&) = default;
};
[[nodiscard]] SplitReference Split(std::string_view reference);

/// Describes an answer that is not 2xx in one sentence. `what`: "cannot start the container". 401 and 403:
/// kPermissionDenied; 404: kNotFound; 409: kAlreadyExists; 507 or a full disk: kResourceExhausted; 5xx:
/// kUnavailable, unless the message says that the program cannot be run (kFailedPrecondition, as for 400).
[[nodiscard]] Error DaemonError(std::string_view what, int status, std::string_view body);

}  // namespace trainyard::replica
