#include "rules/container/seccomp_filter.h"

#include <linux/seccomp.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <limits>

#include "base/check.h"

namespace trainyard::container {

namespace {

using Program = std::vector<sock_filter>;

enum class Rule : std::uint8_t { kRefuse, kAllow, kUnknown, kClone, kPersonality, kSocket };

/// Numbers from `first` up to the next range.
struct Range {
  std::uint32_t first;
  Rule rule;
};

constexpr std::uint32_t Errno(std::uint32_t number) { return SECCOMP_RET_ERRNO | number; }

void Return(Program& program, std::uint32_t value) {
  program.push_back(sock_filter{BPF_RET | BPF_K, 0, 0, value});
}

void Load(Program& program, std::size_t offset) {
  program.push_back(sock_filter{BPF_LD | BPF_W | BPF_ABS, 0, 0, static_cast<std::uint32_t>(offset)});
}

/// Loads the low half of an argument: the arguments are ints, so the kernel ignores the other half.
/// Little-endian machines.
void LoadArgument(Program& program, std::size_t index) {
  Load(program, offsetof(seccomp_data, args) + index * sizeof(std::uint64_t));
}

/// Returns the value if A is `number`.
void ReturnIf(Program& program, std::uint32_t number, std::uint32_t value) {
  program.push_back(sock_filter{BPF_JMP | BPF_JEQ | BPF_K, 0, 1, number});
  Return(program, value);
}

void CompileSocket(Program& program) {
  LoadArgument(program, 0);
  for (const std::uint32_t family : kSocketFamiliesRefused) ReturnIf(program, family, Errno(EPERM));
  program.push_back(sock_filter{BPF_JMP | BPF_JEQ | BPF_K, 1, 0, kNetlinkFamily});
  Return(program, SECCOMP_RET_ALLOW);
  LoadArgument(program, 2);
  ReturnIf(program, kNetlinkAudit, Errno(EINVAL));
  Return(program, SECCOMP_RET_ALLOW);
}

void CompileRule(Program& program, Rule rule) {
  switch (rule) {
    case Rule::kRefuse: return Return(program, Errno(EPERM));
    case Rule::kAllow: return Return(program, SECCOMP_RET_ALLOW);
    case Rule::kUnknown: return Return(program, Errno(ENOSYS));
    case Rule::kClone:
      LoadArgument(program, 0);
      program.push_back(sock_filter{BPF_JMP | BPF_JSET | BPF_K, 0, 1, kCloneFlagsRefused});
      Return(program, Errno(EPERM));
      return Return(program, SECCOMP_RET_ALLOW);
    case Rule::kPersonality:
      LoadArgument(program, 0);
      for (const std::uint32_t allowed : kPersonalities) ReturnIf(program, allowed, SECCOMP_RET_ALLOW);
      return Return(program, Errno(EPERM));
    case Rule::kSocket: return CompileSocket(program);
  }
}

std::vector<Range> MakeRanges(const CallTable& table) {
  std::vector<Rule> rules;
  const auto set = [&rules](int number, Rule rule) {
    if (number < 0) return;
    const auto index = static_cast<std::size_t>(number);
    if (rules.size() <= index) rules.resize(index + 1, Rule::kRefuse);
    rules[index] = rule;
  };
  for (const SystemCall& call : table.allowed) set(call.number, Rule::kAllow);
  set(table.clone, Rule::kClone);
  set(table.clone3, Rule::kUnknown);
  set(table.personality, Rule::kPersonality);
  set(table.socket, Rule::kSocket);
  rules.push_back(Rule::kUnknown);
  std::vector<Range> ranges;
  for (std::size_t i = 0; i < rules.size(); ++i) {
    if (ranges.empty() || ranges.back().rule != rules[i])
      ranges.push_back({static_cast<std::uint32_t>(i), rules[i]});
  }
  return ranges;
}

/// A binary search in ranges[begin, end): a dozen steps for any call, and a program that the kernel can check
/// and translate quickly.
void CompileSearch(Program& program, const std::vector<Range>& ranges, std::size_t begin, std::size_t end) {
  if (end - begin == 1) return CompileRule(program, ranges[begin].rule);
  const std::size_t middle = begin + (end - begin) / 2;
  const std::size_t branch = program.size();
  program.push_back(sock_filter{BPF_JMP | BPF_JGE | BPF_K, 0, 0, ranges[middle].first});
  CompileSearch(program, ranges, begin, middle);
  const std::size_t lower = program.size() - branch - 1;
  TY_CHECK(lower <= std::numeric_limits<std::uint8_t>::max());  // else the table has too many gaps
  program[branch].jt = static_cast<std::uint8_t>(lower);
  CompileSearch(program, ranges, middle, end);
}

/// If the architecture differs, this falls through to the next table, which checks the architecture again.
void AppendTable(Program& program, const CallTable& table) {
  Program calls;
  Load(calls, offsetof(seccomp_data, nr));
  const Program search = CompileCalls(table);
  calls.insert(calls.end(), search.begin(), search.end());
  program.push_back(sock_filter{BPF_JMP | BPF_JEQ | BPF_K, 1, 0, table.architecture});
  program.push_back(sock_filter{BPF_JMP | BPF_JA, 0, 0, static_cast<std::uint32_t>(calls.size())});
  program.insert(program.end(), calls.begin(), calls.end());
}

}  // namespace

std::vector<sock_filter> CompileCalls(const CallTable& table) {
  Program program;
  const std::vector<Range> ranges = MakeRanges(table);
  CompileSearch(program, ranges, 0, ranges.size());
  return program;
}

std::vector<sock_filter> MakeSeccompFilter() {
  Program program;
  Load(program, offsetof(seccomp_data, arch));
  AppendTable(program, NativeCalls());
  if (const CallTable other = Calls32(); other.architecture != 0) AppendTable(program, other);
  Return(program, Errno(ENOSYS));  // another architecture
  return program;
}

}  // namespace trainyard::container
