#include "rules/container/seccomp_spec.h"

#include <cerrno>
#include <cstdint>
#include <string_view>
#include <vector>

#include "base/text/base64.h"
#include "rules/container/seccomp_filter.h"
#include "rules/container/system_calls.h"

namespace trainyard::container {

namespace {

/// A condition on an argument; several hold together.
struct Condition {
  int argument;
  std::string_view comparison;  ///< without SCMP_CMP_
  std::uint32_t value;
};

std::string PrintConditions(const std::vector<Condition>& conditions) {
  std::string list;
  for (const Condition& condition : conditions) {
    const bool masked = condition.comparison == "MASKED_EQ";  // value is the mask then: nothing of it is set
    list.append(list.empty() ? "" : ",")
        .append(R"({"index":)")
        .append(std::to_string(condition.argument))
        .append(R"(,"value":)")
        .append(std::to_string(condition.value))
        .append(masked ? R"(,"valueTwo":0)" : "")
        .append(R"(,"op":"SCMP_CMP_)")
        .append(condition.comparison)
        .append("\"}");
  }
  return list;
}

std::string PrintAllowed(std::string_view name, const std::vector<Condition>& conditions) {
  return std::string(R"(,{"names":[")")
      .append(name)
      .append(R"("],"action":"SCMP_ACT_ALLOW","args":[)")
      .append(PrintConditions(conditions))
      .append("]}");
}

std::string PrintRefused(std::string_view name, int error, const std::vector<Condition>& conditions) {
  return std::string(R"(,{"names":[")")
      .append(name)
      .append(R"("],"action":"SCMP_ACT_ERRNO","errnoRet":)")
      .append(std::to_string(error))
      .append(R"(,"args":[)")
      .append(PrintConditions(conditions))
      .append("]}");
}

/// A rule may ask one thing of an argument: families are allowed one by one between those that are not.
std::string PrintSockets() {
  const auto [packet, hypervisor] = kSocketFamiliesRefused;
  std::string rules = PrintAllowed("socket", {{0, "LT", kNetlinkFamily}}) +
                      PrintAllowed("socket", {{0, "EQ", kNetlinkFamily}, {2, "NE", kNetlinkAudit}}) +
                      PrintRefused("socket", EINVAL, {{0, "EQ", kNetlinkFamily}, {2, "EQ", kNetlinkAudit}});
  for (std::uint32_t family = packet + 1; family < hypervisor; ++family)
    rules += PrintAllowed("socket", {{0, "EQ", family}});
  return rules + PrintAllowed("socket", {{0, "GT", hypervisor}});
}

std::string_view Architectures() {
#if defined(__x86_64__)
  return R"("SCMP_ARCH_X86_64","SCMP_ARCH_X86")";
#else
  return R"("SCMP_ARCH_AARCH64")";
#endif
}

}  // namespace

std::string PrintSeccomp() {
  std::string names;
  for (const SystemCall& call : NativeCalls().allowed)
    names.append(names.empty() ? "\"" : ",\"").append(call.name).append("\"");
  std::string rules = R"({"names":[)" + names + R"(],"action":"SCMP_ACT_ALLOW"})";
  rules += PrintRefused("clone3", ENOSYS, {});
  rules += PrintAllowed("clone", {{0, "MASKED_EQ", kCloneFlagsRefused}});
  for (const std::uint32_t value : kPersonalities) rules += PrintAllowed("personality", {{0, "EQ", value}});
  rules += PrintSockets();
  return std::string(R"({"defaultAction":"SCMP_ACT_ERRNO","defaultErrnoRet":1,"architectures":[)")
      .append(Architectures())
      .append(R"(],"syscalls":[)")
      .append(rules)
      .append("]}");
}

std::string EncodeSeccompFilter() {
  const std::vector<sock_filter> filter = MakeSeccompFilter();
  return text::Base64({reinterpret_cast<const char*>(filter.data()), filter.size() * sizeof(sock_filter)});
}

}  // namespace trainyard::container
