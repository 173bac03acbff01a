#include "replica/shell/replica_shell.h"

#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "base/async/file.h"
#include "base/async/unique_fd.h"
#include "base/process/kernel_calls.h"
#include "programs/attempt/attempt_dir.h"
#include "programs/runtimes/pod_container.h"
#include "programs/sandbox/cgroups/proc_figures.h"
#include "programs/sandbox/confinement.h"
#include "programs/sandbox/namespaces/id_map.h"
#include "programs/sandbox/network/connect_doors.h"

namespace trainyard::shell {

namespace {

using replica::AttemptDir;

constexpr int kNoShell = 125;
/// The name of the init process of a replica's sandbox (programs/sandbox/sandbox_init.cc).
constexpr std::string_view kInitName = "trainyard-init\n";

std::string ProcPath(pid_t pid, std::string_view rest) {
  return "/proc/" + std::to_string(pid) + std::string(rest);
}

/// The main processes of a replica: the init process of its sandbox, or of its container, and its program.
struct Replica {
  pid_t init = -1;
  UniqueFd pidfd;  ///< of the init process
  pid_t program = -1;
  bool in_container = false;
  /// The program's user namespace, if it is not that of its init process; and the id that its root has
  /// outside.
  UniqueFd users;
  uid_t root = 0;
};

std::unexpected<Error> NotRunning() {
  return std::unexpected(FailedPrecondition("the replica's program does not run"));
}

/// A container's first process, below the runtime in a separate PID namespace; -1: there is no container.
pid_t FindContainer(pid_t init, const std::vector<pid_t>& below) {
  struct stat outside{};
  if (stat(ProcPath(init, "/ns/pid").c_str(), &outside) != 0) return -1;
  for (const pid_t pid : below) {
    struct stat inside{};
    if (stat(ProcPath(pid, "/ns/pid").c_str(), &inside) == 0 && inside.st_ino != outside.st_ino) return pid;
  }
  return -1;
}

bool IsInOther(pid_t pid, const char* name) {
  struct stat ours{};
  struct stat theirs{};
  const std::string path = std::string("/ns/") + name;
  return stat(("/proc/self" + path).c_str(), &ours) == 0 && stat(ProcPath(pid, path).c_str(), &theirs) == 0 &&
         ours.st_ino != theirs.st_ino;
}

/// A program with its own user ids left our user namespace after its init process had set up the mounts: its
/// shell must do so, too, or not start.
Status FindUsers(const AttemptDir& dir, Replica& found) {
  TY_TRY(const replica::v1::Manifest manifest, replica::ReadManifest(dir));
  if (!manifest.has_users()) return {};
  if (!IsInOther(found.program, "user")) return NotRunning();
  TY_TRY(found.users, OpenFile(ProcPath(found.program, "/ns/user"), O_RDONLY));
  found.root = manifest.users().first();
  return {};
}

Result<Replica> FindReplica(const AttemptDir& dir) {
  const auto supervisor = replica::LockHolder(dir);
  if (!supervisor) return NotRunning();
  for (const pid_t pid : replica::Descendants(*supervisor)) {
    const auto name = ReadFile(ProcPath(pid, "/comm"));
    if (!name || *name != kInitName) continue;
    Replica found{.init = pid, .pidfd = OpenPidfd(pid)};
    const std::vector<pid_t> below = replica::Descendants(pid);
    if (!found.pidfd || below.empty()) return NotRunning();
    found.program = below.front();  // its first child; orphans come after it
    if (const pid_t container = FindContainer(pid, below); container > 0)
      found = {.init = container, .pidfd = OpenPidfd(container), .program = container, .in_container = true};
    if (!found.pidfd) return NotRunning();
    TY_RETURN_IF_ERROR(FindUsers(dir, found));
    return found;
  }
  return NotRunning();
}

/// The namespaces of the process that are not ours.
int OtherNamespaces(pid_t pid) {
  constexpr std::array<std::pair<const char*, int>, 6> kKinds = {{{"user", CLONE_NEWUSER},
                                                                  {"mnt", CLONE_NEWNS},
                                                                  {"pid", CLONE_NEWPID},
                                                                  {"uts", CLONE_NEWUTS},
                                                                  {"ipc", CLONE_NEWIPC},
                                                                  {"net", CLONE_NEWNET}}};
  int flags = 0;
  for (const auto& [name, flag] : kKinds) {
    if (IsInOther(pid, name)) flags |= flag;
  }
  return flags;
}

/// The program's own variables, and the terminal's type.
std::vector<std::string> VariablesOf(pid_t program) {
  std::vector<std::string> variables;
  std::string text = ReadFile(ProcPath(program, "/environ")).value_or("");
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\0', begin), text.size());
    std::string variable = text.substr(begin, end - begin);
    if (!variable.starts_with("TERM=") && !variable.starts_with("TRAINYARD_LOG_FD="))
      variables.push_back(std::move(variable));
    begin = end + 1;
  }
  const char* terminal = std::getenv("TERM");
  variables.push_back("TERM=" + std::string(terminal != nullptr ? terminal : "xterm-256color"));
  return variables;
}

/// A program's ids, as seen in its own namespaces.
struct Ids {
  uid_t user = 0;
  gid_t group = 0;
  std::vector<gid_t> groups;
};

/// The numbers after the name of a line of /proc/PID/status: "Uid:\t0\t0\t0\t0".
std::vector<std::uint32_t> Numbers(const std::string& status, const std::string& name) {
  std::vector<std::uint32_t> numbers;
  std::istringstream lines(status);
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with(name + ":")) continue;
    std::istringstream words(line.substr(name.size() + 1));
    for (std::uint32_t number = 0; words >> number;) numbers.push_back(number);
  }
  return numbers;
}

