#include "programs/sandbox/namespaces/user_namespace.h"

#include <fcntl.h>
#include <grp.h>
#include <linux/sched.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>

#include "base/async/file.h"
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

}  // namespace

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
