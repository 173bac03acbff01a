#include "programs/runtimes/oci_container.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <linux/openat2.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <boost/json.hpp>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <iterator>
#include <optional>
#include <sstream>

#include "base/ascii.h"
#include "base/async/file.h"
#include "base/async/remove_tree.h"
#include "base/wire/json_members.h"
#include "programs/runtimes/inside_tools.h"
#include "programs/sandbox/namespaces/disk_image.h"
#include "programs/sandbox/namespaces/id_map.h"
#include "rules/container/program.h"

namespace trainyard::replica {

namespace {

namespace fs = std::filesystem;

/// The most bytes that are read of an image's file.
constexpr std::size_t kImageFileMax = std::size_t{1} << 20;
constexpr std::size_t kRuntimeLogMax = std::size_t{1} << 20;
constexpr const char* kContainerId = "replica";
constexpr const char* kRuntimePath = "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
constexpr const char* kUnifiedCgroup = "/sys/fs/cgroup/unified";

/// Names in the container's directory.
struct Folder {
  std::string path;
  [[nodiscard]] std::string Layers() const { return path + "/layers"; }
  [[nodiscard]] std::string Root() const { return path + "/root"; }
  /// A directory in memory: the files that the runtime reads and keeps contain the program's variables,
  /// including secrets.
  [[nodiscard]] std::string Memory() const { return path + "/memory"; }
  [[nodiscard]] std::string State() const { return Memory() + "/state"; }
  [[nodiscard]] std::string Spec() const { return Memory() + "/config.json"; }
  [[nodiscard]] std::string Log() const { return path + "/runtime.log"; }
  /// Says why the kernel will not run the program; if it does not exist, nothing is known to be wrong.
  [[nodiscard]] std::string Refusal() const { return path + "/refusal"; }
  /// Names a program that the image does not have, or that nobody may run.
  [[nodiscard]] std::string Absence() const { return path + "/absence"; }
  [[nodiscard]] std::string DiskImage() const { return path + "/disk.img"; }
  /// The place of the writable layer: the directory itself, or the disk that is mounted in it.
  [[nodiscard]] std::string Disk() const { return path + "/disk"; }
};

/// Makes links with numbers as names to the layers: overlayfs limits its options to one page, however many
/// layers there are.
Status LinkLayers(const Folder& folder, const image::Image& image) {
  TY_RETURN_IF_ERROR(RemoveTree(folder.Layers()));
  TY_RETURN_IF_ERROR(MakeFolders(folder.Layers()));
  for (std::size_t i = 0; i < image.layers.size(); ++i) {
    const std::string link = folder.Layers() + "/" + std::to_string(i);
    if (symlink(image.layers[i].c_str(), link.c_str()) != 0)
      return std::unexpected(ErrnoError(errno, "link " + link));
  }
  return {};
}

/// The options of the overlay, for a process in the directory of the links. The highest layer comes first.
std::string OverlayOptions(std::size_t layers, bool in_user_namespace) {
  std::string options = "lowerdir=";
  for (std::size_t i = layers; i > 0; --i)
    options.append(i == layers ? "" : ":").append(std::to_string(i - 1));
  options += ",upperdir=../disk/upper,workdir=../disk/work";
  return in_user_namespace ? options + ",userxattr" : options;
}

/// crun rejects machines with both versions of cgroups, although it is configured to use none.
std::optional<ViewFailure> HideUnifiedCgroup() {
  struct statfs found{};
  if (statfs(kUnifiedCgroup, &found) != 0 || found.f_type != CGROUP2_SUPER_MAGIC) return std::nullopt;
  if (mount("tmpfs", kUnifiedCgroup, "tmpfs", MS_RDONLY, "size=4k") != 0)
    return ViewFailure{"hide the second cgroup tree", errno};
  return std::nullopt;
}

/// Opens a file below a directory as if the directory were the root; -1: there is none.
UniqueFd OpenInRoot(const std::string& root, const std::string& path, int flags) {
  const UniqueFd folder(open(root.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!folder) return {};
  open_how how{};
  how.flags = static_cast<__u64>(flags | O_CLOEXEC);
  how.resolve = RESOLVE_IN_ROOT;
  return UniqueFd(static_cast<int>(syscall(SYS_openat2, folder.get(), path.c_str(), &how, sizeof(how))));
}

std::string ReadBeginning(int file) {
  std::string bytes(container::kBeginningBytes, '\0');
  const ssize_t size = read(file, bytes.data(), bytes.size());
  bytes.resize(size > 0 ? static_cast<std::size_t>(size) : 0);
  return bytes;
}

/// The paths at which the program is searched, in that order. Empty if a bind may provide it.
std::vector<std::string> ProgramPaths(const container::Spec& spec) {
  const std::size_t program = !spec.args.empty() && spec.args.front() == kContainerInit ? 1 : 0;
  if (spec.args.size() <= program) return {};
  const std::string& name = spec.args[program];
  if (std::ranges::any_of(spec.binds, [&name](const container::Bind& bind) {
        return name == bind.destination || name.starts_with(bind.destination + "/");
      }))
    return {};
  if (name.starts_with('/')) return {name};
  if (name.find('/') != std::string::npos) return {spec.working_dir + "/" + name};
  std::vector<std::string> paths;
  for (const std::string& variable : spec.environment) {
    if (!variable.starts_with("PATH=")) continue;
    std::istringstream folders(variable.substr(5));
    for (std::string folder; std::getline(folders, folder, ':');) paths.push_back(folder + "/" + name);
  }
  return paths;
}

/// Whether /proc/sys/fs/binfmt_misc has registered formats in addition to "register" and "status".
bool KernelKnowsFurtherPrograms() {
  std::error_code error;
  const fs::directory_iterator entries("/proc/sys/fs/binfmt_misc", error);
  return !error && std::distance(fs::begin(entries), fs::end(entries)) > 2;
}

void WriteNote(const std::string& path, const std::string& text) {
  const auto note = OpenFile(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
  if (note) static_cast<void>(WriteAll(note->get(), text));
}

/// Records what is wrong with the program's file if the kernel will reject it, since later the process that
/// finds out cannot report it. `root`: the mounted image.
void NoteProgram(const Folder& folder, const std::vector<std::string>& paths) {
  const auto has_file = [&folder](const std::string& path) {
    return static_cast<bool>(OpenInRoot(folder.Root(), path, O_PATH));
  };
  std::string absence;
  for (const std::string& path : paths) {
    const UniqueFd file = OpenInRoot(folder.Root(), path, O_PATH);
    struct stat found{};
    if (!file || fstat(file.get(), &found) != 0) continue;
    if (S_ISDIR(found.st_mode)) absence = path + ": it is a folder";
    if (!S_ISREG(found.st_mode)) continue;
    if ((found.st_mode & 0111) == 0) {
      absence = path + ": it is not executable";
      continue;
    }
    const UniqueFd content = OpenInRoot(folder.Root(), path, O_RDONLY | O_NONBLOCK);
    const std::string why = content ? container::WhyNotRunnable(ReadBeginning(content.get()), has_file) : "";
    if (!why.empty()) WriteNote(folder.Refusal(), path + ": " + why);
    return;
  }
  if (absence.empty() && !paths.empty()) absence = paths.front() + ": the image has no such file";
  if (!absence.empty()) WriteNote(folder.Absence(), absence);
}

std::optional<ViewFailure> MountImage(const Folder& folder, std::size_t layers, bool in_user_namespace,
                                      bool has_disk) {
  if (auto failure = HideUnifiedCgroup()) return failure;
  if (has_disk) {
    if (auto failure = MountDiskImage(folder.DiskImage(), folder.Disk())) return failure;
  }
  for (const char* name : {"/upper", "/work"}) {
    if (mkdir((folder.Disk() + name).c_str(), 0755) != 0 && errno != EEXIST)
      return ViewFailure{"make the writable layer", errno};
  }
  if (chdir(folder.Layers().c_str()) != 0) return ViewFailure{"enter the layers", errno};
  const std::string options = OverlayOptions(layers, in_user_namespace);
  if (mount("overlay", folder.Root().c_str(), "overlay", MS_NODEV, options.c_str()) != 0)
    return ViewFailure{"mount the image's layers (overlay)", errno};
  const std::string tmp = folder.Root() + "/tmp";
  if (mkdir(tmp.c_str(), 0700) == 0 && chmod(tmp.c_str(), 01777) != 0)
    return ViewFailure{"make the container's /tmp", errno};
  return std::nullopt;
}

/// Writes the spec into memory: it is never on a disk, and disappears with the sandbox.
std::optional<ViewFailure> WriteSpec(const Folder& folder, const std::string& spec) {
  if (mount("tmpfs", folder.Memory().c_str(), "tmpfs", MS_NODEV | MS_NOSUID, "mode=0700") != 0)
    return ViewFailure{"make room for the runtime's files", errno};
  if (mkdir(folder.State().c_str(), 0700) != 0) return ViewFailure{"make the runtime's folder", errno};
  const UniqueFd file(open(folder.Spec().c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  if (!file || !WriteAll(file.get(), spec)) return ViewFailure{"write the runtime's file", errno};
  return std::nullopt;
}

bool IsCrun(const std::string& runtime) { return fs::path(runtime).filename().string().starts_with("crun"); }

std::vector<std::string> RuntimeCommand(const std::string& runtime, const Folder& folder) {
  // The runtime is already in the replica's cgroup, and /sys is not writable for it: crun is told to make no
  // cgroup, runc to continue without.
  return {runtime,         "--root",
          folder.State(),  "--log",
          folder.Log(),    "--log-format",
          "json",          IsCrun(runtime) ? "--cgroup-manager=disabled" : "--rootless=true",
          "run",           "--bundle",
          folder.Memory(), kContainerId};
}

/// A file or directory of the merged image: its paths in the layers, the highest first. Only a directory can
/// be in more than one layer. No parent directory of these paths is a link, whatever the image contains.
struct MergedFile {
  std::vector<std::string> places;
  mode_t mode = S_IFDIR;
};

/// Whether the directory hides directories of the same name in lower layers.
bool IsOpaque(const std::string& folder) {
  char value = 0;
  for (const char* name : {"trusted.overlay.opaque", "user.overlay.opaque"}) {
    if (lgetxattr(folder.c_str(), name, &value, 1) == 1 && value == 'y') return true;
  }
  return false;
}

/// Looks a name up as overlayfs does; empty: it does not exist, or a higher layer has deleted it.
std::optional<MergedFile> LookUp(const MergedFile& folder, const std::string& name) {
  MergedFile found;
  for (const std::string& place : folder.places) {
    const std::string path = place + "/" + name;
    struct stat status{};
    if (lstat(path.c_str(), &status) != 0) continue;
    const bool is_highest = found.places.empty();
    if (is_highest && S_ISCHR(status.st_mode) && status.st_rdev == 0) return std::nullopt;  // a whiteout
    if (is_highest) found.mode = status.st_mode;
    if (is_highest || S_ISDIR(status.st_mode)) found.places.push_back(path);
    if (!S_ISDIR(status.st_mode) || IsOpaque(path)) break;
  }
  return found.places.empty() ? std::nullopt : std::optional(std::move(found));
}

/// Pushes the names of the path on the stack, with the first on top.
void PushNames(std::vector<std::string>& names, const std::string& path) {
  std::istringstream parts(path);
  const auto begin = static_cast<std::ptrdiff_t>(names.size());
  for (std::string name; std::getline(parts, name, '/');) {
    if (!name.empty() && name != ".") names.push_back(std::move(name));
  }
  std::reverse(names.begin() + begin, names.end());
}

/// The file that a process in the image would find, links followed: its parents and the targets of links may
/// each be in other layers than the file.
std::optional<MergedFile> FindImageFile(const image::Image& image, const std::string& path) {
  constexpr int kLinksMax = 40;  // the kernel's own
  std::vector<MergedFile> folders = {{.places = {image.layers.rbegin(), image.layers.rend()}}};
  std::vector<std::string> names;
  PushNames(names, path);
  for (int links = 0; !names.empty();) {
    const std::string name = std::move(names.back());
    names.pop_back();
    if (name == "..") {
      if (folders.size() > 1) folders.pop_back();
      continue;
    }
    std::optional<MergedFile> found = LookUp(folders.back(), name);
    if (!found) return std::nullopt;
    if (S_ISLNK(found->mode)) {
      std::error_code error;
      const std::string target = fs::read_symlink(found->places.front(), error).string();
      if (error || ++links > kLinksMax) return std::nullopt;
      if (target.starts_with('/')) folders.resize(1);
      PushNames(names, target);
    } else if (S_ISDIR(found->mode)) {
      folders.push_back(*std::move(found));
    } else {
      return names.empty() ? std::move(found) : std::nullopt;
    }
  }
  return folders.back();
}

struct Phrase {
  std::string_view runtime;  ///< lower case, in the messages of crun or runc
  std::string_view ours;
};

/// Advice for the runtimes' messages about programs that cannot be started.
constexpr std::array kPhrases = {
    Phrase{"exec format error", "it is for another processor, or a script without a #! line"},
    Phrase{"permission denied", "it is not executable"}, Phrase{"not found", "the image has no such file"},
    Phrase{"no such file", "the image lacks the file, or the interpreter or loader that it needs"},
    Phrase{"is a directory", "it is a folder"}};

/// The first error of the runtime's log.
std::string FirstError(const std::string& log) {
  for (std::size_t begin = 0; begin < log.size();) {
    const std::size_t end = std::min(log.find('\n', begin), log.size());
    const auto line = wire::ParseJsonObject(std::string_view(log).substr(begin, end - begin));
    begin = end + 1;
    if (!line || wire::TextIn(*line, "level") != "error") continue;
    if (const boost::json::value* message = line->if_contains("msg");
        message != nullptr && message->is_string())
      return std::string(message->get_string());
  }
  return {};
}

/// The recorded problem of the program, if the exit code shows that it could not be run: a runtime that runs
/// the program itself exits with 1, our process 1 with a shell's status (container_init.cc).
std::string WhyProgramFailed(const Folder& folder, int exit_code) {
  constexpr int kRuntimeStatus = 1;
  constexpr int kNotRunnable = 126;
  constexpr int kNotFound = 127;
  if (exit_code != kRuntimeStatus && exit_code != kNotRunnable && exit_code != kNotFound) return {};
  constexpr const char* kSentence = "the container's program cannot be run: ";
  if (const auto absence = ReadFile(folder.Absence()); absence && exit_code != kRuntimeStatus)
    return kSentence + *absence;
  if (KernelKnowsFurtherPrograms()) return {};
  const auto refusal = ReadFile(folder.Refusal());
  return refusal ? kSentence + *refusal : std::string();
}

}  // namespace

std::string WritableLayer(const std::string& folder) { return Folder{folder}.Disk() + "/upper"; }

Result<SandboxPlan> PlanContainer(OciContainer container, Isolation isolation) {
  const Folder folder{std::move(container.folder)};
  if (container.image.layers.empty()) return std::unexpected(FailedPrecondition("the image has no layers"));
  const bool in_user_namespace = isolation != Isolation::kNamespaces;
  if (in_user_namespace && container.spec.user.uid != 0 && !HasFurtherIds()) {
    return std::unexpected(FailedPrecondition(
        "the image runs as user " + std::to_string(container.spec.user.uid) +
        ", and this server's user has no ids to map it to: add lines for it to /etc/subuid and /etc/subgid, "
        "and install newuidmap"));
  }
  for (const std::string& path : {folder.path, folder.Root(), folder.Disk(), folder.Memory()})
    TY_RETURN_IF_ERROR(MakeFolders(path));
  TY_RETURN_IF_ERROR(LinkLayers(folder, container.image));
  const bool has_disk = container.disk_bytes > 0 && !in_user_namespace && CanMountDiskImages();
  if (has_disk) TY_RETURN_IF_ERROR(MakeDiskImage(folder.DiskImage(), container.disk_bytes));
  container.spec.root = folder.Root();
  container.spec.in_user_namespace = in_user_namespace;
  return SandboxPlan{.argv = RuntimeCommand(container.runtime, folder),
                     .environment = {kRuntimePath},
                     .directory = folder.path,
                     .view = {.read_only = {"/sys"}},
                     .mounts =
                         [folder, layers = container.image.layers.size(), in_user_namespace, has_disk,
                          paths = ProgramPaths(container.spec), spec = container::PrintSpec(container.spec)] {
                           auto failure = WriteSpec(folder, spec);
                           if (!failure) failure = MountImage(folder, layers, in_user_namespace, has_disk);
                           if (!failure) NoteProgram(folder, paths);
                           return failure;
                         },
                     .root_inside = true,
                     .keeps_rights = true};
}

std::string ContainerFailure(const std::string& folder, int exit_code) {
  const auto log = ReadFile(Folder{folder}.Log(), kRuntimeLogMax);
  const std::string error = log ? FirstError(*log) : std::string();
  if (error.empty()) {
    return WhyProgramFailed(Folder{folder}, exit_code);
  }
  const std::string text = ToLower(error);
  if (text.find("exec") == std::string::npos) return "the container could not be made: " + error;
  for (const Phrase& phrase : kPhrases) {
    if (text.find(phrase.runtime) != std::string::npos)
      return "the container's program cannot be run: " + std::string(phrase.ours) + " (" + error + ")";
  }
  return "the container's program cannot be run: " + error;
}

std::string ReadImageFile(const image::Image& image, const std::string& path) {
  const std::optional<MergedFile> file = FindImageFile(image, path);
  if (!file || !S_ISREG(file->mode)) return {};
  return ReadFile(file->places.front(), kImageFileMax).value_or("");
}

bool ImageHas(const image::Image& image, const std::string& path) {
  return FindImageFile(image, path).has_value();
}

void RemoveContainerFolder(const std::string& folder) {
  std::error_code error;
  if (!fs::exists(folder, error)) return;
  const auto remove = [&folder]() -> int { return RemoveTree(folder) ? 0 : 1; };
  if (remove() == 0) return;
  SandboxPlan plan{.function = remove, .isolation = Isolation::kUserNamespaces, .root_inside = true};
  auto sandbox = Sandbox::Start(plan);
  if (sandbox) static_cast<void>(sandbox->Reap());
}

}  // namespace trainyard::replica
