#include "stores/store/data_directory.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <boost/json.hpp>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <string_view>
#include <vector>

#include "base/async/diagnostics.h"
#include "base/async/file.h"
#include "base/async/random_bytes.h"
#include "base/number.h"
#include "base/wire/json_members.h"

namespace trainyard::store {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kSmallFileBytesMax = 64 * 1024;
constexpr std::size_t kCommandBytesMax = 64;
constexpr mode_t kPermissions = 07777;
constexpr mode_t kOthers = 077;
constexpr mode_t kOwnersFolder = 0700;
constexpr mode_t kOwnersFile = 0600;
/// Files that replicas read as any user: other accounts are kept out by the data directory's own mode.
constexpr mode_t kReplicasFolder = 0755;

struct Folder {
  const char* name;
  mode_t mode;
};
constexpr std::array<Folder, 10> kFolders = {{{"run", kOwnersFolder},
                                              {"buckets", kReplicasFolder},
                                              {"uploads", kOwnersFolder},
                                              {"attempts", kOwnersFolder},
                                              {"environments", kReplicasFolder},
                                              {"tls", kOwnersFolder},
                                              {"front", kReplicasFolder},
                                              {"images", kOwnersFolder},
                                              {"registries", kOwnersFolder},
                                              {"environments/runtimes.d", kReplicasFolder}}};

/// Sets the mode of a file that is ours and returns the previous one. A link is not changed: its target was
/// chosen by whoever made it.
Result<mode_t> SetMode(const std::string& path, mode_t mode, bool follow = false) {
  struct stat there{};
  if ((follow ? ::stat(path.c_str(), &there) : ::lstat(path.c_str(), &there)) != 0)
    return std::unexpected(ErrnoError(errno, "stat " + path));
  const mode_t before = there.st_mode & kPermissions;
  if (before == mode || S_ISLNK(there.st_mode)) return mode;
  if (::chmod(path.c_str(), mode) != 0) return std::unexpected(ErrnoError(errno, "chmod " + path));
  return before;
}

/// Another account's lock on a database would stop the server, and its contents include everybody's logs.
Status NarrowDatabases(const std::string& path) {
  TY_TRY(const std::vector<fs::path> entries, EntriesOf(path));
  for (const fs::path& entry : entries) {
    const std::string name = entry.filename();
    const bool is_database = name.ends_with(".db") || name.ends_with(".db-wal") || name.ends_with(".db-shm");
    if (is_database) TY_RETURN_IF_ERROR(SetMode(entry, kOwnersFile));
  }
  return {};
}

std::string Octal(mode_t mode) {
  std::array<char, 8> text{};
  std::snprintf(text.data(), text.size(), "%04o", static_cast<unsigned>(mode));
  return text.data();
}

/// The directory itself first: from then on no other account can reach what is below.
Status MakeAllFolders(const std::string& path) {
  TY_RETURN_IF_ERROR(MakeFolders(path));
  TY_TRY(const mode_t before, SetMode(path, kOwnersFolder, true));
  if ((before & kOthers) != 0) {
    Diagnose(DiagnosticLevel::kWarning, "the data directory " + path + " was open to other accounts (mode " +
                                            Octal(before) + "); it is its owner's alone now (mode 0700)");
  }
  for (const Folder& folder : kFolders) {
    const std::string name = path + "/" + folder.name;
    TY_RETURN_IF_ERROR(MakeFolders(name));
    std::error_code error;
    const bool behind_link = fs::is_symlink(path + "/environments", error);
    if (behind_link && std::string_view(folder.name).starts_with("environments")) continue;
    TY_RETURN_IF_ERROR(SetMode(name, folder.mode));
  }
  return {};
}

/// What Announce() wrote; empty if that cannot be read.
boost::json::object ReadPresence(const std::string& file) {
  const Result<std::string> text = ReadFile(file, kSmallFileBytesMax);
  return wire::ParseJsonObject(text.value_or("")).value_or(boost::json::object());
}

/// Describes what has the lock: the server named in server.json, if it is one of the processes that have it
/// open.
std::string WhoHasIt(const std::string& path) {
  const std::vector<pid_t> holders = ProcessesWith(path + "/run/lock");
  const boost::json::object server = ReadPresence(path + "/run/server.json");
  const std::string url = wire::TextIn(server, "url");
  const std::int64_t pid = wire::NumberIn(server, "pid");
  if (url.empty() || std::ranges::find(holders, pid) == holders.end()) return DescribeHolders(holders);
  return "process " + std::to_string(pid) + " at " + url;
}

/// Overwrites the file's existing bytes. That is not safe against a kill, but works on a full disk.
Status Overwrite(const std::string& path, const std::string& text) {
  TY_TRY(const UniqueFd file, OpenFile(path, O_WRONLY));
  TY_RETURN_IF_ERROR(WriteAll(file.get(), text));
  if (::ftruncate(file.get(), std::ssize(text)) != 0)
    return std::unexpected(ErrnoError(errno, "truncate " + path));
  return {};
}

bool HasOpen(const fs::path& process, const struct stat& file) {
  return std::ranges::any_of(PathsIn(process / "fd"), [&file](const fs::path& descriptor) {
    struct stat opened{};
    return ::stat(descriptor.c_str(), &opened) == 0 && opened.st_dev == file.st_dev &&
           opened.st_ino == file.st_ino;
  });
}

}  // namespace

