#include "programs/environment/build_room.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <cerrno>
#include <system_error>

#include "base/async/file.h"
#include "base/async/remove_tree.h"
#include "programs/environment/build_content.h"

namespace trainyard::environment {

namespace {

namespace fs = std::filesystem;

/// Hands over a whole directory, unless it already belongs to the owner.
Status HandOverFolder(const fs::path& folder, const ToolIsolation::Owner& owner) {
  struct stat status{};
  if (::lstat(folder.c_str(), &status) != 0)
    return std::unexpected(ErrnoError(errno, "stat " + folder.string()));
  if (status.st_uid == owner.uid && status.st_gid == owner.gid) return {};
  return GiveTo(folder, owner.uid, owner.gid);
}

}  // namespace

Result<std::unique_ptr<BuildRoom>> BuildRoom::Open(Options options) {
  std::unique_ptr<BuildRoom> room(new BuildRoom(std::move(options)));
  TY_RETURN_IF_ERROR(RemoveTree(room->Beside()));  // left by a killed build
  TY_RETURN_IF_ERROR(MakeFolders(room->Incoming()));
  if (room->options_.cache == ToolCache::kRuntimes) {
    const fs::path cache = room->options_.layout.Cache();
    TY_TRY(room->cache_use_, OpenFile(Layout::UseLock(cache), O_RDWR | O_CREAT));
    if (::flock(room->cache_use_.get(), LOCK_SH) != 0)
      return std::unexpected(ErrnoError(errno, "lock " + cache.string()));
    TY_RETURN_IF_ERROR(MakeFolders(cache));
  }
  return room;
}

BuildRoom::~BuildRoom() {
  static_cast<void>(RemoveTree(Beside()));
  if (cache_use_.get() >= 0) ::futimens(cache_use_.get(), nullptr);  // what this build added is to be counted
}

fs::path BuildRoom::Incoming() const { return Beside() / "in"; }

Status BuildRoom::HandOver() const {
  const ToolIsolation* isolation = options_.hooks.isolation;
  const auto owner = isolation != nullptr ? isolation->owner() : std::nullopt;
  if (!owner) return {};
  TY_RETURN_IF_ERROR(HandOverFolder(options_.folder, *owner));
  TY_RETURN_IF_ERROR(GiveTo(Beside() / "tmp", owner->uid, owner->gid));
  TY_RETURN_IF_ERROR(
      GiveTo(Incoming(), owner->uid, owner->gid));  // so that it can be read, whatever our umask is
  if (options_.cache == ToolCache::kRuntimes) return HandOverFolder(options_.layout.Cache(), *owner);
  return {};
}

Result<ToolEnd> BuildRoom::Run(std::vector<std::string> argv, const LineSink& out, const LineSink& err) {
  // They are recreated for each tool: links that the previous tool left there could lead elsewhere.
  for (const char* name : {"tmp", "root"}) {
    TY_RETURN_IF_ERROR(RemoveTree(Beside() / name));
    TY_RETURN_IF_ERROR(MakeFolders(Beside() / name));
  }
  const fs::path tmp = Beside() / "tmp";
  TY_RETURN_IF_ERROR(MakeFolders(tmp / "home"));
  TY_RETURN_IF_ERROR(HandOver());
  ToolCommand command{.argv = std::move(argv),
                      .variables = ToolVariables(options_.layout, options_.cache),
                      .inherited = options_.lock,
                      .has_all_variables = true,
                      .isolation = options_.hooks.isolation,
                      .view = {.read_only = options_.read_only,
                               .writable = {options_.folder.string()},
                               .hidden = {options_.layout.root.string()},
                               .tmp = tmp.string(),
                               .root = (Beside() / "root").string()}};
  command.view.read_only.push_back(command.argv.front());
  for (const fs::path& folder : {options_.layout.Pythons(), options_.layout.Tools() / "uv", Incoming()})
    command.view.read_only.push_back(folder.string());
  for (std::string& file : FilesNamedIn(command.variables)) command.view.read_only.push_back(std::move(file));
  if (options_.cache == ToolCache::kRuntimes)
    command.view.writable.push_back(options_.layout.Cache().string());
  if (command.isolation == nullptr) {
    command.variables["HOME"] = (tmp / "home").string();
    command.variables["TMPDIR"] = tmp.string();
  }
  return RunTool(command, out, err, options_.hooks.stop);
}

Status BuildRoom::TakeBack() {
  ContentRules rules{.link_targets = {"/usr", "/bin", "/lib", "/lib64", "/opt"}};
  rules.link_targets.insert(rules.link_targets.end(), options_.read_only.begin(), options_.read_only.end());
  rules.link_targets.push_back(options_.layout.Pythons().string());
  TY_TRY(const auto lines, CleanContent(options_.folder, rules));
  for (const std::string& line : lines) options_.hooks.error(line);
  return {};
}

std::vector<std::string> PythonFiles(const fs::path& program) {
  std::error_code error;
  const fs::path real = fs::canonical(program, error);
  std::vector<std::string> files{program.string()};
  // PREFIX/bin/python3: its library is below PREFIX.
  if (!error && real.parent_path().filename() == "bin" && real.parent_path().parent_path() != "/")
    files.push_back(real.parent_path().parent_path().string());
  return files;
}

}  // namespace trainyard::environment
