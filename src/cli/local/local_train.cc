#include "cli/local/local_commands.h"

#include <arpa/inet.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>
#include <system_error>
#include <vector>

#include "base/async/unique_fd.h"
#include "base/process/run_tool.h"
#include "cli/local/local_cluster.h"
#include "cli/local/local_processes.h"

namespace trainyard::cli {
namespace {

namespace fs = std::filesystem;

constexpr int kStartPort = 27182;
constexpr int kReplicasDefault = 2;
constexpr int kPortMax = 65535;

int Number(const Arguments& arguments, std::string_view flag, int otherwise) {
  const std::optional<std::string> text = arguments.Value(flag);
  return text ? static_cast<int>(std::strtol(text->c_str(), nullptr, 10)) : otherwise;
}

std::optional<std::string> OnPath(const SettingSources& sources, const std::string& program) {
  const std::string path = sources.variable("PATH").value_or(std::string());
  std::string_view rest = path;
  while (!rest.empty()) {
    const std::string_view folder = rest.substr(0, rest.find(':'));
    rest.remove_prefix(std::min(rest.size(), folder.size() + 1));
    const fs::path candidate = fs::path(folder.empty() ? "." : folder) / program;
    std::error_code error;
    if (fs::is_regular_file(candidate, error) && ::access(candidate.c_str(), X_OK) == 0)
      return fs::absolute(candidate).string();
  }
  return std::nullopt;
}

/// gcloud's property, or `python` on the PATH, or python3.
Result<std::string> FindPython(const Arguments& arguments, const SettingSources& sources) {
  const auto property =
      FindProperty(sources, "ml_engine", "local_python", arguments.Value("--configuration"));
  if (property) {
    if (property->value.find('/') != std::string::npos) return fs::absolute(property->value).string();
    if (auto found = OnPath(sources, property->value)) return *found;
    return std::unexpected(
        NotFound("There is no " + property->value + " on the PATH (from: " + property->source + ")."));
  }
  for (const char* name : {"python", "python3"})
    if (auto found = OnPath(sources, name)) return *found;
  return std::unexpected(NotFound(
      "There is no python on the PATH. Set one: export CLOUDSDK_ML_ENGINE_LOCAL_PYTHON=/usr/bin/python3"));
}

/// "master" with TensorFlow 1, otherwise "chief".
std::string PrimaryName(const std::string& python, const Console& console) {
  std::string version;
  const auto line = [&](std::string_view text) { version = text; };
  const auto end =
      RunTool({{python, "-c", "import tensorflow as tf; print(tf.version.VERSION)"}, {}}, line, {}, {});
  if (!end || !end->ok()) {
    console.Warn("Cannot import tensorflow with " + python +
                 ". Using \"chief\" for the cluster. If another Python has it, set: export "
                 "CLOUDSDK_ML_ENGINE_LOCAL_PYTHON=/usr/bin/python3");
    return "chief";
  }
  return version.starts_with("1.") ? "master" : "chief";
}

/// No error if a listener can have the port.
std::optional<int> PortError(std::uint16_t port) {
  const UniqueFd listener(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_ANY);
  address.sin_port = htons(port);
  const int on = 1;
  ::setsockopt(listener.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  if (::bind(listener.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0)
    return std::nullopt;
  return errno;
}

Status CheckPorts(const LocalCluster& cluster) {
  const int count = cluster.parameter_servers + cluster.workers + 1;
  const int last = cluster.start_port + count - 1;
  if (last > kPortMax)
    return std::unexpected(InvalidArgument("", "The ports from " + std::to_string(cluster.start_port) +
                                                   " to " + std::to_string(last) + " are out of range."));
  for (int port = cluster.start_port; port <= last; ++port) {
    const auto error = PortError(static_cast<std::uint16_t>(port));
    if (error)
      return std::unexpected(FailedPrecondition("Port " + std::to_string(port) + " is taken (" +
                                                std::generic_category().message(*error) +
                                                "). The cluster needs " + std::to_string(count) +
                                                " ports in a row; choose others with --start-port."));
  }
  return {};
}

/// The directory above the package, where `python -m` finds it.
fs::path PackageRoot(const Arguments& arguments) {
  fs::path package = fs::absolute(arguments.Value("--package-path").value_or(".")).lexically_normal();
  if (!package.has_filename()) package = package.parent_path();
  return package.parent_path();
}

}  // namespace

ExitStatus TrainLocally(const LocalSession& session) {
  const std::string module = *session.arguments.Value("--module-name");
  TY_TRY(const std::string python, FindPython(session.arguments, session.sources));
  std::vector<std::string> args = session.arguments.passthrough.value_or(std::vector<std::string>());
  if (const auto job_dir = session.arguments.Value("--job-dir"); job_dir && !job_dir->empty())
    args.insert(args.end(), {"--job-dir", *job_dir});
  std::vector<std::string> argv{python, "-m", module};
  argv.insert(argv.end(), args.begin(), args.end());
  const std::string root = PackageRoot(session.arguments).string();
  std::vector<LocalProcess> processes;
  if (session.arguments.IsOn("--distributed")) {
    const LocalCluster cluster{
        .primary = PrimaryName(python, session.console),
        .workers = Number(session.arguments, "--worker-count", kReplicasDefault),
        .parameter_servers = Number(session.arguments, "--parameter-server-count", kReplicasDefault),
        .evaluators = Number(session.arguments, "--evaluator-count", 0),
        .start_port = static_cast<std::uint16_t>(Number(session.arguments, "--start-port", kStartPort))};
    TY_RETURN_IF_ERROR(CheckPorts(cluster));
    for (const LocalTask& task : Tasks(cluster))
      processes.push_back({task.type + " " + std::to_string(task.index),
                           argv,
                           root,
                           {{"TF_CONFIG", LocalTfConfig(cluster, task, module, args)}}});
  } else {
    for (const char* flag : {"--parameter-server-count", "--worker-count"})
      if (Number(session.arguments, flag, 0) != 0)
        session.console.Warn(
            std::string(flag) +
            " is ignored if --distributed is not provided.\nDid you mean to run distributed training?");
    processes.push_back({"the program", argv, root, {{"TF_CONFIG", LocalTfConfig(module, args)}}});
  }
  return RunLocalProcesses(processes, [&](std::string_view text) { session.console.Warn(text); });
}

}  // namespace trainyard::cli