Result<DataDirectory> DataDirectory::Open(const std::string& path) {
  if (std::error_code error; fs::exists(path + "/restore-unfinished", error)) {
    return std::unexpected(
        FailedPrecondition("a backup was being restored to " + path +
                           " and is not complete: run trainyard admin restore again, which begins anew"));
  }
  TY_RETURN_IF_ERROR(MakeAllFolders(path));
  std::string lock_path = path + "/run/lock";
  UniqueFd lock(::open(lock_path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  if (!lock) return std::unexpected(ErrnoError(errno, "open " + lock_path));
  TY_TRY(const bool is_ours, TakeLock(lock.get()));
  if (!is_ours) {
    return std::unexpected(FailedPrecondition("another server has the data directory " + path + ": " +
                                              WhoHasIt(path) + ". To use it: eval \"$(trainyard env --data " +
                                              path + ")\"; or give this one another: --data DIR"));
  }
  auto reserve = std::make_unique<DiskReserve>(path + "/run/reserve");
  reserve->MakeRoom(DiskReserve::kStartBytes);
  TY_RETURN_IF_ERROR(NarrowDatabases(path));
  return DataDirectory(path, std::move(lock), std::move(reserve));
}

std::string DataDirectory::environments_dir() const {
  std::error_code error;
  fs::path resolved = fs::canonical(Path("environments"), error);
  return error ? Path("environments") : resolved.string();
}

Result<std::string> DataDirectory::Secret() const {
  std::string path = Path("run/secret");
  Result<std::string> kept = ReadFile(path, kSmallFileBytesMax);
  if (kept && !kept->empty()) return kept;
  const auto bytes = RandomBytes<std::array<char, 32>>();
  std::string secret(bytes.begin(), bytes.end());
  TY_RETURN_IF_ERROR(WriteFileAtomically(path, secret, 0600));
  return secret;
}

Status DataDirectory::Announce(const Presence& presence) const {
  const Presence::Workstation& workstation = presence.workstation;
  boost::json::object json{
      {"url", presence.url},         {"tls_url", presence.tls_url}, {"replica_port", presence.replica_port},
      {"ca_file", presence.ca_file}, {"project", presence.project}, {"pid", presence.pid},
      {"lacking", presence.lacking}, {"auth", presence.auth}};
  boost::json::object bucket_dirs;
  for (const auto& [name, folder] : presence.bucket_dirs) bucket_dirs[name] = folder;
  if (!bucket_dirs.empty()) json["bucket_dirs"] = std::move(bucket_dirs);
  if (!presence.metrics_url.empty()) json["metrics_url"] = presence.metrics_url;
  if (!workstation.address.empty()) {
    json["workstation"] = {{"address", workstation.address},
                           {"tls_port", workstation.tls_port},
                           {"plain_port", workstation.plain_port},
                           {"ca_bundle", workstation.ca_bundle}};
  }
  const std::string text = boost::json::serialize(json) + "\n";
  const Status written = WriteFileAtomically(Path("run/server.json"), text, 0600);
  if (written || written.error().code != Code::kResourceExhausted) return written;
  return Overwrite(Path("run/server.json"), text);
}

DataDirectory::FormerPorts DataDirectory::ReadFormerPorts() const {
  const boost::json::object former = ReadPresence(Path("run/server.json"));
  const auto port_of = [&former](std::string_view name) {
    const std::string url = wire::TextIn(former, name);
    return LeadingNumber<std::uint16_t>(std::string_view(url).substr(url.rfind(':') + 1)).value_or(0);
  };
  const std::int64_t replicas = wire::NumberIn(former, "replica_port");
  return {.plain = port_of("url"),
          .tls = port_of("tls_url"),
          .replicas = std::in_range<std::uint16_t>(replicas) ? static_cast<std::uint16_t>(replicas)
                                                             : std::uint16_t{0}};
}

std::vector<pid_t> ProcessesWith(const std::string& file) {
  std::vector<pid_t> found;
  struct stat status{};
  if (::stat(file.c_str(), &status) != 0) return found;
  for (const fs::path& entry : PathsIn("/proc")) {
    const std::optional<pid_t> pid = WholeNumber<pid_t>(entry.filename().string());
    if (pid && *pid != ::getpid() && HasOpen(entry, status)) found.push_back(*pid);
  }
  return found;
}

std::string DescribeHolders(const std::vector<pid_t>& holders) {
  std::string text;
  for (const pid_t pid : holders) {
    std::string command =
        ReadFile("/proc/" + std::to_string(pid) + "/comm", kCommandBytesMax).value_or("ended just now\n");
    if (command.ends_with('\n')) command.pop_back();
    text += (text.empty() ? "" : " and ") + ("process " + std::to_string(pid) + " (" + command + ")");
  }
  return text.empty() ? "a process of another account" : text;
}

}  // namespace trainyard::store