/// The ids of the first process of the PID namespace that we are in: a container's program.
Result<Ids> IdsOfFirst() {
  TY_TRY(const std::string status, ReadFile("/proc/1/status"));
  const std::vector<std::uint32_t> users = Numbers(status, "Uid");
  const std::vector<std::uint32_t> groups = Numbers(status, "Gid");
  if (users.size() < 2 || groups.size() < 2) return NotRunning();
  return Ids{.user = users[1], .group = groups[1], .groups = Numbers(status, "Groups")};
}

/// A container's USER need not be root. The groups stay ours if a user namespace forbids setting them.
Status Become(const Ids& ids) {
  if (ids.user == geteuid() && ids.group == getegid() && ids.user == 0 && ids.groups.empty()) return {};
  if (setgroups(ids.groups.size(), ids.groups.data()) != 0 && errno != EPERM)
    return std::unexpected(ErrnoError(errno, "setgroups"));
  if (setresgid(ids.group, ids.group, ids.group) != 0 || setresuid(ids.user, ids.user, ids.user) != 0)
    return std::unexpected(ErrnoError(errno, "become the container's user"));
  return {};
}

/// So that the shell is counted and limited as part of the replica; best effort, as for the replica itself.
void JoinCgroup(const AttemptDir& dir) {
  std::istringstream note(ReadFile(dir.Cgroup()).value_or(""));
  for (std::string path; std::getline(note, path);) {
    const auto procs = OpenFile(path + "/cgroup.procs", O_WRONLY);
    if (procs) static_cast<void>(WriteAll(procs->get(), "0"));
  }
}

/// Restricts the shell like the program: the same user and confinement.
void ConfineShell(const Replica& found, replica::ConnectDoors& doors) {
  doors.Install();            // while it has the rights for that
  prctl(PR_SET_DUMPABLE, 0);  // until its exec, the code running here is the machine's own file
  const Status become = [&found]() -> Status {
    if (found.users) {
      static_cast<void>(fchown(STDIN_FILENO, found.root, found.root));  // the terminal; not essential
      if (const char* step = replica::BecomeRootIn(found.users.get()))
        return std::unexpected(ErrnoError(errno, step));
    }
    if (!found.in_container) return {};
    TY_TRY(const Ids ids, IdsOfFirst());
    return Become(ids);
  }();
  if (!become) {
    std::fprintf(stderr, "trainyard: %s\r\n", become.error().message.c_str());
    _exit(kNoShell);
  }
  if (const auto failure = replica::Confine()) {
    std::fprintf(stderr, "trainyard: cannot %s: %s\r\n", failure->step, std::strerror(failure->error));
    _exit(kNoShell);
  }
}

