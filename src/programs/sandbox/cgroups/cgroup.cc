#include "programs/sandbox/cgroups/cgroup.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <ctime>
#include <filesystem>
#include <string_view>
#include <utility>
#include <vector>

#include "base/async/file.h"
#include "programs/sandbox/cgroups/kill_group.h"
#include "programs/sandbox/cgroups/proc_figures.h"

namespace trainyard::replica {

namespace {

std::vector<std::string_view> Split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (!text.empty()) {
    const std::size_t end = text.find(separator);
    parts.push_back(text.substr(0, end));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  return parts;
}

bool Contains(std::string_view list, std::string_view word) {
  for (const std::string_view part : Split(list, ',')) {
    if (part == word) return true;
  }
  return false;
}

/// mountinfo writes blanks in paths as \040.
std::string Unescape(std::string_view text) {
  std::string plain;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\' && i + 3 < text.size()) {
      plain += static_cast<char>((text[i + 1] - '0') * 64 + (text[i + 2] - '0') * 8 + (text[i + 3] - '0'));
      i += 3;
    } else {
      plain += text[i];
    }
  }
  return plain;
}

struct Mount {
  std::string root;
  std::string point;
};

/// The first mount of the type that has the super option (any, if empty).
bool FindMount(std::string_view mountinfo, std::string_view type, std::string_view option, Mount& mount) {
  for (const std::string_view line : Split(mountinfo, '\n')) {
    const std::size_t dash = line.find(" - ");
    if (dash == std::string_view::npos) continue;
    const auto before = Split(line.substr(0, dash), ' ');
    const auto after = Split(line.substr(dash + 3), ' ');
    if (before.size() < 5 || after.size() < 3 || after[0] != type) continue;
    if (!option.empty() && !Contains(after[2], option)) continue;
    mount = {.root = Unescape(before[3]), .point = Unescape(before[4])};
    return true;
  }
  return false;
}

/// "/a/b" seen through a mount of "/a" at "/sys/fs/cgroup" is "/sys/fs/cgroup/b".
std::string Place(const Mount& mount, std::string_view path) {
  if (mount.root != "/" && path.starts_with(mount.root)) path.remove_prefix(mount.root.size());
  return path == "/" ? mount.point : mount.point + std::string(path);
}

constexpr int kCpuPeriodUs = 100'000;
constexpr std::int64_t kCpuQuotaUsMin = 1'000;  // the kernel's
/// Version 1 says a number of this size where a group has no limit: all pages that could be counted.
constexpr std::int64_t kNoLimit1 = std::int64_t{1} << 60;

Status Set(const std::string& path, const std::string& value) {
  TY_TRY(const UniqueFd file, OpenFile(path, O_WRONLY));
  return WriteAll(file.get(), value);
}

/// Sets a value. If the file does not exist, the machine lacks the controller or the feature.
Status SetIfThere(const std::string& path, const std::string& value) {
  Status set = Set(path, value);
  return !set && set.error().code == Code::kNotFound ? Status() : set;
}

std::string CpuQuota(double cpus) {
  return std::to_string(std::max<std::int64_t>(kCpuQuotaUsMin, std::llround(cpus * kCpuPeriodUs)));
}

Status LimitMemory1(const std::string& path, std::int64_t bytes) {
  const std::string value = std::to_string(bytes);
  TY_RETURN_IF_ERROR(Set(path + "/memory.limit_in_bytes", value));
  return SetIfThere(path + "/memory.memsw.limit_in_bytes", value);  // kernels that do not count swap
}

Status LimitCpus1(const std::string& path, double cpus) {
  TY_RETURN_IF_ERROR(Set(path + "/cpu.cfs_period_us", std::to_string(kCpuPeriodUs)));
  return Set(path + "/cpu.cfs_quota_us", CpuQuota(cpus));
}

std::vector<std::string> Lines(std::string_view text) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    lines.emplace_back(text.substr(0, end));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  return lines;
}

std::optional<std::int64_t> CountOomKills(const CgroupPlace& place) {
  if (place.path.empty()) return std::nullopt;
  const auto text = ReadFile(place.path + (place.version == 1 ? "/memory.oom_control" : "/memory.events"));
  return text ? std::optional(FindFigure(*text, "oom_kill")) : std::nullopt;
}

std::int64_t PeakAt(const CgroupPlace& place) {
  const auto peak =
      ReadFile(place.path + (place.version == 1 ? "/memory.max_usage_in_bytes" : "/memory.peak"));
  return peak ? ParseFigure(*peak) : 0;
}

}  // namespace

