#include "programs/sandbox/namespaces/id_map.h"

#include <fcntl.h>
#include <grp.h>
#include <linux/sched.h>
#include <pwd.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "base/async/file.h"
#include "base/number.h"
#include "base/process/child_process.h"
#include "base/process/variables.h"
#include "programs/sandbox/namespaces/mount_calls.h"

namespace trainyard::replica {

namespace {

/// A process that keeps a new namespace alive until we close the pipe's end, or end.
class Holder {
 public:
  Holder() {
    std::array<int, 2> pipe{};
    if (pipe2(pipe.data(), O_CLOEXEC) != 0) return;
    const UniqueFd theirs(pipe[0]);
    ours_.Reset(pipe[1]);
    pid_ =
        static_cast<pid_t>(syscall(SYS_clone, CLONE_NEWUSER | SIGCHLD, nullptr, nullptr, nullptr, nullptr));
    if (pid_ != 0) return;
    close(pipe[1]);
    char byte = 0;
    while (read(pipe[0], &byte, 1) < 0 && errno == EINTR) {
    }
    _exit(0);
  }
  Holder(const Holder&) = delete;
  Holder& operator=(const Holder&) = delete;
  ~Holder() {
    ours_.Reset();
    while (pid_ > 0 && waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
    }
  }
  /// Negative: there is none; errno says why.
  [[nodiscard]] pid_t pid() const noexcept { return pid_; }

 private:
  pid_t pid_ = -1;
  UniqueFd ours_;
};

Status Map(const std::string& path, const std::string& ids) {
  TY_TRY(const UniqueFd file, OpenFile(path, O_WRONLY));
  return WriteAll(file.get(), ids);
}

constexpr std::array kMappers = {"/usr/bin/newuidmap", "/usr/bin/newgidmap"};
/// How many ids root maps: as many as /etc/subuid usually grants.
constexpr std::uint32_t kRootIds = 65'536;
constexpr std::chrono::minutes kMapperWaitMax{1};

struct FurtherIds {
  IdRange users;
  IdRange groups;
};

std::string OwnName() {
  std::array<char, 4096> buffer{};
  passwd entry{};
  passwd* found = nullptr;
  if (getpwuid_r(getuid(), &entry, buffer.data(), buffer.size(), &found) != 0 || found == nullptr) return {};
  return entry.pw_name;
}

std::optional<FurtherIds> FindFurtherIds() {
  for (const char* mapper : kMappers) {
    if (access(mapper, X_OK) != 0) return std::nullopt;
  }
  const std::string name = OwnName();
  if (name.empty()) return std::nullopt;  // the mappers reject users that are not in the passwd file
  const auto users = FindSubordinateIds(ReadFile("/etc/subuid").value_or(""), name, getuid());
  const auto groups = FindSubordinateIds(ReadFile("/etc/subgid").value_or(""), name, getuid());
  if (!users || !groups) return std::nullopt;
  return FurtherIds{*users, *groups};
}

Status Set(const std::string& path, const std::string& text) {
  TY_TRY(const UniqueFd file, OpenFile(path, O_WRONLY));
  return WriteAll(file.get(), text);
}

/// Runs newuidmap PID 0 OWN 1 1 FIRST COUNT.
bool RunMapper(const char* program, pid_t child, unsigned own, const IdRange& range) {
  std::vector<std::string> words = {program, std::to_string(child)};
  for (const unsigned number : {0U, own, 1U, 1U, range.first, range.count})
    words.push_back(std::to_string(number));
  SpawnOptions options{.argv = std::move(words),
                       .environment = OwnVariables(),
                       .descriptors = {{STDERR_FILENO, STDERR_FILENO}}};
  auto mapper = ChildProcess::Spawn(std::move(options));
  return mapper && mapper->WaitFor(kMapperWaitMax) == ExitStatus{};
}

}  // namespace

std::optional<IdRange> FindSubordinateIds(std::string_view text, std::string_view user_name, uid_t uid) {
  const std::string number = std::to_string(uid);
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    const std::size_t first = line.find(':');
    const std::size_t second = line.find(':', first + 1);
    if (first == std::string_view::npos || second == std::string_view::npos) continue;
    const std::string_view who = line.substr(0, first);
    if (who.empty() || (who != user_name && who != number)) continue;
    const auto begin = LeadingNumber<std::uint32_t>(line.substr(first + 1, second - first - 1));
    const auto count = LeadingNumber<std::uint32_t>(line.substr(second + 1));
    if (begin && count.value_or(0) > 0) return IdRange{*begin, *count};
  }
  return std::nullopt;
}

