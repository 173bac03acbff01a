#include "programs/runtimes/daemon_api_request.h"

#include <algorithm>
#include <array>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <boost/json/value.hpp>

#include "base/ascii.h"
#include "base/text/base64.h"
#include "base/wire/json_members.h"
#include "rules/cluster/device_variables.h"

namespace trainyard::replica {

namespace {

namespace json = boost::json;

constexpr std::string_view kDockerHub = "docker.io";
constexpr std::string_view kDockerHubAuth = "https://index.docker.io/v1/";
constexpr std::size_t kReasonBytesMax = 1'000;

template <class Strings>
json::array Array(const Strings& strings) {
  json::array array;
  for (const auto& text : strings) array.emplace_back(std::string_view(text));
  return array;
}

Result<json::object> ParseObject(std::string_view text) {
  auto object = wire::ParseJsonObject(text);
  if (!object)
    return std::unexpected(Error{Code::kDataLoss, "the container engine's answer is not a JSON object", {}});
  return *std::move(object);
}

/// One text counts as a list of it.
std::vector<std::string> Texts(const json::object& object, std::string_view name) {
  const json::value* value = object.if_contains(json::string_view(name.data(), name.size()));
  if (value != nullptr && value->is_string()) return {std::string(value->get_string())};
  return wire::TextsIn(object, name);
}

json::array Mounts(const std::vector<FileView::Bind>& binds) {
  json::array mounts;
  for (const FileView::Bind& bind : binds) {
    mounts.push_back(json::object{
        {"Type", "bind"}, {"Source", bind.from}, {"Target", bind.to}, {"ReadOnly", bind.read_only}});
  }
  return mounts;
}

/// Whether the daemon is asked for GPUs. A declared GPU need not be there: tests declare some on machines
/// that have none, and a daemon would refuse the container.
bool AsksForGpus(const DaemonContainer& container) {
  return container.gpu_way != GpuWay::kDeviceFiles && !container.devices.gpus().empty() &&
         (std::ranges::any_of(container.devices.device_files(), IsGpuFile) ||
          std::ranges::any_of(container.files.nodes, IsGpuFile, &container::DeviceNode::path));
}

json::array DeviceRequests(const DaemonContainer& container) {
  if (container.gpu_way == GpuWay::kDeviceInterface)
    return {json::object{{"Driver", "cdi"}, {"DeviceIDs", Array(container.files.cdi_names)}}};
  json::array wanted;
  wanted.push_back(json::array{"gpu"});  // one of several alternative lists; nested braces would flatten it
  return {json::object{{"Driver", "nvidia"},
                       {"DeviceIDs", Array(container.devices.gpus())},
                       {"Capabilities", std::move(wanted)}}};
}

void AddDevices(const DaemonContainer& container, json::object& host) {
  const bool by_request = AsksForGpus(container);
  if (by_request) host["DeviceRequests"] = DeviceRequests(container);
  std::vector<std::string> files(container.devices.device_files().begin(),
                                 container.devices.device_files().end());
  for (const container::DeviceNode& node : container.files.nodes) {
    if (std::ranges::find(files, node.path) == files.end()) files.push_back(node.path);
  }
  json::array devices;
  for (const std::string& file : files) {
    if (by_request && IsGpuFile(file)) continue;
    devices.push_back(
        json::object{{"PathOnHost", file}, {"PathInContainer", file}, {"CgroupPermissions", "rwm"}});
  }
  if (!devices.empty()) host["Devices"] = std::move(devices);
}

/// The container's binds, with those of its devices where the daemon does not bring them.
std::vector<FileView::Bind> BindsOf(const DaemonContainer& container) {
  std::vector<FileView::Bind> binds = container.binds;
  if (AsksForGpus(container)) return binds;
  for (const container::Bind& bind : container.files.binds)
    binds.push_back({.from = bind.source, .to = bind.destination, .read_only = bind.read_only});
  return binds;
}

/// The container's variables. A daemon that is asked for GPUs shows the container no others.
std::vector<std::string> VariablesOf(const DaemonContainer& container) {
  constexpr std::string_view kVisible = "CUDA_VISIBLE_DEVICES=";
  std::vector<std::string> variables = container.environment;
  if (!AsksForGpus(container)) return variables;
  for (std::string& text : variables) {
    if (text.starts_with(kVisible))
      text = std::string(kVisible) + cluster::VisibleGpus(container.devices, cluster::Sight::kOwn);
  }
  return variables;
}

std::string_view RegistryOf(std::string_view reference) {
  const std::string_view first = reference.substr(0, reference.find('/'));
  const bool is_host = first.size() < reference.size() &&
                       (first.find_first_of(".:") != std::string_view::npos || first == "localhost");
  return is_host ? first : kDockerHub;
}

/// Whether the message of runc, crun or containerd says that the program itself cannot run, whatever the HTTP
/// status is.
bool SaysProgramCannotRun(std::string_view words) {
  constexpr std::array<std::string_view, 6> kSigns = {
      "executable file not found", "no such file or directory", "command that was not found",
      "permission denied",         "exec format error",         "unable to find user"};
  return std::ranges::any_of(
      kSigns, [words](std::string_view sign) { return words.find(sign) != std::string_view::npos; });
}

}  // namespace

std::string CreateContainerBody(const DaemonContainer& container) {
  const v1::Manifest::Limits& limits = container.limits;
  json::object host{{"NetworkMode", "host"},
                    {"LogConfig", json::object{{"Type", "none"}}},
                    {"Mounts", Mounts(BindsOf(container))},
                    {"CapDrop", json::array{"AUDIT_WRITE", "MKNOD", "NET_RAW"}},
                    {"SecurityOpt", json::array{"no-new-privileges"}}};
  if (limits.memory_bytes() > 0) {
    host["Memory"] = limits.memory_bytes();
    host["MemorySwap"] = limits.memory_bytes();  // no swap on top
  }
  if (limits.cpus() > 0) host["NanoCpus"] = static_cast<std::int64_t>(limits.cpus() * 1e9);
  if (limits.pids() > 0) host["PidsLimit"] = limits.pids();
  if (limits.shared_memory_bytes() > 0) host["ShmSize"] = limits.shared_memory_bytes();
  if (container.init) host["Init"] = true;
  AddDevices(container, host);
  json::object labels;
  for (const auto& [name, value] : container.labels) labels[name] = value;
  json::object body{{"Image", container.image},    {"Entrypoint", Array(container.argv)},
                    {"Cmd", json::array{}},        {"Env", Array(VariablesOf(container))},
                    {"Labels", std::move(labels)}, {"AttachStdout", true},
                    {"AttachStderr", true},        {"HostConfig", std::move(host)}};
  if (!container.host_name.empty()) body["Hostname"] = container.host_name;
  if (!container.user.empty()) body["User"] = container.user;
  return json::serialize(body);
}

Result<DaemonImage> ParseDaemonImage(std::string_view text) {
  TY_TRY(const json::object image, ParseObject(text));
  const json::object& config = wire::ObjectIn(image, "Config");
  DaemonImage parsed{.id = wire::TextIn(image, "Id"),
                     .config = {.entrypoint = Texts(config, "Entrypoint"),
                                .command = Texts(config, "Cmd"),
                                .environment = Texts(config, "Env"),
                                .working_dir = wire::TextIn(config, "WorkingDir"),
                                .user = wire::TextIn(config, "User"),
                                .stop_signal = wire::TextIn(config, "StopSignal"),
                                .labels = {}}};
  for (const auto& [name, value] : wire::ObjectIn(config, "Labels")) {
    if (value.is_string()) parsed.config.labels[std::string(name)] = std::string(value.get_string());
  }
  return parsed;
}

std::string PrintDaemonImage(const DaemonImage& image) {
  json::object labels;
  for (const auto& [name, value] : image.config.labels) labels[name] = value;
  const json::object config{{"Entrypoint", Array(image.config.entrypoint)},
                            {"Cmd", Array(image.config.command)},
                            {"Env", Array(image.config.environment)},
                            {"WorkingDir", image.config.working_dir},
                            {"User", image.config.user},
                            {"StopSignal", image.config.stop_signal},
                            {"Labels", std::move(labels)}};
  return json::serialize(json::object{{"Id", image.id}, {"Config", config}});
}

Result<ContainerState> ParseContainerState(std::string_view text) {
  TY_TRY(const json::object container, ParseObject(text));
  const json::object& state = wire::ObjectIn(container, "State");
  return ContainerState{.running = wire::FlagIn(state, "Running"),
                        .exit_code = static_cast<int>(wire::NumberIn(state, "ExitCode")),
                        .out_of_memory = wire::FlagIn(state, "OOMKilled"),
                        .error = wire::TextIn(state, "Error"),
                        .pid = wire::NumberIn(state, "Pid")};
}

std::optional<int> ParseWaitStatus(std::string_view text) {
  const auto answer = ParseObject(text);
  if (!answer || !answer->contains("StatusCode")) return std::nullopt;
  const auto status = static_cast<int>(wire::NumberIn(*answer, "StatusCode"));
  if (status < 0) return std::nullopt;  // podman does not know it
  return status;
}

DaemonProgress ParseDaemonProgress(std::string_view line) {
  const auto parsed = ParseObject(line);
  if (!parsed) return {};
  if (std::string error = wire::TextIn(*parsed, "error"); !error.empty()) return {.error = std::move(error)};
  if (std::string stream = wire::TextIn(*parsed, "stream"); !stream.empty())
    return {.line = std::string(TrimSpace(stream))};
  const std::string status = wire::TextIn(*parsed, "status");
  if (status.empty() || !wire::ObjectIn(*parsed, "progressDetail").empty()) return {};
  const std::string id = wire::TextIn(*parsed, "id");
  return {.line = id.empty() ? status : status + ": " + id};
}

Result<std::vector<std::string>> ParseContainerNames(std::string_view text) {
  const auto list = wire::ParseJsonList(text);
  if (!list)
    return std::unexpected(Error{Code::kDataLoss, "the container engine's answer is not a JSON list", {}});
  std::vector<std::string> names;
  for (const json::value& container : *list) {
    if (!container.is_object()) continue;
    for (const std::string& name : Texts(container.get_object(), "Names"))
      names.push_back(name.starts_with('/') ? name.substr(1) : name);
  }
  return names;
}

GpuWay ParseGpuWay(std::string_view info, std::string_view version, bool cdi_found) {
  const bool podman = version.find("\"Podman Engine\"") != std::string_view::npos;
  const auto parsed = ParseObject(info);
  if (!podman && parsed && wire::ObjectIn(*parsed, "Runtimes").contains("nvidia"))
    return GpuWay::kNvidiaRuntime;
  const bool knows_cdi = podman || (parsed && !Texts(*parsed, "CDISpecDirs").empty());
  return cdi_found && knows_cdi ? GpuWay::kDeviceInterface : GpuWay::kDeviceFiles;
}

Result<std::string> RegistryAuth(std::string_view auth_file, std::string_view reference) {
  const auto parsed = wire::ParseJsonObject(auth_file);
  if (!parsed)
    return std::unexpected(FailedPrecondition("the file with the registries' credentials is not JSON"));
  const json::object& file = *parsed;
  const std::string registry(RegistryOf(reference));
  const json::object& auths = wire::ObjectIn(file, "auths");
  std::string server = registry == kDockerHub && auths.contains(kDockerHubAuth.data())
                           ? std::string(kDockerHubAuth)
                           : registry;
  if (!auths.contains(server) && auths.contains("https://" + registry)) server = "https://" + registry;
  const json::object& entry = wire::ObjectIn(auths, server);
  const bool helped =
      wire::ObjectIn(file, "credHelpers").contains(registry) || !wire::TextIn(file, "credsStore").empty();
  const std::string pair = text::FromBase64(wire::TextIn(entry, "auth")).value_or("");
  const std::string token = wire::TextIn(entry, "identitytoken");
  if (pair.empty() && token.empty() && helped) {
    return std::unexpected(
        FailedPrecondition("the credentials of " + registry +
                           " are with a credential helper: use 'trainyard registries login'"));
  }
  if (pair.empty() && token.empty()) return std::string();
  json::object auth{{"serveraddress", server}};
  if (!token.empty()) auth["identitytoken"] = token;
  if (const std::size_t colon = pair.find(':'); colon != std::string::npos) {
    auth["username"] = pair.substr(0, colon);
    auth["password"] = pair.substr(colon + 1);
  }
  return text::Base64(json::serialize(auth), text::Base64Form::kUrl);
}

SplitReference Split(std::string_view reference) {
  if (const std::size_t at = reference.find('@'); at != std::string_view::npos) {
    SplitReference split = Split(reference.substr(0, at));
    return {.name = std::move(split.name), .tag = std::string(reference.substr(at + 1))};
  }
  const std::size_t slash = reference.rfind('/');
  const std::size_t colon = reference.find(':', slash == std::string_view::npos ? 0 : slash);
  if (colon == std::string_view::npos) return {.name = std::string(reference), .tag = "latest"};
  return {.name = std::string(reference.substr(0, colon)), .tag = std::string(reference.substr(colon + 1))};
}

Error DaemonError(std::string_view what, int status, std::string_view body) {
  const auto parsed = ParseObject(body);
  std::string words = parsed ? wire::TextIn(*parsed, "message") : std::string();
  if (words.empty()) words = TrimSpace(body.substr(0, kReasonBytesMax));
  if (words.empty()) words = "the container engine answered " + std::to_string(status);
  if (words.size() > kReasonBytesMax) words.resize(kReasonBytesMax);
  const std::string message = std::string(what) + ": " + words;
  if (words.find("no space left on device") != std::string::npos || status == 507)
    return {Code::kResourceExhausted, message, {}};
  const std::string lower = ToLower(words);
  const bool denied = lower.find("unauthorized") != std::string::npos ||
                      lower.find("authentication required") != std::string::npos ||
                      lower.find("access denied") != std::string::npos ||
                      lower.find("access to the resource is denied") != std::string::npos;
  if (status == 401 || status == 403 || denied) return {Code::kPermissionDenied, message, {}};
  if (status == 404) return NotFound(message);
  if (status == 400 || SaysProgramCannotRun(lower)) return FailedPrecondition(message);
  if (status == 409) return {Code::kAlreadyExists, message, {}};
  return Unavailable(message);
}

}  // namespace trainyard::replica
