#include "sandbox/build_fence.h"

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
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <span>
#include <string_view>
#include <utility>

#include "async/unique_fd.h"
#include "sandbox/build_root.h"
#include "sandbox/confinement.h"
#include "sandbox/sandbox_init.h"

namespace trainyard::replica {

namespace {

using environment::FencedTool;
using environment::ToolFence;

/// Nobody's: Debian reserves 65000 to 65533, and systemd gives out nothing above 65519.
constexpr ToolFence::Owner kBuildAccount{65'530, 65'530};
/// As many processes as a container has, and more than any build needs.
constexpr rlim_t kProcessesMax = 16'384;
constexpr int kCannotRun = 127;
constexpr std::array kRootFences = {Fence::kNamespaces, Fence::kUserNamespaces, Fence::kNoPidNamespace};
constexpr std::array kUserFences = {Fence::kUserNamespaces, Fence::kNoPidNamespace};

/// A root server maps all accounts into a user namespace, so that it can become the builds' one there.
bool RootInside(Fence fence) { return geteuid() == 0 && HasUserNamespace(fence); }

void Say(const std::string& text) {
  for (std::string_view rest = text; !rest.empty();) {
    const ssize_t size = write(STDERR_FILENO, rest.data(), rest.size());
    if (size <= 0) return;
    rest.remove_prefix(static_cast<std::size_t>(size));
  }
}

/// Takes a right that the builds' account does not have.
void EmptyBoundingSet() {
  for (int right = 0; prctl(PR_CAPBSET_READ, right) >= 0; ++right) prctl(PR_CAPBSET_DROP, right);
}

bool Become(const ToolFence::Owner& account) {
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

/// The tool's process, behind the fence: returns only if it cannot be run.
int Exec(const FencedTool& tool, const std::string& home, const std::string& tmp,
         const std::optional<ToolFence::Owner>& account) {
  close(kLockFd);  // whoever holds it could free the lock
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

/// Whether the kernel makes these namespaces for us, with what is mounted in them. In a child.
Status TryFence(Fence fence) {
  SandboxPlan plan{.function = [] { return 0; }, .fence = fence, .root_inside = RootInside(fence)};
  auto sandbox = Sandbox::Start(plan);
  if (!sandbox) return std::unexpected(std::move(sandbox).error());
  WaitFor(sandbox->pidfd());
  static_cast<void>(sandbox->Reap());
  return {};
}

}  // namespace

BuildFence BuildFence::Find(std::vector<std::string> hidden) {
  // In a process of its own: sandboxes are started where there is one thread.
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) return {Fence::kNone, "pipe", std::move(hidden)};
  const UniqueFd ours(ends[0]);
  UniqueFd theirs(ends[1]);
  const pid_t child = fork();
  if (child == 0) {
    const auto attempt = [](std::span<const Fence> fences) {
      std::string reason;
      for (const Fence fence : fences) {
        const Status done = TryFence(fence);
        if (!done) reason = done.error().message;
        if (!done) continue;
        return std::string(1, static_cast<char>('0' + static_cast<int>(fence))) + reason;
      }
      return std::string(1, static_cast<char>('0' + static_cast<int>(Fence::kNone))) + reason;
    };
    const std::string found = geteuid() == 0 ? attempt(kRootFences) : attempt(kUserFences);
    _exit(write(theirs.get(), found.data(), found.size()) > 0 ? 0 : 1);
  }
  theirs.Reset();
  std::array<char, 512> found{};
  ssize_t size = 0;
  do {
    size = read(ours.get(), found.data(), found.size());
  } while (size < 0 && errno == EINTR);
  while (child > 0 && waitpid(child, nullptr, 0) < 0 && errno == EINTR) {
  }
  if (child < 0 || size <= 0) return {Fence::kNone, "fork", std::move(hidden)};
  return {static_cast<Fence>(found[0] - '0'), std::string(&found[1], static_cast<std::size_t>(size) - 1),
          std::move(hidden)};
}

std::string BuildFence::Lacks() const {
  const std::string begin = "This machine lacks some isolation (" + reason_ + "): what builds the packages ";
  switch (fence_) {
    case Fence::kNamespaces: return "";
    case Fence::kUserNamespaces: return "";
    case Fence::kNoPidNamespace: return begin + "can send signals to the server's other processes.";
    case Fence::kNone: return begin + "can read and change whatever the server's account can.";
  }
  return "";
}

std::optional<ToolFence::Owner> BuildFence::owner() const {
  if (geteuid() != 0 || fence_ == Fence::kNone) return std::nullopt;
  return kBuildAccount;
}

int BuildFence::Run(const FencedTool& tool) const {
  const bool has_view = fence_ != Fence::kNone;
  const auto account = owner();
  const std::string tmp = has_view ? "/tmp" : tool.view.tmp;
  BuildRoot root{.mount_point = tool.view.root,
                 .tmp = tool.view.tmp,
                 .read_only = tool.view.read_only,
                 .writable = tool.view.writable,
                 .hidden = tool.view.hidden,
                 .uid = account ? account->uid : geteuid(),
                 .gid = account ? account->gid : getegid(),
                 .proc = fence_ == Fence::kNamespaces || fence_ == Fence::kUserNamespaces};
  root.hidden.insert(root.hidden.end(), hidden_.begin(), hidden_.end());
  SandboxPlan plan{.directory = tmp,
                   .function = [&] { return Exec(tool, tmp + "/home", tmp, account); },
                   .fence = fence_,
                   .host_name = "trainyard-build",
                   .root_inside = RootInside(fence_),
                   .stdout_fd = STDOUT_FILENO,
                   .stderr_fd = STDERR_FILENO,
                   .lock_fd = tool.lock};
  if (has_view) plan.mounts = [&root] { return EnterBuildRoot(root); };
  auto sandbox = Sandbox::Start(plan);
  if (!sandbox) {
    Say("cannot make the view of " + tool.argv.front() + ": " + sandbox.error().message + "\n");
    return W_EXITCODE(kCannotRun, 0);
  }
  WaitFor(sandbox->pidfd());
  return sandbox->Reap().wait_status.value_or(SIGKILL);
}

}  // namespace trainyard::replica