CgroupPlace FindCgroup(std::string_view cgroup, std::string_view mountinfo, std::string_view controller) {
  CgroupPlace place;
  for (const std::string_view line : Split(cgroup, '\n')) {
    const std::size_t first = line.find(':');
    const std::size_t second = line.find(':', first + 1);
    if (first == std::string_view::npos || second == std::string_view::npos) continue;
    const std::string_view controllers = line.substr(first + 1, second - first - 1);
    const std::string_view path = line.substr(second + 1);
    Mount mount;
    if (Contains(controllers, controller) && FindMount(mountinfo, "cgroup", controller, mount))
      return {Place(mount, path), 1};
    if (line.starts_with("0::") && FindMount(mountinfo, "cgroup2", "", mount))
      place = {Place(mount, path), 2};
  }
  return place;
}

Result<Cgroup> Cgroup::Create(const CgroupHome& home, const std::string& name, const CgroupLimits& limits) {
  switch (home.version) {
    case 1: return CreateVersion1(name, limits);
    case 2: return CreateVersion2(home.group + "/" + name, limits);
    default: return Cgroup();
  }
}

Result<Cgroup> Cgroup::CreateVersion2(const std::string& path, const CgroupLimits& limits) {
  Cgroup cgroup;
  cgroup.path_ = path;
  cgroup.version_ = 2;
  TY_RETURN_IF_ERROR(cgroup.AddGroup(path));
  TY_TRY(cgroup.directory_, OpenFile(path, O_RDONLY | O_DIRECTORY));
  cgroup.counts_memory_ = access((path + "/memory.events").c_str(), F_OK) == 0;
  cgroup.counts_all_ = cgroup.counts_memory_;
  // If only one process were killed, the replica's others would wait for it.
  TY_RETURN_IF_ERROR(SetIfThere(path + "/memory.oom.group", "1"));
  if (limits.memory_bytes > 0) {
    TY_RETURN_IF_ERROR(SetIfThere(path + "/memory.max", std::to_string(limits.memory_bytes)));
    TY_RETURN_IF_ERROR(SetIfThere(path + "/memory.swap.max", "0"));
  }
  if (limits.cpus > 0) {
    const std::string quota = CpuQuota(limits.cpus) + " " + std::to_string(kCpuPeriodUs);
    TY_RETURN_IF_ERROR(SetIfThere(path + "/cpu.max", quota));
  }
  if (limits.pids > 0) TY_RETURN_IF_ERROR(SetIfThere(path + "/pids.max", std::to_string(limits.pids)));
  return cgroup;
}

Result<Cgroup> Cgroup::CreateVersion1(const std::string& name, const CgroupLimits& limits) {
  TY_TRY(const std::string membership, ReadFile("/proc/self/cgroup"));
  TY_TRY(const std::string mounts, ReadFile("/proc/self/mountinfo"));
  const auto place_of = [&](const char* controller) {
    const CgroupPlace place = FindCgroup(membership, mounts, controller);
    return place.version == 1 ? place.path + "/" + name : std::string();
  };
  Cgroup cgroup;
  cgroup.path_ = place_of("memory");
  cgroup.version_ = 1;
  cgroup.counts_memory_ = true;
  cgroup.counts_all_ = limits.any();
  TY_RETURN_IF_ERROR(cgroup.AddGroup(cgroup.path_));
  if (limits.memory_bytes > 0) TY_RETURN_IF_ERROR(LimitMemory1(cgroup.path_, limits.memory_bytes));
  if (const std::string path = place_of("cpu"); limits.cpus > 0 && !path.empty()) {
    TY_TRY(const bool added, cgroup.AddGroupIfAllowed(path));
    if (added) TY_RETURN_IF_ERROR(LimitCpus1(path, limits.cpus));
  }
  if (const std::string path = place_of("pids"); limits.pids > 0 && !path.empty()) {
    TY_TRY(const bool added, cgroup.AddGroupIfAllowed(path));
    if (added) TY_RETURN_IF_ERROR(Set(path + "/pids.max", std::to_string(limits.pids)));
  }
  return cgroup;
}

Status Cgroup::AddGroup(const std::string& path) {
  for (const Group& group : groups_) {
    if (group.path == path) return {};
  }
  if (mkdir(path.c_str(), 0755) != 0) return std::unexpected(ErrnoError(errno, "mkdir " + path));
  groups_.push_back({.path = path});
  TY_TRY(groups_.back().procs, OpenFile(path + "/cgroup.procs", O_WRONLY));
  return {};
}

