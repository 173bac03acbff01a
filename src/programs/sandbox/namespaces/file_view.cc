#include "programs/sandbox/namespaces/file_view.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <climits>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/async/file.h"
#include "base/async/unique_fd.h"
#include "programs/sandbox/namespaces/id_map.h"
#include "programs/sandbox/namespaces/mount_calls.h"

namespace trainyard::replica {

namespace {

using Failure = std::optional<ViewFailure>;

/// A directory that every machine has: the new root is mounted there while it is made.
constexpr const char* kPlace = "/tmp";
/// The machine's root without what is mounted in it, while the new one is made.
constexpr const char* kBare = "/tmp/trainyard-bare-root";

/// An entry of the machine's root: a link with its target, or a mount for the new root.
struct Entry {
  std::string name;
  std::string link;
  UniqueFd tree;
  bool is_folder = false;
  bool is_mount = false;
};

/// Adds the entry, unless it is neither link, directory nor file, or does not exist any more.
Failure Take(const std::string& name, std::vector<Entry>& entries) {
  const std::string path = "/" + name;
  struct stat found{};
  if (lstat(path.c_str(), &found) != 0) return {};
  struct stat root{};
  if (stat("/", &root) != 0) return ViewFailure{"look at the root", errno};
  Entry entry{.name = name,
              .link = {},
              .tree = {},
              .is_folder = S_ISDIR(found.st_mode),
              .is_mount = root.st_dev != found.st_dev};
  if (S_ISLNK(found.st_mode)) {
    std::array<char, PATH_MAX> text{};
    const ssize_t size = readlink(path.c_str(), text.data(), text.size());
    if (size <= 0) return {};
    entry.link.assign(text.data(), static_cast<std::size_t>(size));
  } else if (entry.is_folder || S_ISREG(found.st_mode)) {
    entry.tree = CloneMount(path.c_str());
    if (!entry.tree) return ViewFailure{"open_tree of the root's directories", errno};
  } else {
    return {};
  }
  entries.push_back(std::move(entry));
  return {};
}

Failure TakeAll(std::vector<Entry>& entries) {
  DIR* root = opendir("/");
  if (root == nullptr) return ViewFailure{"list the root", errno};
  Failure failure;
  while (const dirent* entry = failure ? nullptr : readdir(root)) {
    const std::string_view name = entry->d_name;
    if (name != "." && name != "..") failure = Take(std::string(name), entries);
  }
  closedir(root);
  return failure;
}

Failure Put(const Entry& entry) {
  const std::string path = kPlace + ("/" + entry.name);
  if (!entry.link.empty()) {
    if (symlink(entry.link.c_str(), path.c_str()) != 0) return ViewFailure{"copy a link of the root", errno};
    return {};
  }
  if (entry.is_folder) {
    if (mkdir(path.c_str(), 0755) != 0) return ViewFailure{"make a directory of the root", errno};
  } else if (const UniqueFd file(open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0444)); !file) {
    return ViewFailure{"make a file of the root", errno};
  }
  // Attached to the copied mount point, so that it is unmounted here when the machine unmounts it.
  if (entry.is_folder && entry.is_mount) {
    const UniqueFd below = CloneMount((std::string(kBare) + "/" + entry.name).c_str());
    if (below) AttachMount(below.get(), path.c_str());
  }
  if (AttachMount(entry.tree.get(), path.c_str()) != 0) return ViewFailure{"move_mount into the root", errno};
  return {};
}

/// Shows the machine's root without mounts. A user namespace may not look below mounts: then this step is
/// skipped.
void ShowBare(const UniqueFd& bare) {
  if (mkdir(kBare, 0700) == 0 && bare) AttachMount(bare.get(), kBare);
}

void HideBare() {
  umount2(kBare, MNT_DETACH);
  rmdir(kBare);
}

/// Enters the new root. pivot_root mounts the old root over the new one, and then it is unmounted.
Failure Enter() {
  if (chdir(kPlace) != 0) return ViewFailure{"enter the new root", errno};
  if (syscall(SYS_pivot_root, ".", ".") != 0) return ViewFailure{"pivot_root", errno};
  if (umount2(".", MNT_DETACH) != 0) return ViewFailure{"let go of the old root", errno};
  if (chdir("/") != 0) return ViewFailure{"enter the root", errno};
  return {};
}

/// Gives the calling process, which must be in a separate mount namespace with private mounts, a separate
/// root: it has the entries of the machine's root, with directories and files mounted and links copied, and
/// the empty directories `added` (absolute, right below the root), which cannot be made in the machine's. The
/// root itself is not writable. The process is in the new root afterwards; the old one is unmounted.
///
/// Stops at the first step that the kernel refuses: EINVAL of pivot_root is a machine whose root is its
/// initial ram disk. Source: pivot_root(2), "pivot_root(".", ".")".
std::optional<ViewFailure> MoveToOwnRoot(const std::vector<std::string>& added) {
  std::vector<Entry> entries;
  if (Failure failure = TakeAll(entries)) return failure;
  const UniqueFd bare = CloneMountAlone("/");
  if (mount("tmpfs", kPlace, "tmpfs", MS_NOSUID | MS_NODEV, "size=1m,mode=0755") != 0)
    return ViewFailure{"mount the new root", errno};
  ShowBare(bare);
  for (const Entry& entry : entries) {
    if (Failure failure = Put(entry)) return failure;
  }
  HideBare();
  for (const std::string& path : added) {
    if (mkdir((kPlace + path).c_str(), 0755) != 0 && errno != EEXIST)
      return ViewFailure{"add a directory to the root", errno};
  }
  if (Failure failure = Enter()) return failure;
  if (mount(nullptr, "/", nullptr, MS_REMOUNT | MS_BIND | MS_RDONLY | MS_NOSUID | MS_NODEV, nullptr) != 0)
    return ViewFailure{"close the new root", errno};
  return {};
}

/// A directory (or file) with the mounts below it, detached from the tree until it is attached at its place.
struct DetachedTree {
  std::string path;
  UniqueFd tree;
};

bool IsBelow(const std::string& path, const std::string& folder) {
  return path == folder || path.starts_with(folder + "/");
}

Failure Detach(const std::string& path, std::vector<DetachedTree>& detached) {
  UniqueFd tree = CloneMount(path.c_str());
  if (!tree) return ViewFailure{"open_tree", errno};
  detached.push_back({path, std::move(tree)});
  return {};
}

Failure Attach(const DetachedTree& detached, const std::string& path) {
  if (AttachMount(detached.tree.get(), path.c_str()) != 0) return ViewFailure{"move_mount", errno};
  return {};
}

Failure AttachAll(const std::vector<DetachedTree>& detached) {
  for (const DetachedTree& one : detached) {
    static_cast<void>(MakeFolders(one.path, 0755));  // a missing mount point is noticed when mounting
    if (Failure failure = Attach(one, one.path)) return failure;
  }
  return {};
}

Failure ReplaceTmp(const FileView& view, const std::vector<DetachedTree>& tmp) {
  std::vector<DetachedTree> kept;
  std::vector<std::string> wanted = view.read_only;
  if (view.hidden.empty()) {
    wanted.insert(wanted.end(), view.kept.begin(), view.kept.end());
  } else {
    wanted.push_back(view.hidden);
  }
  for (const std::string& path : wanted) {
    if (!IsBelow(path, "/tmp")) continue;
    if (Failure failure = Detach(path, kept)) return failure;
  }
  if (Failure failure = Attach(tmp.front(), "/tmp")) return failure;
  return AttachAll(kept);
}

Failure Restrict(const DetachedTree& detached, std::uint64_t attributes_set, std::uint64_t propagation = 0) {
  mount_attr attributes{};
  attributes.attr_set = attributes_set;
  attributes.propagation = propagation;
  if (ChangeMounts(detached.tree.get(), attributes) != 0) return ViewFailure{"mount_setattr", errno};
  return {};
}

/// Mounts the path over itself with the attributes. Later mounts of the machine, which lack the attributes,
/// do not appear here.
Failure Restrict(const std::string& path, std::uint64_t attributes_set) {
  std::vector<DetachedTree> folder;
  if (Failure failure = Detach(path, folder)) return failure;
  if (Failure failure = Restrict(folder[0], attributes_set, MS_PRIVATE)) return failure;
  return Attach(folder[0], path);
}

/// The machine may later mount another disk above the directory, over the mount that hides it or over the
/// place of its disk: so further mounts below the first directory of its path are kept out. Existing mounts
/// there stay until the replica ends.
Failure CloseAbove(const std::string& folder) {
  if (folder == kServiceRunFolder) return {};  // not on a disk; many mounts are next to it
  const std::string first = folder.substr(0, folder.find('/', 1));
  if (first == folder || access(first.c_str(), F_OK) != 0) return {};
  return Restrict(first, 0);
}

Failure Hide(const FileView& view) {
  std::vector<DetachedTree> kept;
  for (const std::string& path : view.kept) {
    if (Failure failure = Detach(path, kept)) return failure;
  }
  for (const std::string& path : view.read_only) {
    if (!IsBelow(path, view.hidden)) continue;
    if (Failure failure = Detach(path, kept)) return failure;
  }
  if (Failure failure = CloseAbove(view.hidden)) return failure;
  if (mount("tmpfs", view.hidden.c_str(), "tmpfs", MS_NOSUID | MS_NODEV, "size=1m,mode=0755") != 0) {
    return ViewFailure{"mount tmpfs over the other replicas", errno};
  }
  return AttachAll(kept);
}

Failure Empty(const std::string& path) {
  if (mount("tmpfs", path.c_str(), "tmpfs", MS_NOSUID | MS_NODEV | MS_RDONLY, "size=4k,mode=0555") == 0)
    return {};
  // This process has more rights than the program: a path that it cannot reach, the program cannot reach
  // either.
  if (errno == ENOENT || errno == EACCES) return {};
  return ViewFailure{"mount tmpfs over a folder of the server's", errno};
}

/// Makes files of /proc read-only that would change the whole machine, as in a container.
Failure ProtectProc() {
  for (const char* path : {"/proc/sys", "/proc/sysrq-trigger", "/proc/irq", "/proc/bus"}) {
    if (access(path, F_OK) != 0) continue;
    if (Failure failure = Restrict(path, MOUNT_ATTR_RDONLY)) return failure;
  }
  return {};
}

/// Detaches copies of the binds' sources from the original tree, with their paths in the view.
Failure DetachBinds(const FileView& view, std::vector<DetachedTree>& binds) {
  for (const FileView::Bind& bind : view.binds) {
    if (Failure failure = Detach(bind.from, binds)) return failure;
    binds.back().path = bind.to;
    const std::uint64_t attributes =
        (bind.read_only ? std::uint64_t{MOUNT_ATTR_RDONLY} : 0) |
        (bind.data_only ? std::uint64_t{MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV} : 0);
    if (view.users >= 0) {
      if (const int error = MapMount(binds.back().tree.get(), view.users, attributes); error != 0)
        return ViewFailure{"mount_setattr with the job's ids", error};
    } else if (attributes != 0) {
      if (Failure failure = Restrict(binds.back(), attributes)) return failure;
    }
  }
  return {};
}

}  // namespace

