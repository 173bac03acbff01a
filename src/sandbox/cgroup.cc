#include "sandbox/cgroup.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <ctime>
#include <string_view>
#include <utility>

#include "async/file.h"
#include "sandbox/cgroup_place.h"
#include "sandbox/proc_figures.h"

namespace trainyard::replica {

namespace {

/// The kernel takes a moment between a process's end and its cgroup being empty.
constexpr int kRemoveAttemptsMax = 50;
constexpr int kCpuPeriodUs = 100'000;
constexpr std::int64_t kCpuQuotaUsMin = 1'000;  // the kernel's

Status Set(const std::string& path, const std::string& value) {
  TY_TRY(const UniqueFd file, OpenFile(path, O_WRONLY));
  return WriteAll(file.get(), value);
}

Status LimitMemory(int version, const std::string& path, std::int64_t bytes) {
  const std::string value = std::to_string(bytes);
  if (version == 1) {
    TY_RETURN_IF_ERROR(Set(path + "/memory.limit_in_bytes", value));
    const Status swap = Set(path + "/memory.memsw.limit_in_bytes", value);
    return !swap && swap.error().code == Code::kNotFound ? Status() : swap;  // kernels that do not count swap
  }
  TY_RETURN_IF_ERROR(Set(path + "/memory.max", value));
  const Status swap = Set(path + "/memory.swap.max", "0");
  return !swap && swap.error().code == Code::kNotFound ? Status() : swap;
}

Status LimitCpus(int version, const std::string& path, double cpus) {
  const std::string period = std::to_string(kCpuPeriodUs);
  const std::string quota =
      std::to_string(std::max<std::int64_t>(kCpuQuotaUsMin, std::llround(cpus * kCpuPeriodUs)));
  if (version == 2) return Set(path + "/cpu.max", quota + " " + period);
  TY_RETURN_IF_ERROR(Set(path + "/cpu.cfs_period_us", period));
  return Set(path + "/cpu.cfs_quota_us", quota);
}

/// Where a controller's groups of this process are; it is switched on for groups below.
Result<CgroupPlace> PlaceOf(std::string_view membership, std::string_view mounts, const char* controller) {
  const CgroupPlace place = FindCgroup(membership, mounts, controller);
  if (place.path.empty()) return std::unexpected(FailedPrecondition("no cgroup file system is mounted"));
  // Refused where processes live beside the new group; then there is no controlling it.
  if (place.version == 2)
    TY_RETURN_IF_ERROR(Set(place.path + "/cgroup.subtree_control", std::string("+") + controller));
  return place;
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

void RemoveGroup(const std::string& path) noexcept {
  for (int attempt = 0; attempt < kRemoveAttemptsMax; ++attempt) {
    if (rmdir(path.c_str()) == 0 || errno != EBUSY) return;
    const timespec pause{.tv_sec = 0, .tv_nsec = 2'000'000};
    nanosleep(&pause, nullptr);
  }
}

}  // namespace

Result<Cgroup> Cgroup::Create(const std::string& name, const CgroupLimits& limits,
                              std::vector<std::string>& unlimited) {
  TY_TRY(const std::string membership, ReadFile("/proc/self/cgroup"));
  TY_TRY(const std::string mounts, ReadFile("/proc/self/mountinfo"));
  TY_TRY(const CgroupPlace memory, PlaceOf(membership, mounts, "memory"));
  Cgroup cgroup;
  cgroup.path_ = memory.path + "/" + name;
  cgroup.version_ = memory.version;
  cgroup.counts_all_ = limits.any();
  TY_RETURN_IF_ERROR(cgroup.AddGroup(cgroup.path_));
  if (limits.memory_bytes > 0)
    TY_RETURN_IF_ERROR(LimitMemory(memory.version, cgroup.path_, limits.memory_bytes));
  const auto limit = [&](const char* controller, const char* what, auto set) {
    const auto place = PlaceOf(membership, mounts, controller);
    const std::string path = place ? place->path + "/" + name : "";
    Status limited = place ? cgroup.AddGroup(path) : Status(std::unexpected(place.error()));
    if (limited) limited = set(place->version, path);
    if (!limited) {
      unlimited.push_back(std::string("This machine does not limit the replica's ") + what + " (" +
                          limited.error().message + ").");
    }
  };
  if (limits.cpus > 0) {
    limit("cpu", "CPUs",
          [&](int version, const std::string& path) { return LimitCpus(version, path, limits.cpus); });
  }
  if (limits.pids > 0) {
    limit("pids", "number of processes",
          [&](int, const std::string& path) { return Set(path + "/pids.max", std::to_string(limits.pids)); });
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

Cgroup::Cgroup(Cgroup&& other) noexcept
    : path_(std::exchange(other.path_, {})),
      version_(other.version_),
      counts_all_(other.counts_all_),
      groups_(std::exchange(other.groups_, {})) {}

Cgroup& Cgroup::operator=(Cgroup&& other) noexcept {
  if (this == &other) return *this;
  Remove();
  path_ = std::exchange(other.path_, {});
  version_ = other.version_;
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
  if (path_.empty()) return 0;
  const auto text = ReadFile(path_ + (version_ == 1 ? "/memory.oom_control" : "/memory.events"));
  if (!text) return 0;
  return FindFigure(*text, "oom_kill");
}

std::int64_t Cgroup::ProcessesRefused() const {
  for (const Group& group : groups_) {
    const auto text = ReadFile(group.path + "/pids.events");  // of one group, with either version
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
  if (path_.empty()) return 0;
  const auto peak = ReadFile(path_ + (version_ == 1 ? "/memory.max_usage_in_bytes" : "/memory.peak"));
  return peak ? ParseFigure(*peak) : 0;
}

void Cgroup::Remove() noexcept {
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
