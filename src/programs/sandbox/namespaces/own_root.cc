#include "programs/sandbox/namespaces/own_root.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <climits>
#include <string_view>
#include <utility>

#include "base/async/unique_fd.h"
#include "programs/sandbox/namespaces/mount_calls.h"

namespace trainyard::replica {

namespace {

using Failure = std::optional<ViewFailure>;

/// Any directory that every machine has: it is where the new root is while it is made.
constexpr const char* kPlace = "/tmp";
/// The machine's root without what is mounted in it, while the new one is made.
constexpr const char* kBare = "/tmp/trainyard-bare-root";

/// Of the machine's root: a link with what it says, or what is mounted in the new one.
struct Entry {
  std::string name;
  std::string link;
  UniqueFd tree;
  bool is_folder = false;
  bool is_mount = false;
};

/// Nothing for what is neither link, directory nor file, and for what is not there any more.
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
  // On what it is mounted on there: only so is it unmounted here when the machine unmounts it.
  if (entry.is_folder && entry.is_mount) {
    const UniqueFd below = CloneMount((std::string(kBare) + "/" + entry.name).c_str());
    if (below) AttachMount(below.get(), path.c_str());
  }
  if (AttachMount(entry.tree.get(), path.c_str()) != 0) return ViewFailure{"move_mount into the root", errno};
  return {};
}

/// A user namespace may not see below what is mounted: then it does without.
void ShowBare(const UniqueFd& bare) {
  if (mkdir(kBare, 0700) == 0 && bare) AttachMount(bare.get(), kBare);
}

void HideBare() {
  umount2(kBare, MNT_DETACH);
  rmdir(kBare);
}

/// The old root is mounted over the new one by pivot_root, and taken away again.
Failure Enter() {
  if (chdir(kPlace) != 0) return ViewFailure{"enter the new root", errno};
  if (syscall(SYS_pivot_root, ".", ".") != 0) return ViewFailure{"pivot_root", errno};
  if (umount2(".", MNT_DETACH) != 0) return ViewFailure{"let go of the old root", errno};
  if (chdir("/") != 0) return ViewFailure{"enter the root", errno};
  return {};
}

}  // namespace

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

}  // namespace trainyard::replica
