#include "programs/runtimes/inside_tools.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <span>
#include <string_view>

#include "base/async/file.h"
#include "base/crc32c.h"
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

/// A directory that everybody may enter, whatever the umask.
Status MakeOpenFolder(const std::string& path) {
  TY_RETURN_IF_ERROR(MakeFolders(path));
  if (chmod(path.c_str(), kMode) != 0) return std::unexpected(ErrnoError(errno, "chmod " + path));
  return {};
}

std::string FolderName() {
  static const std::string name = "inside-" + std::to_string(Crc32c(GcsfuseBytes(), Crc32c(InitBytes())));
  return name;
}

}  // namespace

bool IsInit(const std::string& program) {
  const std::string name = program.substr(program.rfind('/') + 1);
  return std::ranges::find(kInits, name) != kInits.end();
}

Result<InsideTools> FindInsideTools(const std::string& environments_dir) {
  const std::string site = RealPath(environments_dir) + "/site";
  const std::string folder = site + "/" + FolderName();
  const InsideTools tools{.init = folder + "/init", .storage = folder + "/bin"};
  const std::string last = tools.storage + kTools.back();
  if (access(last.c_str(), F_OK) == 0) return tools;
  for (const std::string& path : {site, folder, tools.storage}) TY_RETURN_IF_ERROR(MakeOpenFolder(path));
  TY_RETURN_IF_ERROR(WriteFileAtomically(tools.init, InitBytes(), kMode));
  TY_RETURN_IF_ERROR(WriteFileAtomically(tools.storage + kTools.front(), GcsfuseBytes(), kMode));
  for (const char* tool : std::span(kTools).subspan(1)) {
    if (symlink("gcsfuse", (tools.storage + tool).c_str()) != 0 && errno != EEXIST)
      return std::unexpected(ErrnoError(errno, "link " + tools.storage + tool));
  }
  return tools;
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
