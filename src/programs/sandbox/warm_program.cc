#include "programs/sandbox/warm_program.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string_view>

#include "base/async/file.h"
#include "base/number.h"
#include "programs/sandbox/network/connect_door.h"
#include "rules/container/rights.h"
#include "rules/container/seccomp_filter.h"

namespace trainyard::replica {

namespace {

constexpr int kReplyWaitMs = 5'000;
constexpr std::size_t kDescriptorsMax = 32;

/// A request: pairs of a key and a value, each ended by NUL; of a descriptor the value is its name.
class Request {
 public:
  void Add(std::string_view key, std::string_view value) {
    text_.append(key).push_back('\0');
    text_.append(value).push_back('\0');
  }
  void AddNumber(std::string_view key, std::int64_t value) { Add(key, std::to_string(value)); }
  void AddDescriptor(std::string_view name, int descriptor) {
    Add("fd", name);
    descriptors_.push_back(descriptor);
  }
  void AddFilter(std::string_view key, const std::vector<sock_filter>& filter) {
    constexpr std::string_view kDigits = "0123456789abcdef";
    std::string digits;
    for (const std::byte byte : std::as_bytes(std::span(filter))) {
      digits += kDigits[std::to_integer<unsigned>(byte) >> 4];
      digits += kDigits[std::to_integer<unsigned>(byte) & 15];
    }
    Add(key, digits);
  }
  [[nodiscard]] bool SendTo(int socket) const;

 private:
  std::string text_;
  std::vector<int> descriptors_;
};

/// The descriptors come with the size, which is the first message.
bool Request::SendTo(int socket) const {
  if (descriptors_.size() > kDescriptorsMax) return false;
  auto size = static_cast<std::uint32_t>(text_.size());
  iovec part{.iov_base = &size, .iov_len = sizeof(size)};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(kDescriptorsMax * sizeof(int))> room{};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = room.data();
  message.msg_controllen = CMSG_SPACE(descriptors_.size() * sizeof(int));
  cmsghdr* header = CMSG_FIRSTHDR(&message);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN(descriptors_.size() * sizeof(int));
  std::memcpy(CMSG_DATA(header), descriptors_.data(), descriptors_.size() * sizeof(int));
  if (sendmsg(socket, &message, MSG_NOSIGNAL) != sizeof(size)) return false;
  std::string_view rest = text_;
  while (!rest.empty()) {
    const ssize_t sent = send(socket, rest.data(), rest.size(), MSG_NOSIGNAL);
    if (sent <= 0) return false;
    rest.remove_prefix(static_cast<std::size_t>(sent));
  }
  return true;
}

bool SetLastPid(int file, std::string_view pid) {
  return pwrite(file, pid.data(), pid.size(), 0) == static_cast<ssize_t>(pid.size());
}

/// The init process's limits, which a program inherits.
bool AddLimits(const WarmProgram& program, Request& request) {
  for (int number = 0; number < static_cast<int>(RLIM_NLIMITS); ++number) {
    rlimit limit{};
    if (getrlimit(static_cast<__rlimit_resource>(number), &limit) != 0) return false;
    if (number == RLIMIT_NPROC && program.limits_user) {
      limit.rlim_max = std::min(limit.rlim_max, static_cast<rlim_t>(program.plan.processes_max));
      limit.rlim_cur = std::min(limit.rlim_cur, limit.rlim_max);
    }
    request.Add("limit", std::to_string(number) + " " + std::to_string(limit.rlim_cur) + " " +
                             std::to_string(limit.rlim_max));
  }
  const auto score = ReadFile("/proc/self/oom_score_adj");
  if (!score) return false;
  request.Add("oom_score_adj", std::string_view(*score).substr(0, score->find('\n')));
  request.AddNumber("nice", getpriority(PRIO_PROCESS, 0));
  return true;
}

void AddRights(const WarmProgram& program, Request& request) {
  std::int64_t kept = 0;
  for (const container::Right& right : container::kRights) kept |= std::int64_t{1} << right.number;
  request.AddNumber("kept_rights", kept);
  request.AddNumber("seccomp_call", SYS_seccomp);
  request.AddFilter("filter", container::MakeSeccompFilter());
  if (!program.plan.connect_doors.empty()) request.AddFilter("connect_filter", MakeConnectFilter());
}

/// The descriptors of the namespaces stay open until they are sent.
std::optional<std::vector<UniqueFd>> AddNamespaces(Request& request) {
  std::vector<UniqueFd> opened;
  for (const char* name : {"net", "user", "mnt", "uts", "ipc", "pid"}) {
    opened.emplace_back(open((std::string("/proc/self/ns/") + name).c_str(), O_RDONLY | O_CLOEXEC));
    if (!opened.back()) return std::nullopt;
    request.AddDescriptor(name, opened.back().get());
  }
  return opened;
}

bool Ask(const WarmProgram& program) {
  Request request;
  for (char* const* word = program.start.argv; *word != nullptr; ++word) request.Add("argv", *word);
  for (char* const* word = program.start.environment; *word != nullptr; ++word) request.Add("env", *word);
  request.Add("directory", program.plan.directory.empty() ? "/" : program.plan.directory);
  if (!AddLimits(program, request)) return false;
  AddRights(program, request);
  for (const auto& [name, descriptor] : program.descriptors) {
    if (descriptor >= 0) request.AddDescriptor(name, descriptor);
  }
  request.AddDescriptor("last_pid", program.last_pid);
  const auto namespaces = AddNamespaces(request);
  return namespaces && request.SendTo(program.mother);
}

/// The pid that the program's process says it has; nothing if it is not our child.
std::optional<pid_t> ReceivePid(int mother) {
  pollfd replied{.fd = mother, .events = POLLIN, .revents = 0};
  if (poll(&replied, 1, kReplyWaitMs) <= 0) return std::nullopt;
  std::array<char, 512> text{};
  const ssize_t size = recv(mother, text.data(), text.size(), 0);
  if (size <= 0) return std::nullopt;
  const auto pid = WholeNumber<pid_t>(std::string_view(text.data(), static_cast<std::size_t>(size)));
  if (!pid || *pid <= 1) return std::nullopt;
  siginfo_t info{};
  if (waitid(P_PID, static_cast<id_t>(*pid), &info, WEXITED | WNOHANG | WNOWAIT) != 0 || info.si_pid != 0)
    return std::nullopt;
  return pid;
}

}  // namespace

pid_t StartWarm(const WarmProgram& program) {
  // The process in between gets a number that leaves the program the one of a fresh start.
  constexpr const char* kBefore = "299";
  constexpr const char* kOurs = "1";
  if (!SetLastPid(program.last_pid, kBefore)) return -1;
  if (Ask(program)) {
    const auto pid = ReceivePid(program.mother);
    constexpr char kGo = 'g';
    if (pid && send(program.mother, &kGo, 1, MSG_NOSIGNAL) == 1) return *pid;
  }
  shutdown(program.mother, SHUT_RDWR);  // what may have been made ends when it reads this
  SetLastPid(program.last_pid, kOurs);
  return -1;
}

}  // namespace trainyard::replica
