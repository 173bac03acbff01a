#include <arpa/inet.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "base/async/unique_fd.h"
#include "base/process/child_process.h"
#include "base/process/run_tool.h"
#include "base/process/variables.h"
#include "base/result.h"
#include "cli/local/local_cluster.h"
#include "cli/local/local_commands.h"

namespace trainyard::cli {
namespace {

/// One process of `local train`; it gets this process's environment and a few more variables.
struct LocalProcess {
  std::string name;  ///< "worker 0", for messages
  std::vector<std::string> argv;
  std::string directory;
  std::map<std::string, std::string> variables;
};

using std::chrono::milliseconds;
using std::chrono::steady_clock;

/// The wait between SIGTERM and SIGKILL.
constexpr milliseconds kStopGrace{5'000};
constexpr milliseconds kWaitMax{1'000};
constexpr milliseconds kLookAgain{100};  ///< interval for finding new orphans
constexpr milliseconds kKillAgain{10};
constexpr int kSignalBase = 128;  ///< a shell's exit status for a signal

sigset_t WatchedSignals() {
  sigset_t set;
  sigemptyset(&set);
  for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGCHLD}) sigaddset(&set, number);
  return set;
}

/// Shares this process's terminal and its group, so that Ctrl-C reaches it.
Result<pid_t> Start(const LocalProcess& process, const sigset_t& mask) {
  SpawnOptions options{.argv = process.argv,
                       .environment = OwnVariables({process.variables.begin(), process.variables.end()}),
                       .directory = process.directory,
                       .dies_with_parent = true,
                       .signal_mask = mask,
                       .action = "cannot run"};
  for (const int number : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    if (::fcntl(number, F_GETFD) >= 0) options.descriptors.emplace_back(number, number);
  TY_TRY(ChildProcess child, ChildProcess::Spawn(std::move(options)));
  const pid_t pid = child.pid();
  static_cast<void>(std::move(child).Detach());  // the group reaps all children alike
  return pid;
}

/// Includes orphaned descendants: this process is a subreaper.
std::vector<pid_t> Children() {
  std::ifstream list("/proc/thread-self/children");
  std::vector<pid_t> children;
  for (pid_t child = 0; list >> child;) children.push_back(child);
  return children;
}

void SignalChildren(int number) {
  for (const pid_t child : Children()) ::kill(child, number);
}

std::string Describe(int status) {
  if (WIFSIGNALED(status)) return "was killed by signal " + std::to_string(WTERMSIG(status));
  return "ended with status " + std::to_string(WEXITSTATUS(status));
}

int ExitStatusOf(int status) {
  return WIFSIGNALED(status) ? kSignalBase + WTERMSIG(status) : WEXITSTATUS(status);
}

class Group {
 public:
  explicit Group(const std::function<void(std::string_view)>& remark) : remark_(remark) {
    const sigset_t watched = WatchedSignals();
    ::sigprocmask(SIG_BLOCK, &watched, &before_);
    ::prctl(PR_SET_CHILD_SUBREAPER, 1);
  }
  Group(const Group&) = delete;
  Group& operator=(const Group&) = delete;
  ~Group() {
    while (Reap()) {
      SignalChildren(SIGKILL);
      Wait(kKillAgain);
    }
    ::prctl(PR_SET_CHILD_SUBREAPER, 0);
    ::sigprocmask(SIG_SETMASK, &before_, nullptr);
  }

  Status Launch(const LocalProcess& process) {
    TY_TRY(primary_, Start(process, before_));
    names_[primary_] = process.name;
    return {};
  }

  int Run() {
    while (Reap() && !primary_status_ && signal_ == 0) Wait(kWaitMax);
    const steady_clock::time_point deadline = steady_clock::now() + kStopGrace;
    names_.clear();  // from here on this process ends them
    while (Reap() && signals_ < 2 && steady_clock::now() < deadline) {
      Stop();
      Wait(kLookAgain);
    }
    if (signal_ != 0) return kSignalBase + signal_;
    return primary_status_ ? ExitStatusOf(*primary_status_) : 1;
  }

 private:
  /// Sends SIGTERM to those that have not got it yet, orphans included. The primary of an interrupted run
  /// gets time to save: a Ctrl-C on the terminal has reached it already, a kill(1) has reached only this
  /// process.
  void Stop() {
    for (const pid_t child : Children()) {
      if (!asked_.insert(child).second) continue;
      if (signal_ == 0 || child != primary_) ::kill(child, SIGTERM);
      if (signal_ != 0 && child == primary_ && !from_terminal_) ::kill(child, signal_);
    }
  }

  void Wait(milliseconds at_most) {
    const sigset_t watched = WatchedSignals();
    const timespec timeout{.tv_sec = at_most.count() / 1000, .tv_nsec = at_most.count() % 1000 * 1'000'000};
    siginfo_t info{};
    const int number = ::sigtimedwait(&watched, &info, &timeout);
    if (number <= 0 || number == SIGCHLD) return;
    ++signals_;
    if (signal_ != 0) return;
    signal_ = number;
    from_terminal_ = info.si_code == SI_KERNEL;
  }

  /// False if no process is left.
  bool Reap() {
    for (;;) {
      int status = 0;
      const pid_t ended = ::waitpid(-1, &status, WNOHANG);
      if (ended < 0 && errno == EINTR) continue;
      if (ended <= 0) return ended == 0;
      if (ended == primary_) primary_status_ = status;
      const auto name = names_.find(ended);
      if (name != names_.end() && ended != primary_ && status != 0)
        remark_(name->second + " " + Describe(status));
    }
  }

  const std::function<void(std::string_view)>& remark_;
  sigset_t before_{};
  std::map<pid_t, std::string> names_;
  std::set<pid_t> asked_;
  pid_t primary_ = -1;
  std::optional<int> primary_status_;
  int signal_ = 0;   ///< the first signal to stop
  int signals_ = 0;  ///< number of signals to stop
  bool from_terminal_ = false;
};

/// Runs all processes on this terminal until the last one of the list (the primary) has ended. Then stops the
/// others and all their descendants, detached ones included: with SIGTERM, and with SIGKILL if they still run
/// a few seconds later. SIGINT, SIGTERM and SIGHUP stop all processes in the same way; a second signal kills
/// them immediately. If this process is killed, its children are killed, too.
///
/// @param remark  called with a sentence for the user when another process has failed by itself
/// @return the primary's exit status: 128+N if signal N killed it or stopped the run. Errors: kNotFound and
///         others of execve(2); then no process keeps running.
/// Must be the only thread.
Result<int> RunLocalProcesses(const std::vector<LocalProcess>& processes,
                              const std::function<void(std::string_view)>& remark) {
  Group group(remark);
  for (const LocalProcess& process : processes) TY_RETURN_IF_ERROR(group.Launch(process));
  return group.Run();
}

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
  return std::unexpected(
      NotFound("There is no python in PATH. Set CLOUDSDK_ML_ENGINE_LOCAL_PYTHON, for example: export "
               "CLOUDSDK_ML_ENGINE_LOCAL_PYTHON=/usr/bin/python3"));
}

/// "master" with TensorFlow 1, otherwise "chief".
std::string PrimaryName(const std::string& python, const Console& console) {
  std::string version;
  const auto line = [&](std::string_view text) { version = text; };
  const auto end =
      RunTool({{python, "-c", "import tensorflow as tf; print(tf.version.VERSION)"}, {}}, line, {}, {});
  if (!end || !end->ok()) {
    console.Warn("Cannot import tensorflow with " + python +
                 ". Using \"chief\" for the cluster. To use another Python, set: export "
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
      return std::unexpected(FailedPrecondition(
          "Port " + std::to_string(port) + " is taken (" + std::generic_category().message(*error) +
          "). The cluster needs " + std::to_string(count) +
          " consecutive ports; choose another range with --start-port."));
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
