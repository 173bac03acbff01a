#include "programs/sandbox/namespaces/file_view.h"

#include <fcntl.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <utility>

#include "base/async/file.h"
#include "base/async/unique_fd.h"
#include "programs/sandbox/namespaces/mount_calls.h"
#include "programs/sandbox/namespaces/own_root.h"
#include "programs/sandbox/namespaces/user_namespace.h"

namespace trainyard::replica {

namespace {

using Failure = std::optional<ViewFailure>;

/// A directory (or file) with what is mounted below it, held apart from the tree until it gets its place.
struct Detached {
  std::string path;
  UniqueFd tree;
};

bool IsBelow(const std::string& path, const std::string& folder) {
  return path == folder || path.starts_with(folder + "/");
}

Failure Detach(const std::string& path, std::vector<Detached>& detached) {
  UniqueFd tree = CloneMount(path.c_str());
  if (!tree) return ViewFailure{"open_tree", errno};
  detached.push_back({path, std::move(tree)});
  return {};
}

Failure Attach(const Detached& detached, const std::string& path) {
  if (AttachMount(detached.tree.get(), path.c_str()) != 0) return ViewFailure{"move_mount", errno};
  return {};
}

Failure AttachAll(const std::vector<Detached>& detached) {
  for (const Detached& one : detached) {
    static_cast<void>(MakeFolders(one.path, 0755));  // what is missing shows at the mount
    if (Failure failure = Attach(one, one.path)) return failure;
  }
  return {};
}

Failure ReplaceTmp(const FileView& view, const std::vector<Detached>& tmp) {
  std::vector<Detached> kept;
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

Failure Restrict(const Detached& detached, std::uint64_t attributes_set, std::uint64_t propagation = 0) {
  mount_attr attributes{};
  attributes.attr_set = attributes_set;
  attributes.propagation = propagation;
  if (ChangeMounts(detached.tree.get(), attributes) != 0) return ViewFailure{"mount_setattr", errno};
  return {};
}

/// Mounts what is at the path over itself with the attributes. What the machine mounts there later, without
/// them, does not get in.
Failure Restrict(const std::string& path, std::uint64_t attributes_set) {
  std::vector<Detached> folder;
  if (Failure failure = Detach(path, folder)) return failure;
  if (Failure failure = Restrict(folder[0], attributes_set, MS_PRIVATE)) return failure;
  return Attach(folder[0], path);
}

/// The machine may mount another disk above the folder later, over what hides it, or where its disk is to be:
/// nothing more gets in below the first directory of its path. What is mounted there stays until the replica
/// ends.
Failure CloseAbove(const std::string& folder) {
  if (folder == kServiceRunFolder) return {};  // of no disk; much is mounted beside it
  const std::string first = folder.substr(0, folder.find('/', 1));
  if (first == folder || access(first.c_str(), F_OK) != 0) return {};
  return Restrict(first, 0);
}

Failure Hide(const FileView& view) {
  std::vector<Detached> kept;
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
  // Who makes the view has more rights than the program: where it does not get, the program does not.
  if (errno == ENOENT || errno == EACCES) return {};
  return ViewFailure{"mount tmpfs over a folder of the server's", errno};
}

/// What would change the whole machine, as in a container.
Failure ProtectProc() {
  for (const char* path : {"/proc/sys", "/proc/sysrq-trigger", "/proc/irq", "/proc/bus"}) {
    if (access(path, F_OK) != 0) continue;
    if (Failure failure = Restrict(path, MOUNT_ATTR_RDONLY)) return failure;
  }
  return {};
}

/// Taken from the tree as it was, named as they will be seen.
Failure DetachBinds(const FileView& view, std::vector<Detached>& binds) {
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
  // Nothing gets out; what the machine unmounts is unmounted here, too, and not kept busy.
  if (mount(nullptr, "/", nullptr, MS_REC | MS_SLAVE, nullptr) != 0)
    return ViewFailure{"keep mounts from the machine", errno};
  if (!view.added.empty()) {
    if (Failure failure = MoveToOwnRoot(view.added)) return failure;
  }
  std::vector<Detached> tmp;  // taken before its own directory is hidden
  if (!view.tmp.empty()) {
    if (Failure failure = Detach(view.tmp, tmp)) return failure;
  }
  std::vector<Detached> binds;
  if (Failure failure = DetachBinds(view, binds)) return failure;
  // A small container may have no such file, and nothing can be mounted then: names are not found there.
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
