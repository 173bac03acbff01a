#include "programs/sandbox/build_isolation.h"

#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <span>
#include <string_view>
#include <utility>

#include "base/async/unique_fd.h"
#include "programs/sandbox/confinement.h"
#include "programs/sandbox/namespaces/build_root.h"
#include "programs/sandbox/patience.h"
#include "programs/sandbox/sandbox_init.h"

namespace trainyard::replica {

namespace {

/// An id that nobody else uses: Debian reserves 65000 to 65533, and systemd assigns none above 65519.
constexpr ToolIsolation::Owner kBuildAccount{65'530, 65'530};
/// The same limit as for a container, and more than any build needs.
constexpr rlim_t kProcessesMax = 16'384;
constexpr int kCannotRun = 127;
/// A root server maps all accounts into a user namespace, so that it can become the builds' one there.
bool RootInside(Isolation isolation) { return geteuid() == 0 && HasUserNamespace(isolation); }

void Say(const std::string& text) {
  for (std::string_view rest = text; !rest.empty();) {
    const ssize_t size = write(STDERR_FILENO, rest.data(), rest.size());
    if (size <= 0) return;
    rest.remove_prefix(static_cast<std::size_t>(size));
  }
}

/// Empties the bounding set; needs a capability that the builds' account does not have.
void EmptyBoundingSet() {
  for (int right = 0; prctl(PR_CAPBSET_READ, right) >= 0; ++right) prctl(PR_CAPBSET_DROP, right);
}

bool Become(const ToolIsolation::Owner& account) {
  return setgroups(0, nullptr) == 0 && setresgid(account.gid, account.gid, account.gid) == 0 &&
         setresuid(account.uid, account.uid, account.uid) == 0;
}

void LimitProcesses() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NPROC, &limit) == 0) {
    limit.rlim_cur = std::min(limit.rlim_cur, kProcessesMax);
    limit.rlim_max = std::min(limit.rlim_max, kProcessesMax);
    setrlimit(RLIMIT_NPROC, &limit);
  }
  const rlimit no_core{};
  setrlimit(RLIMIT_CORE, &no_core);
}

std::vector<char*> Pointers(const std::vector<std::string>& strings) {
  std::vector<char*> pointers;
  for (const std::string& text : strings) pointers.push_back(const_cast<char*>(text.c_str()));
  pointers.push_back(nullptr);
  return pointers;
}

/// Runs the tool in the isolated process: returns only if it cannot be run.
int Exec(const IsolatedTool& tool, const std::string& home, const std::string& tmp,
         const std::optional<ToolIsolation::Owner>& account) {
  std::vector<std::string> variables = tool.variables;
  variables.insert(variables.end(), {"HOME=" + home, "TMPDIR=" + tmp, "USER=build", "LOGNAME=build"});
  const std::vector<char*> argv = Pointers(tool.argv);
  const std::vector<char*> environment = Pointers(variables);
  LimitProcesses();
  EmptyBoundingSet();
  if (account && !Become(*account)) {
    Say(std::string("cannot become the account of builds: ") + std::strerror(errno) + "\n");
    return kCannotRun;
  }
  if (const auto failure = Confine(Rights::kNone)) {
    Say(std::string("cannot ") + failure->step + ": " + std::strerror(failure->error) + "\n");
    return kCannotRun;
  }
  execve(argv[0], argv.data(), environment.data());
  Say("cannot run " + tool.argv.front() + ": " + std::strerror(errno) + "\n");
  return kCannotRun;
}

void WaitFor(int pidfd) {
  pollfd ended{.fd = pidfd, .events = POLLIN, .revents = 0};
  while (poll(&ended, 1, -1) < 0 && errno == EINTR) {
  }
}

}  // namespace

std::string BuildIsolation::Lacks() const {
  const std::string begin =
      "This machine lacks some isolation (" + required_.reason + "): the tools that build packages ";
  switch (required_.isolation) {
    case Isolation::kNamespaces: return "";
    case Isolation::kUserNamespaces: return "";
    case Isolation::kNoPidNamespace: return begin + "can send signals to the server's other processes.";
    case Isolation::kNone: return begin + "can read and change all files of the server's account.";
  }
  return "";
}

std::optional<ToolIsolation::Owner> BuildIsolation::owner() const {
  if (geteuid() != 0 || required_.isolation == Isolation::kNone) return std::nullopt;
  return kBuildAccount;
}

int BuildIsolation::Run(const IsolatedTool& tool) const {
  const bool has_view = required_.isolation != Isolation::kNone;
  const auto account = owner();
  const std::string tmp = has_view ? "/tmp" : tool.view.tmp;
  BuildRoot root{.mount_point = tool.view.root,
                 .tmp = tool.view.tmp,
                 .read_only = tool.view.read_only,
                 .writable = tool.view.writable,
                 .hidden = tool.view.hidden,
                 .uid = account ? account->uid : geteuid(),
                 .gid = account ? account->gid : getegid(),
                 .proc = required_.isolation == Isolation::kNamespaces ||
                         required_.isolation == Isolation::kUserNamespaces};
  root.hidden.insert(root.hidden.end(), hidden_.begin(), hidden_.end());
  SandboxPlan plan{.directory = tmp,
                   .function = [&] { return Exec(tool, tmp + "/home", tmp, account); },
                   .isolation = required_.isolation,
                   .host_name = "trainyard-build",
                   .root_inside = RootInside(required_.isolation),
                   .stdout_fd = STDOUT_FILENO,
                   .stderr_fd = STDERR_FILENO,
                   .lock_fd = tool.lock};
  if (has_view) plan.mounts = [&root] { return EnterBuildRoot(root); };
  auto sandbox = Patiently([&plan] { return Sandbox::Start(plan); });
  if (!sandbox && sandbox.error().code == Code::kAborted) return SIGKILL;
  if (!sandbox) {
    Say("cannot make the view of " + tool.argv.front() + ": " + sandbox.error().message + "\n");
    return W_EXITCODE(kCannotRun, 0);
  }
  WaitFor(sandbox->pidfd());
  return sandbox->Reap().wait_status.value_or(SIGKILL);
}

}  // namespace trainyard::replica
