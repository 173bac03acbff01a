#include "replica/cgroup.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <ctime>
#include <utility>

#include "async/file.h"
#include "replica/cgroup_place.h"
#include "replica/proc_figures.h"

namespace trainyard::replica {

namespace {

/// The kernel takes a moment between a process's end and its cgroup being empty.
constexpr int kRemoveAttemptsMax = 50;

Status Set(const std::string& path, const std::string& value) {
  TY_TRY(const UniqueFd file, OpenFile(path, O_WRONLY));
  return WriteAll(file.get(), value);
}

Status LimitMemory(const CgroupPlace& place, const std::string& path, std::int64_t bytes) {
  const std::string value = std::to_string(bytes);
  if (place.version == 1) {
    TY_RETURN_IF_ERROR(Set(path + "/memory.limit_in_bytes", value));
    const Status swap = Set(path + "/memory.memsw.limit_in_bytes", value);
    return !swap && swap.error().code == Code::kNotFound ? Status() : swap;  // kernels that do not count swap
  }
  TY_RETURN_IF_ERROR(Set(path + "/memory.max", value));
  const Status swap = Set(path + "/memory.swap.max", "0");
  return !swap && swap.error().code == Code::kNotFound ? Status() : swap;
}

}  // namespace

Result<Cgroup> Cgroup::Create(const std::string& name, std::int64_t memory_bytes) {
  TY_TRY(const std::string membership, ReadFile("/proc/self/cgroup"));
  TY_TRY(const std::string mounts, ReadFile("/proc/self/mountinfo"));
  const CgroupPlace place = FindCgroup(membership, mounts);
  if (place.path.empty()) return std::unexpected(FailedPrecondition("no cgroup file system is mounted"));
  if (place.version ==
      2) {  // refused where processes live beside the new group; then memory cannot be counted
    TY_RETURN_IF_ERROR(Set(place.path + "/cgroup.subtree_control", "+memory"));
  }
  Cgroup cgroup;
  const std::string path = place.path + "/" + name;
  if (mkdir(path.c_str(), 0755) != 0) return std::unexpected(ErrnoError(errno, "mkdir " + path));
  cgroup.path_ = path;
  cgroup.version_ = place.version;
  cgroup.counts_all_ = memory_bytes > 0;
  if (memory_bytes > 0) TY_RETURN_IF_ERROR(LimitMemory(place, path, memory_bytes));
  TY_TRY(cgroup.procs_, OpenFile(path + "/cgroup.procs", O_WRONLY));
  return cgroup;
}

Cgroup::Cgroup(Cgroup&& other) noexcept
    : path_(std::exchange(other.path_, {})),
      version_(other.version_),
      counts_all_(other.counts_all_),
      procs_(std::move(other.procs_)) {}

Cgroup& Cgroup::operator=(Cgroup&& other) noexcept {
  if (this == &other) return *this;
  Remove();
  path_ = std::exchange(other.path_, {});
  version_ = other.version_;
  counts_all_ = other.counts_all_;
  procs_ = std::move(other.procs_);
  return *this;
}

void Cgroup::Join(pid_t pid) const noexcept {
  const std::string text = std::to_string(pid);
  [[maybe_unused]] const ssize_t written = write(procs_.get(), text.data(), text.size());
}

std::int64_t Cgroup::OomKills() const {
  if (path_.empty()) return 0;
  const auto text = ReadFile(path_ + (version_ == 1 ? "/memory.oom_control" : "/memory.events"));
  if (!text) return 0;
  return FindFigure(*text, "oom_kill");
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
  procs_.Reset();
  if (!path_.empty()) RemoveCgroup(path_);
  path_.clear();
}

void RemoveCgroup(const std::string& path) noexcept {
  for (int attempt = 0; attempt < kRemoveAttemptsMax; ++attempt) {
    if (rmdir(path.c_str()) == 0 || errno != EBUSY) return;
    const timespec pause{.tv_sec = 0, .tv_nsec = 2'000'000};
    nanosleep(&pause, nullptr);
  }
}

}  // namespace trainyard::replica
