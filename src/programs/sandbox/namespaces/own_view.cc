#include "programs/sandbox/namespaces/own_view.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <optional>

#include "base/async/file.h"
#include "base/async/unique_fd.h"
#include "programs/sandbox/namespaces/mount_calls.h"
#include "programs/sandbox/namespaces/namespace_check.h"

namespace trainyard::replica {

namespace {

using Failure = std::optional<ViewFailure>;

constexpr const char* kHostsFile = "/etc/hosts";
/// A directory that every machine has: a private file system in memory is mounted there for files that are
/// made before the view.
constexpr const char* kPlace = "/tmp";

/// Removes all traces of a file that existed only for this process.
struct HostsTree {
  UniqueFd tree;
  Failure failure;
};

HostsTree MakeHosts(const std::string& text) {
  if (mount("tmpfs", kPlace, "tmpfs", MS_NOSUID | MS_NODEV, "size=4m,mode=0755") != 0)
    return {.tree = {}, .failure = ViewFailure{"mount memory for its files", errno}};
  const std::string path = std::string(kPlace) + "/hosts";
  HostsTree made;
  const UniqueFd file(open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0644));
  if (!file || fchmod(file.get(), 0644) != 0 || !WriteAll(file.get(), text))
    made.failure = ViewFailure{"write its hosts file", errno};
  if (!made.failure) made.tree = CloneMount(path.c_str());
  if (!made.failure && !made.tree) made.failure = ViewFailure{"open_tree of its hosts file", errno};
  if (umount2(kPlace, MNT_DETACH) != 0 && !made.failure) made.failure = ViewFailure{"unmount", errno};
  return made;
}

Failure AttachHosts(const UniqueFd& tree) {
  std::array<char, PATH_MAX> real{};  // it may be a link
  if (realpath(kHostsFile, real.data()) == nullptr) return ViewFailure{"find /etc/hosts", errno};
  if (AttachMount(tree.get(), real.data()) != 0) return ViewFailure{"mount over /etc/hosts", errno};
  return {};
}

Failure SetUp(const FileView& view, const std::string& hosts) {
  if (mount(nullptr, "/", nullptr, MS_REC | MS_SLAVE, nullptr) != 0)
    return ViewFailure{"keep mounts from the machine", errno};
  HostsTree made = MakeHosts(hosts);
  if (made.failure) return made.failure;
  if (Failure failure = SetUpFileView(view)) return failure;
  return AttachHosts(made.tree);
}

Status MapOneself(uid_t uid, gid_t gid) {
  const auto write = [](const char* path, const std::string& text) -> Status {
    TY_TRY(const UniqueFd file, OpenFile(path, O_WRONLY));
    return WriteAll(file.get(), text);
  };
  const auto map = [](unsigned id) { return std::to_string(id) + " " + std::to_string(id) + " 1"; };
  TY_RETURN_IF_ERROR(write("/proc/self/setgroups", "deny"));
  TY_RETURN_IF_ERROR(write("/proc/self/uid_map", map(uid)));
  return write("/proc/self/gid_map", map(gid));
}

/// Enters the namespaces; an error contains the reason only.
Result<OwnView> Unshare() {
  if (geteuid() == 0 && unshare(CLONE_NEWNS) == 0) return OwnView::kMounts;
  const uid_t uid = geteuid();
  const gid_t gid = getegid();
  if (unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0) return std::unexpected(ErrnoError(errno, "unshare"));
  TY_RETURN_IF_ERROR(MapOneself(uid, gid));
  return OwnView::kUserNamespace;
}

}  // namespace

Result<OwnView> EnterOwnView(const FileView& view, const std::string& hosts) {
  const auto forbidden = [](const std::string& reason) {
    return std::unexpected(FailedPrecondition("this machine does not allow user namespaces (" + reason +
                                              "); " + NamespaceAdvice(ReadNamespaceSettings())));
  };
  Result<OwnView> entered = Unshare();
  if (!entered) return forbidden(entered.error().message);
  const Failure failure = SetUp(view, hosts);
  if (!failure) return entered;
  const std::string reason = std::string(failure->step) + ": " + std::strerror(failure->error);
  if (failure->error == EPERM || failure->error == EACCES) return forbidden(reason);
  return std::unexpected(FailedPrecondition("cannot make a view of the files of its own (" + reason + ")"));
}

}  // namespace trainyard::replica
