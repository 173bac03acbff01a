#include "programs/sandbox/namespaces/build_root.h"

#include <fcntl.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <climits>
#include <cstdlib>
#include <string_view>
#include <utility>

#include "base/async/file.h"
#include "base/async/unique_fd.h"
#include "programs/sandbox/namespaces/mount_calls.h"

namespace trainyard::replica {

namespace {

using Failure = std::optional<ViewFailure>;

/// Programs and libraries.
constexpr std::array kSystemFolders = {"/usr",   "/bin", "/sbin",      "/lib",      "/lib32",
                                       "/lib64", "/opt", "/nix/store", "/gnu/store"};
/// The files of /etc that are needed for names, certificates and compilers. No passwords, no keys.
constexpr std::array kSettings = {
    "/etc/resolv.conf",     "/etc/hosts",         "/etc/nsswitch.conf", "/etc/host.conf",
    "/etc/gai.conf",        "/etc/services",      "/etc/protocols",     "/etc/ssl/certs",
    "/etc/ssl/openssl.cnf", "/etc/pki/tls/certs", "/etc/pki/ca-trust",  "/etc/ca-certificates",
    "/etc/crypto-policies", "/etc/ld.so.cache",   "/etc/ld.so.conf",    "/etc/ld.so.conf.d",
    "/etc/alternatives",    "/etc/localtime",     "/etc/timezone",      "/etc/os-release",
    "/etc/debian_version",  "/etc/mime.types",    "/etc/python3",       "/etc/uv",
    "/etc/python3.11"};
constexpr std::array kDevices = {"/dev/null",   "/dev/zero",    "/dev/full",
                                 "/dev/random", "/dev/urandom", "/dev/tty"};
constexpr std::array<std::pair<const char*, const char*>, 4> kDeviceLinks = {
    {{"/proc/self/fd", "/dev/fd"},
     {"/proc/self/fd/0", "/dev/stdin"},
     {"/proc/self/fd/1", "/dev/stdout"},
     {"/proc/self/fd/2", "/dev/stderr"}}};

/// A mount of the machine, kept detached until the new root exists.
struct Piece {
  std::string path;  ///< its place in the root
  UniqueFd tree;
};

bool IsThere(const std::string& path) {
  struct stat status{};
  return lstat(path.c_str(), &status) == 0;
}

std::string Real(const std::string& path) {
  std::array<char, PATH_MAX> real{};
  return realpath(path.c_str(), real.data()) != nullptr ? real.data() : std::string();
}

/// Errors are ignored: a missing mount point is noticed when mounting.
void MakeMountPoint(const std::string& path) { static_cast<void>(MakeFolders(path, 0755)); }

/// Detaches a copy of a mount; paths that do not exist are ignored.
Failure Take(const std::string& from, const std::string& to, unsigned long attributes,
             std::vector<Piece>& pieces) {
  UniqueFd tree = CloneMount(from.c_str());
  if (!tree && (errno == ENOENT || errno == ENOTDIR || errno == EACCES)) return {};
  if (!tree) return ViewFailure{"open_tree", errno};
  mount_attr wanted{};
  wanted.attr_set = attributes;
  if (ChangeMounts(tree.get(), wanted) != 0) return ViewFailure{"mount_setattr", errno};
  pieces.push_back({to, std::move(tree)});
  return {};
}

Failure Place(const Piece& piece) {
  struct stat status{};
  if (fstat(piece.tree.get(), &status) != 0) return ViewFailure{"stat a mount", errno};
  if (S_ISDIR(status.st_mode)) {
    MakeMountPoint(piece.path);
  } else {
    MakeMountPoint(FolderOf(piece.path));
    close(open(piece.path.c_str(), O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0444));
  }
  if (AttachMount(piece.tree.get(), piece.path.c_str()) != 0) return ViewFailure{"move_mount", errno};
  return {};
}

Failure PlaceAll(const std::vector<Piece>& pieces) {
  for (const Piece& piece : pieces) {
    if (Failure failure = Place(piece)) return failure;
  }
  return {};
}

constexpr unsigned long kReadOnly = MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV;
constexpr unsigned long kWritable = MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV;

struct Pieces {
  std::vector<Piece> system;
  std::vector<Piece> named;
  /// Paths that are links, with their targets.
  std::vector<std::pair<std::string, std::string>> links;
};

Failure TakeSystem(const BuildRoot& root, Pieces& pieces) {
  for (const char* path : kSystemFolders) {
    std::array<char, PATH_MAX> target{};
    if (readlink(path, target.data(), target.size() - 1) > 0) {
      pieces.links.emplace_back(target.data(), path);
    } else if (Failure failure = Take(path, path, kReadOnly, pieces.system)) {
      return failure;
    }
  }
  for (const char* path : kSettings) {
    if (const std::string real = Real(path); !real.empty()) {
      if (Failure failure = Take(real, path, kReadOnly, pieces.system)) return failure;
    }
  }
  for (const char* path : kDevices) {
    if (Failure failure = Take(path, path, MOUNT_ATTR_NOSUID | MOUNT_ATTR_NOEXEC, pieces.system))
      return failure;
  }
  if (root.proc) {
    if (Failure failure = Take("/proc", "/proc", 0, pieces.system)) return failure;
  }
  return Take(root.tmp, "/tmp", kWritable, pieces.system);
}

Failure TakeNamed(const BuildRoot& root, Pieces& pieces) {
  const auto take = [&pieces](const std::string& path, unsigned long attributes) -> Failure {
    const std::string real = Real(path);
    if (real.empty() || real == "/") return {};
    if (real != path) pieces.links.emplace_back(real, path);
    return Take(real, real, attributes, pieces.named);
  };
  for (const std::string& path : root.read_only) {
    if (Failure failure = take(path, kReadOnly)) return failure;
  }
  for (const std::string& path : root.writable) {
    if (Failure failure = take(path, kWritable)) return failure;
  }
  return {};
}

Failure SwitchRoot(const BuildRoot& root) {
  if (mount("tmpfs", root.mount_point.c_str(), "tmpfs", MS_NOSUID | MS_NODEV, "size=16m,mode=0755") != 0)
    return ViewFailure{"mount a root", errno};
  if (chdir(root.mount_point.c_str()) != 0) return ViewFailure{"enter the root", errno};
  if (syscall(SYS_pivot_root, ".", ".") == 0) {
    if (umount2(".", MNT_DETACH) != 0) return ViewFailure{"leave the old root", errno};
  } else if (errno != EINVAL || mount(".", "/", nullptr, MS_MOVE, nullptr) != 0 || chroot(".") != 0) {
    return ViewFailure{"pivot_root", errno};  // EINVAL: the machine's root is the kernel's first one
  }
  if (chdir("/") != 0) return ViewFailure{"enter the root", errno};
  return {};
}

/// Gives the program's account a name, since many programs look it up.
void WriteAccounts(const BuildRoot& root) {
  const auto write_text = [](const char* path, const std::string& text) {
    const UniqueFd file(open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644));
    static_cast<void>(write(file.get(), text.data(), text.size()));  // without it programs see a number
  };
  const std::string own =
      "build:x:" + std::to_string(root.uid) + ":" + std::to_string(root.gid) + "::/tmp/home:/bin/sh\n";
  mkdir("/etc", 0755);
  write_text("/etc/passwd", (root.uid == 0 ? "" : "root:x:0:0::/:/bin/sh\n") + own);
  write_text("/etc/group",
             std::string(root.gid == 0 ? "" : "root:x:0:\n") + "build:x:" + std::to_string(root.gid) + ":\n");
}

Failure MakeDevices() {
  mkdir("/dev", 0755);
  mkdir("/dev/shm", 01777);
  if (mount("tmpfs", "/dev/shm", "tmpfs", MS_NOSUID | MS_NODEV, "mode=1777") != 0)
    return ViewFailure{"mount /dev/shm", errno};
  for (const auto& [target, path] : kDeviceLinks) {
    if (symlink(target, path) != 0) return ViewFailure{"link devices", errno};
  }
  return {};
}

/// Hides directories that would be visible below a system directory.
Failure HideFolders(const std::vector<std::string>& hidden) {
  for (const std::string& path : hidden) {
    if (path.empty() || path == "/" || !IsThere(path)) continue;
    if (mount("tmpfs", path.c_str(), "tmpfs", MS_NOSUID | MS_NODEV, "size=1m,mode=0755") != 0)
      return ViewFailure{"hide a folder", errno};
  }
  return {};
}

}  // namespace

std::optional<ViewFailure> EnterBuildRoot(const BuildRoot& root) {
  Pieces pieces;
  if (Failure failure = TakeSystem(root, pieces)) return failure;
  if (Failure failure = TakeNamed(root, pieces)) return failure;
  std::vector<std::string> hidden;
  for (const std::string& path : root.hidden) hidden.push_back(Real(path));
  umask(022);
  if (Failure failure = SwitchRoot(root)) return failure;
  WriteAccounts(root);
  if (Failure failure = MakeDevices()) return failure;
  if (Failure failure = PlaceAll(pieces.system)) return failure;
  if (Failure failure = HideFolders(hidden)) return failure;
  if (Failure failure = PlaceAll(pieces.named)) return failure;
  for (const auto& [target, path] : pieces.links) {
    if (IsThere(path)) continue;
    MakeMountPoint(FolderOf(path));
    if (symlink(target.c_str(), path.c_str()) != 0) return ViewFailure{"link a folder", errno};
  }
  mount_attr read_only{};
  read_only.attr_set = MOUNT_ATTR_RDONLY;
  if (ChangeMount("/", read_only) != 0) return ViewFailure{"mount_setattr", errno};
  return {};
}

}  // namespace trainyard::replica
