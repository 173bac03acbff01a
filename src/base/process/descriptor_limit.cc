#include "base/process/descriptor_limit.h"

#include <sys/resource.h>

#include <atomic>
#include <cerrno>

namespace trainyard {

namespace {

constexpr std::uint64_t kNotRaised = 0;
std::atomic<std::uint64_t> g_former{kNotRaised};

}  // namespace

std::uint64_t RaiseDescriptorLimit() {
  rlimit limit{};
  ::getrlimit(RLIMIT_NOFILE, &limit);  // cannot fail with these arguments
  if (limit.rlim_cur >= limit.rlim_max) return limit.rlim_cur;
  const std::uint64_t former = limit.rlim_cur;
  limit.rlim_cur = limit.rlim_max;
  if (::setrlimit(RLIMIT_NOFILE, &limit) != 0) return former;
  g_former = former;
  return limit.rlim_cur;
}

std::optional<std::uint64_t> FormerDescriptorLimit() noexcept {
  const std::uint64_t former = g_former;
  return former == kNotRaised ? std::nullopt : std::optional(former);
}

Status LowerDescriptorLimit(pid_t pid, std::uint64_t limit) {
  rlimit now{};
  if (::prlimit(pid, RLIMIT_NOFILE, nullptr, &now) != 0)
    return std::unexpected(ErrnoError(errno, "read the limit of descriptors"));
  if (now.rlim_cur <= limit) return {};
  now.rlim_cur = limit;
  if (::prlimit(pid, RLIMIT_NOFILE, &now, nullptr) != 0)
    return std::unexpected(ErrnoError(errno, "set the limit of descriptors"));
  return {};
}

}  // namespace trainyard