bool HasFurtherIds() { return geteuid() == 0 || FindFurtherIds().has_value(); }

Status MapRoot(pid_t child) {
  const std::string folder = "/proc/" + std::to_string(child);
  if (geteuid() == 0) {
    const std::string all = "0 0 " + std::to_string(kRootIds);
    if (Set(folder + "/uid_map", all) && Set(folder + "/gid_map", all)) return {};
  } else if (const auto ids = FindFurtherIds(); ids && RunMapper(kMappers[0], child, getuid(), ids->users)) {
    if (RunMapper(kMappers[1], child, getgid(), ids->groups)) return {};
    return std::unexpected(FailedPrecondition("newgidmap failed"));
  }
  TY_RETURN_IF_ERROR(Set(folder + "/uid_map", "0 " + std::to_string(geteuid()) + " 1"));
  TY_RETURN_IF_ERROR(Set(folder + "/setgroups", "deny"));
  return Set(folder + "/gid_map", "0 " + std::to_string(getegid()) + " 1");
}

std::string SameIds(const std::string& own) {
  // Line by line: each range of the child namespace must lie within one range of ours.
  std::string same;
  std::istringstream lines(own);
  std::string first;
  std::string outside;
  for (std::string count; lines >> first >> outside >> count;)
    same.append(first).append(" ").append(first).append(" ").append(count).append("\n");
  return same;
}

Status MapSameIds(pid_t process) {
  for (const char* name : {"/uid_map", "/gid_map"}) {
    TY_TRY(const std::string own, ReadFile(std::string("/proc/self") + name));
    TY_RETURN_IF_ERROR(Set("/proc/" + std::to_string(process) + name, SameIds(own)));
  }
  return {};
}

Result<UniqueFd> MakeUserNamespace(const IdRange& ids) {
  const Holder holder;
  if (holder.pid() < 0) return std::unexpected(ErrnoError(errno, "make a user namespace"));
  const std::string folder = "/proc/" + std::to_string(holder.pid());
  const std::string map = "0 " + std::to_string(ids.first) + " " + std::to_string(ids.count);
  TY_RETURN_IF_ERROR(Map(folder + "/uid_map", map));
  TY_RETURN_IF_ERROR(Map(folder + "/gid_map", map));
  return OpenFile(folder + "/ns/user", O_RDONLY);
}

const char* BecomeRootIn(int user_namespace) {
  if (setns(user_namespace, CLONE_NEWUSER) != 0) return "enter its user namespace";
  if (setgroups(0, nullptr) != 0) return "leave our groups";
  if (setresgid(0, 0, 0) != 0 || setresuid(0, 0, 0) != 0) return "become root in its user namespace";
  return nullptr;
}

int MapMount(int tree, int user_namespace, unsigned long long attributes_set) {
  mount_attr attributes{};
  attributes.attr_set = MOUNT_ATTR_IDMAP | attributes_set;
  attributes.userns_fd = static_cast<unsigned long long>(user_namespace);
  return ChangeMounts(tree, attributes) == 0 ? 0 : errno;
}

Status CheckMappedMounts(const IdRange& ids, const std::string& folder) {
  const auto refused = [&folder](const std::string& why) {
    return std::unexpected(FailedPrecondition("cannot show " + folder + " with the ids of a job: " + why));
  };
  const Result<UniqueFd> users = MakeUserNamespace(ids);
  if (!users) return refused(users.error().message);
  const UniqueFd tree = CloneMount(folder.c_str());
  if (!tree) return refused(ErrnoError(errno, "open_tree").message);
  const int error = MapMount(tree.get(), users->get(), 0);
  if (error == EINVAL) return refused("its file system, or one mounted below it, cannot map ids");
  if (error != 0) return refused(ErrnoError(error, "mount_setattr").message);
  return {};
}

std::string OutermostClosedFolder(const std::string& path) {
  for (std::size_t end = path.find('/', 1); end != std::string::npos; end = path.find('/', end + 1)) {
    const std::string folder = path.substr(0, end);
    struct stat found{};
    if (stat(folder.c_str(), &found) == 0 && (found.st_mode & S_IXOTH) == 0) return folder;
  }
  return path;
}

}  // namespace trainyard::replica
