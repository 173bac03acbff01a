#include "programs/sandbox/cgroups/process_limit.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <string>
#include <utility>

namespace trainyard::replica {

namespace {

constexpr const char* kPidMax = "/proc/sys/kernel/pid_max";
/// The kernel reserves 300 numbers.
constexpr std::int64_t kNamespacePidsMin = 301;

}  // namespace

bool IsReleaseAtLeast(std::string_view release, int major, int minor) {
  const char* const end = release.data() + release.size();
  int found_major = 0;
  const auto [dot, error] = std::from_chars(release.data(), end, found_major);
  if (error != std::errc() || dot == end || *dot != '.') return false;
  int found_minor = 0;
  if (std::from_chars(dot + 1, end, found_minor).ec != std::errc()) return false;
  return std::pair(found_major, found_minor) >= std::pair(major, minor);
}

bool CanLimitNamespace(std::int64_t processes) {
  struct utsname machine{};
  struct statvfs settings{};
  return processes >= kNamespacePidsMin && uname(&machine) == 0 && IsReleaseAtLeast(machine.release, 6, 14) &&
         statvfs(kPidMax, &settings) == 0 && (settings.f_flag & ST_RDONLY) == 0;
}

bool LimitNamespace(std::int64_t processes) {
  const int file = open(kPidMax, O_WRONLY | O_CLOEXEC);
  if (file < 0) return false;
  const std::string text = std::to_string(processes);
  const bool written = write(file, text.data(), text.size()) == static_cast<ssize_t>(text.size());
  const int error = errno;
  close(file);
  errno = error;
  return written;
}

bool LimitUser(std::int64_t processes) {
  rlimit limit{};
  if (getrlimit(RLIMIT_NPROC, &limit) != 0) return false;
  limit.rlim_max = std::min(limit.rlim_max, static_cast<rlim_t>(processes));
  limit.rlim_cur = std::min(limit.rlim_cur, limit.rlim_max);
  return setrlimit(RLIMIT_NPROC, &limit) == 0;
}

}  // namespace trainyard::replica
