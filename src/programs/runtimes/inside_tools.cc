#include "programs/runtimes/inside_tools.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <span>
#include <string_view>

#include "base/async/file.h"
#include "base/async/unique_fd.h"
#include "programs/runtimes/inside_files.h"

namespace trainyard::replica {

namespace {

constexpr std::array<std::string_view, 8> kInits = {"tini",      "tini-static", "dumb-init", "docker-init",
                                                    "catatonit", "init",        "my_init",   "s6-svscan"};
constexpr std::array<const char*, 4> kTools = {"/gcsfuse", "/fusermount", "/fusermount3", "/umount"};
constexpr const char* kAddedPlace = "/usr/local/bin";
constexpr mode_t kMode = 0755;

// As CMakeLists.txt lists them.
std::string_view InitBytes() { return inside::Files()[0].bytes; }
std::string_view GcsfuseBytes() { return inside::Files()[1].bytes; }

/// Writes a file that everybody may read and run, whatever the umask. It is not needed after a crash, so
/// there is no fsync.
Result<std::string> Write(const AttemptDir& dir, const std::string& name, std::string_view bytes) {
  TY_RETURN_IF_ERROR(MakeFolders(dir.Tools()));
  const std::string path = dir.Tools() + name;
  TY_TRY(const UniqueFd file, OpenFile(path, O_WRONLY | O_CREAT | O_TRUNC, kMode));
  TY_RETURN_IF_ERROR(WriteAll(file.get(), bytes));
  if (fchmod(file.get(), kMode) != 0 || chmod(dir.Tools().c_str(), kMode) != 0)
    return std::unexpected(ErrnoError(errno, "chmod " + path));
  return path;
}

}  // namespace

bool IsInit(const std::string& program) {
  const std::string name = program.substr(program.rfind('/') + 1);
  return std::ranges::find(kInits, name) != kInits.end();
}

Result<std::string> WriteContainerInit(const AttemptDir& dir) { return Write(dir, "/init", InitBytes()); }

Status WriteStorageTools(const AttemptDir& dir) {
  TY_TRY(const std::string gcsfuse, Write(dir, kTools.front(), GcsfuseBytes()));
  for (const char* tool : std::span(kTools).subspan(1)) {
    if (symlink("gcsfuse", (dir.Tools() + tool).c_str()) != 0 && errno != EEXIST)
      return std::unexpected(ErrnoError(errno, "link " + gcsfuse));
  }
  return {};
}

std::vector<FileView::Bind> StorageToolBinds(const std::string& tools, bool add,
                                             const std::function<bool(const std::string& path)>& has_file) {
  const std::string script = tools + kTools.front();  // the script checks the name by which it was called
  std::vector<FileView::Bind> binds;
  for (const std::string tool : kTools) {
    if (add) binds.push_back({.from = script, .to = kAddedPlace + tool, .read_only = true});
    if (tool == "/umount") continue;  // our umount calls the original one for other mounts
    for (const char* place : {kAddedPlace, "/usr/bin", "/bin"}) {
      if ((!add || place != kAddedPlace) && has_file(place + tool))
        binds.push_back({.from = script, .to = place + tool, .read_only = true});
    }
  }
  return binds;
}

}  // namespace trainyard::replica