std::optional<ViewFailure> SetUpFileView(const FileView& view) {
  // Mounts made here do not appear outside; what the machine unmounts is unmounted here, too, so that it is
  // not kept busy.
  if (mount(nullptr, "/", nullptr, MS_REC | MS_SLAVE, nullptr) != 0)
    return ViewFailure{"keep mounts from the machine", errno};
  if (!view.added.empty()) {
    if (Failure failure = MoveToOwnRoot(view.added)) return failure;
  }
  std::vector<DetachedTree> tmp;  // detached before its own directory is hidden
  if (!view.tmp.empty()) {
    if (Failure failure = Detach(view.tmp, tmp)) return failure;
  }
  std::vector<DetachedTree> binds;
  if (Failure failure = DetachBinds(view, binds)) return failure;
  // A small container may not have this file, and then nothing can be mounted: names are not resolved there.
  if (!view.hosts.empty() && mount(view.hosts.c_str(), "/etc/hosts", nullptr, MS_BIND, nullptr) != 0 &&
      errno != ENOENT) {
    return ViewFailure{"bind /etc/hosts", errno};
  }
  if (!view.hidden.empty()) {
    if (Failure failure = Hide(view)) return failure;
  }
  if (!tmp.empty()) {
    if (Failure failure = ReplaceTmp(view, tmp)) return failure;
  }
  for (const std::string& path : view.read_only) {
    if (Failure failure = Restrict(path, MOUNT_ATTR_RDONLY)) return failure;
  }
  if (Failure failure = AttachAll(binds)) return failure;
  for (const std::string& path : view.forbidden) {
    if (access(path.c_str(), F_OK) != 0) continue;
    if (Failure failure = Restrict(path, MOUNT_ATTR_NODEV)) return failure;
  }
  for (const std::string& path : view.emptied) {
    if (Failure failure = CloseAbove(path)) return failure;
    if (Failure failure = Empty(path)) return failure;
  }
  if (view.shared_memory && mount("tmpfs", "/dev/shm", "tmpfs", MS_NOSUID | MS_NODEV, "mode=1777") != 0 &&
      errno != ENOENT) {
    return ViewFailure{"mount /dev/shm", errno};
  }
  if (!view.proc) return {};
  if (mount("proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, nullptr) != 0) {
    return ViewFailure{"mount /proc", errno};
  }
  return ProtectProc();
}

}  // namespace trainyard::replica
