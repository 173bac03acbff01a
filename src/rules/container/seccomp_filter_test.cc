#include "rules/container/seccomp_filter.h"

#include <gtest/gtest.h>
#include <linux/audit.h>
#include <linux/seccomp.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "rules/container/rights.h"

namespace trainyard::container {
namespace {

/// What the kernel would do with a call: the steps that our filters have.
std::uint32_t Judge(const std::vector<sock_filter>& filter, const seccomp_data& call) {
  std::uint32_t a = 0;
  for (std::size_t at = 0; at < filter.size(); ++at) {
    const sock_filter& step = filter[at];
    const auto jump = [&](bool yes) { at += yes ? step.jt : step.jf; };
    switch (step.code) {
      case BPF_LD | BPF_W | BPF_ABS:
        std::memcpy(&a, reinterpret_cast<const char*>(&call) + step.k, sizeof(a));
        break;
      case BPF_JMP | BPF_JEQ | BPF_K: jump(a == step.k); break;
      case BPF_JMP | BPF_JGE | BPF_K: jump(a >= step.k); break;
      case BPF_JMP | BPF_JSET | BPF_K: jump((a & step.k) != 0); break;
      case BPF_JMP | BPF_JA: at += step.k; break;
      case BPF_RET | BPF_K: return step.k;
      default: ADD_FAILURE() << "step " << step.code; return 0;
    }
  }
  ADD_FAILURE() << "no end";
  return 0;
}

std::uint32_t JudgeNative(int number, std::uint64_t first = 0, std::uint64_t third = 0) {
  static const std::vector<sock_filter> kFilter = MakeSeccompFilter();
  return Judge(kFilter, {.nr = number, .arch = NativeCalls().architecture, .args = {first, 0, third}});
}

constexpr std::uint32_t kRefused = SECCOMP_RET_ERRNO | EPERM;
constexpr std::uint32_t kUnknown = SECCOMP_RET_ERRNO | ENOSYS;

int NumberOf(const CallTable& table, std::string_view name) {
  const auto found = std::ranges::find(table.allowed, name, &SystemCall::name);
  return found == table.allowed.end() ? -1 : found->number;
}

TEST(SystemCalls, AreSortedAndOnce) {
  const auto table = NativeCalls();
  EXPECT_EQ(std::ranges::adjacent_find(table.allowed, std::ranges::greater_equal(), &SystemCall::name),
            table.allowed.end());
  EXPECT_GT(std::ranges::count_if(table.allowed, [](const SystemCall& call) { return call.number >= 0; }),
            250);
}

TEST(SystemCalls, HaveNoneThatReachesOutside) {
  for (const char* name : {"mount",          "umount2",     "move_mount",   "open_tree",
                           "mount_setattr",  "fsopen",      "pivot_root",   "unshare",
                           "setns",          "clone",       "clone3",       "keyctl",
                           "add_key",        "request_key", "bpf",          "perf_event_open",
                           "userfaultfd",    "kexec_load",  "init_module",  "finit_module",
                           "delete_module",  "iopl",        "ioperm",       "swapon",
                           "reboot",         "syslog",      "acct",         "open_by_handle_at",
                           "io_uring_setup", "pidfd_getfd", "settimeofday", "clock_settime",
                           "quotactl",       "sethostname", "socket",       "personality"})
    EXPECT_EQ(NumberOf(NativeCalls(), name), -1) << name;
}

TEST(SeccompFilter, AllowsTheTableAndNothingElse) {
  for (const CallTable& table : {NativeCalls(), Calls32()}) {
    if (table.architecture == 0) continue;
    const std::vector<sock_filter> filter = MakeSeccompFilter();
    int last = 0;
    for (const SystemCall& call : table.allowed) last = std::max(last, call.number);
    for (int number = 0; number <= last + 100; ++number) {
      if (number == table.clone || number == table.personality || number == table.socket) continue;
      const bool listed =
          std::ranges::find(table.allowed, number, &SystemCall::number) != table.allowed.end();
      const std::uint32_t expected = listed                                    ? SECCOMP_RET_ALLOW
                                     : number == table.clone3 || number > last ? kUnknown
                                                                               : kRefused;
      EXPECT_EQ(Judge(filter, {.nr = number, .arch = table.architecture}), expected) << number;
    }
  }
}

TEST(SeccompFilter, LetsCloneMakeThreadsButNoNamespaces) {
  const int clone = NativeCalls().clone;
  EXPECT_EQ(JudgeNative(clone, 0x3d0f00), SECCOMP_RET_ALLOW) << "a thread";
  EXPECT_EQ(JudgeNative(clone, 17), SECCOMP_RET_ALLOW) << "a process";
  for (const unsigned flag :
       {0x20000U, 0x2000000U, 0x4000000U, 0x8000000U, 0x10000000U, 0x20000000U, 0x40000000U})
    EXPECT_EQ(JudgeNative(clone, flag | 17), kRefused) << flag;
}

TEST(SeccompFilter, KnowsSockets) {
  const int socket = NativeCalls().socket;
  for (const unsigned family : {1U, 2U, 10U, 15U, 38U, 41U})
    EXPECT_EQ(JudgeNative(socket, family, 9), SECCOMP_RET_ALLOW) << family;
  for (const unsigned family : {17U, 40U}) EXPECT_EQ(JudgeNative(socket, family), kRefused) << family;
  EXPECT_EQ(JudgeNative(socket, std::uint64_t{1} << 32 | 17), kRefused) << "the kernel reads an int";
  EXPECT_EQ(JudgeNative(socket, 16, 0), SECCOMP_RET_ALLOW);
  EXPECT_EQ(JudgeNative(socket, 16, 9), SECCOMP_RET_ERRNO | EINVAL);
}

TEST(SeccompFilter, KnowsPersonalities) {
  const int personality = NativeCalls().personality;
  for (const std::uint64_t value : {0x0U, 0x8U, 0x20000U, 0x20008U, 0xFFFFFFFFU})
    EXPECT_EQ(JudgeNative(personality, value), SECCOMP_RET_ALLOW) << value;
  for (const std::uint64_t value : {0x1U, 0x40000U, 0x400000U})
    EXPECT_EQ(JudgeNative(personality, value), kRefused) << value;
}

TEST(SeccompFilter, RefusesOtherArchitectures) {
  EXPECT_EQ(Judge(MakeSeccompFilter(), {.nr = 0, .arch = AUDIT_ARCH_PPC64LE}), kUnknown);
  EXPECT_EQ(JudgeNative(0x40000000), kUnknown) << "x32";
  EXPECT_EQ(JudgeNative(-1), kUnknown);
}

TEST(SeccompFilter, IsShort) { EXPECT_LT(MakeSeccompFilter().size(), 600U); }

TEST(Rights, AreFewerThanDockers) {
  for (const int number :
       {CAP_NET_RAW, CAP_NET_ADMIN, CAP_SYS_ADMIN, CAP_SYS_PTRACE, CAP_MKNOD, CAP_AUDIT_WRITE,
        CAP_DAC_READ_SEARCH, CAP_SYS_RAWIO, CAP_SYS_MODULE, CAP_BPF, CAP_PERFMON})
    EXPECT_EQ(std::ranges::find(kRights, number, &Right::number), kRights.end()) << number;
}

}  // namespace
}  // namespace trainyard::container