/// False: this account may not make a group there, which the server has reported at its start.
Result<bool> Cgroup::AddGroupIfAllowed(const std::string& path) {
  const Status added = AddGroup(path);
  if (!added && added.error().code == Code::kPermissionDenied) return false;
  if (!added) return std::unexpected(added.error());
  return true;
}

Cgroup::Cgroup(Cgroup&& other) noexcept
    : path_(std::exchange(other.path_, {})),
      directory_(std::move(other.directory_)),
      version_(other.version_),
      counts_memory_(other.counts_memory_),
      counts_all_(other.counts_all_),
      groups_(std::exchange(other.groups_, {})) {}

Cgroup& Cgroup::operator=(Cgroup&& other) noexcept {
  if (this == &other) return *this;
  Remove();
  path_ = std::exchange(other.path_, {});
  directory_ = std::move(other.directory_);
  version_ = other.version_;
  counts_memory_ = other.counts_memory_;
  counts_all_ = other.counts_all_;
  groups_ = std::exchange(other.groups_, {});
  return *this;
}

std::string Cgroup::Note() const {
  std::string note;
  for (const Group& group : groups_) note.append(note.empty() ? "" : "\n").append(group.path);
  return note;
}

std::vector<int> Cgroup::ProcsFds() const {
  std::vector<int> fds;
  if (version_ != 1) return fds;
  for (const Group& group : groups_) fds.push_back(group.procs.get());
  return fds;
}

void Cgroup::Join(pid_t pid) const noexcept {
  const std::string text = std::to_string(pid);
  for (const Group& group : groups_) {
    [[maybe_unused]] const ssize_t written = write(group.procs.get(), text.data(), text.size());
  }
}

std::int64_t Cgroup::OomKills() const {
  return CountOomKills({.path = path_, .version = version_}).value_or(0);
}

std::optional<EnclosingMemory> MemoryAt(const CgroupPlace& place) {
  const std::optional<std::int64_t> kills = CountOomKills(place);
  if (!kills) return std::nullopt;
  EnclosingMemory memory{.oom_kills = *kills};
  // The root of version 2 has no such file, and no group is above the place where they are mounted.
  for (std::filesystem::path group = place.path;; group = group.parent_path()) {
    const auto text = ReadFile(group / (place.version == 1 ? "memory.limit_in_bytes" : "memory.max"));
    if (!text) return memory;
    const std::int64_t limit = ParseFigure(*text);  // 0: "max"
    if (limit == 0 || limit >= kNoLimit1 || (memory.limit_bytes != 0 && limit >= memory.limit_bytes))
      continue;
    memory.limit_bytes = limit;
    memory.peak_bytes = PeakAt({.path = group, .version = place.version});
  }
}

std::optional<EnclosingMemory> MemoryAround() {
  const auto membership = ReadFile("/proc/self/cgroup");
  const auto mounts = ReadFile("/proc/self/mountinfo");
  if (!membership || !mounts) return std::nullopt;
  return MemoryAt(FindCgroup(*membership, *mounts));
}

std::int64_t Cgroup::ProcessesRefused() const {
  for (const Group& group : groups_) {
    const auto text = ReadFile(group.path + "/pids.events");  // in one group, with either version
    if (text) return FindFigure(*text, "max");
  }
  return 0;
}

std::vector<pid_t> Cgroup::Processes() const {
  const auto text = path_.empty() ? std::string() : ReadFile(path_ + "/cgroup.procs").value_or("");
  return ParsePids(text);
}

std::int64_t Cgroup::MemoryBytes() const {
  if (path_.empty()) return 0;
  const auto used = ReadFile(path_ + (version_ == 1 ? "/memory.usage_in_bytes" : "/memory.current"));
  const auto details = ReadFile(path_ + "/memory.stat");
  if (!used || !details) return 0;
  return std::max<std::int64_t>(0, ParseFigure(*used) - FindFigure(*details, "inactive_file"));
}

std::int64_t Cgroup::PeakMemoryBytes() const {
  return path_.empty() ? 0 : PeakAt({.path = path_, .version = version_});
}

void Cgroup::Remove() noexcept {
  directory_.Reset();
  for (Group& group : groups_) {
    group.procs.Reset();
    RemoveGroup(group.path);
  }
  groups_.clear();
  path_.clear();
}

void RemoveCgroup(const std::string& note) noexcept {
  for (const std::string& path : Lines(note)) RemoveGroup(path);
}

}  // namespace trainyard::replica