[[noreturn]] void BecomeShell(const std::string& directory, const Replica& found,
                              std::vector<std::string> variables, replica::ConnectDoors& doors) {
  umask(022);  // the replica's program's, not the server's
  setsid();
  ioctl(STDIN_FILENO, TIOCSCTTY, 0);
  for (int number = 1; number < NSIG; ++number) std::signal(number, SIG_DFL);
  if (chdir(directory.c_str()) != 0 && chdir("/") != 0) _exit(kNoShell);
  ConfineShell(found, doors);
  prctl(PR_SET_PDEATHSIG, SIGKILL);  // changing the user had cleared it
  std::vector<char*> environment;
  environment.reserve(variables.size() + 1);
  for (std::string& variable : variables) environment.push_back(variable.data());
  environment.push_back(nullptr);
  for (const char* program : {"/bin/bash", "/bin/sh"}) {
    std::string name = program;
    std::array<char*, 2> argv = {name.data(), nullptr};
    execve(program, argv.data(), environment.data());
  }
  std::fputs("trainyard: there is no /bin/bash and no /bin/sh in the replica\r\n", stderr);
  _exit(kNoShell);
}

/// Waits until the shell or the replica ends. The shell's connections are routed as the replica's; without
/// that it still works.
int WaitForShell(pid_t shell, int init, replica::ConnectDoors& doors) {
  const UniqueFd pidfd = OpenPidfd(shell);
  static_cast<void>(doors.Receive());
  std::vector<pollfd> ends;
  do {
    ends = {{.fd = pidfd.get(), .events = POLLIN}, {.fd = init, .events = POLLIN}};
    doors.AddTo(ends);
    while (poll(ends.data(), ends.size(), -1) < 0 && errno == EINTR) {
    }
    doors.Serve(ends);
  } while (ends[0].revents == 0 && ends[1].revents == 0);
  if (ends[0].revents == 0) {
    std::fputs("\r\ntrainyard: the replica has ended\r\n", stderr);
    kill(shell, SIGKILL);
  }
  const int status = WaitForChild(shell);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/// The program runs in another container of our pod, whose shell the starter there starts: with the variables
/// of the program.
int RunShellInPod(const replica::v1::Manifest& manifest) {
  const char* terminal = std::getenv("TERM");
  const replica::ContainerEnd end = replica::RunInPod(
      {.socket = manifest.program().container().runtime_address(),
       .argv = {"/bin/sh", "-c", "if [ -x /bin/bash ]; then exec /bin/bash; else exec /bin/sh; fi"},
       .environment = {"TERM=" + std::string(terminal != nullptr ? terminal : "xterm-256color")},
       .terminal = true});
  if (!end.failure.empty()) std::fprintf(stderr, "trainyard: %s\r\n", end.failure.c_str());
  return end.failure.empty() ? replica::ExitStatusOf(end) : kNoShell;
}

Result<int> Run(const AttemptDir& dir) {
  TY_TRY(const replica::v1::Manifest manifest, replica::ReadManifest(dir));
  if (manifest.program().container().runtime_kind() == replica::v1::Manifest::POD_CONTAINER) {
    if (!replica::LockHolder(dir)) return NotRunning();
    return RunShellInPod(manifest);
  }
  TY_TRY(const Replica found, FindReplica(dir));
  std::vector<std::string> variables = VariablesOf(found.program);
  if (variables.size() == 1) return NotRunning();  // it ended meanwhile
  JoinCgroup(dir);
  replica::ConnectDoors doors(replica::FrontDoors(manifest.google_front()));
  const int namespaces = OtherNamespaces(found.init);
  if (namespaces != 0 && setns(found.pidfd.get(), namespaces) != 0)
    return std::unexpected(ErrnoError(errno, "enter the replica's namespaces"));
  const pid_t shell = fork();  // the first child enters the PID namespace
  if (shell < 0) return std::unexpected(ErrnoError(errno, "fork"));
  if (shell == 0) BecomeShell(dir.Work(), found, std::move(variables), doors);
  return WaitForShell(shell, found.pidfd.get(), doors);
}

}  // namespace

int RunReplicaShell(int argc, char** argv) {
  if (argc != 2) {
    std::fputs("usage: trainyard replica-shell ATTEMPT_DIR\n", stderr);
    return kNoShell;
  }
  std::signal(SIGHUP, SIG_IGN);  // when the terminal ends, so does the shell, and then this process
  std::array<std::string, 3> words = {"trainyard", "replica-shell", argv[1]};
  std::array<char*, 4> again = {words[0].data(), words[1].data(), words[2].data(), nullptr};
  const Status copied = RunFromOwnCopy(again.data());
  const Result<int> status = copied ? Run({argv[1]}) : Result<int>(std::unexpected(copied.error()));
  // Not exit(): from here on no thread can be created, because our children are in another PID namespace, and
  // LeakSanitizer needs one at the end.
  if (status) _exit(*status);
  std::fprintf(stderr, "trainyard: %s\r\n", status.error().message.c_str());
  return kNoShell;
}

}  // namespace trainyard::shell
