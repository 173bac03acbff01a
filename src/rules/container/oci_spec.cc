#include "rules/container/oci_spec.h"

#include <array>
#include <cerrno>
#include <cstdint>
#include <initializer_list>
#include <ranges>
#include <string_view>
#include <vector>

#include "base/text/base64.h"
#include "base/text/json_string.h"
#include "rules/container/rights.h"
#include "rules/container/seccomp_filter.h"
#include "rules/container/system_calls.h"

namespace trainyard::container {

namespace {

/// A condition on an argument; all conditions of a rule must be true.
struct Condition {
  int argument;
  std::string_view comparison;  ///< without SCMP_CMP_
  std::uint32_t value;
};

std::string PrintConditions(const std::vector<Condition>& conditions) {
  std::string list;
  for (const Condition& condition : conditions) {
    const bool masked =
        condition.comparison == "MASKED_EQ";  // then value is the mask, and none of its bits may be set
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

/// A rule may have only one condition per argument, so the ranges between the refused families are allowed
/// one by one.
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

using text::QuoteJson;

/// Paths that reveal or change the machine's state, as in Docker.
constexpr std::array<std::string_view, 10> kMasked = {
    "/proc/asound",     "/proc/acpi",        "/proc/kcore",       "/proc/keys", "/proc/latency_stats",
    "/proc/timer_list", "/proc/timer_stats", "/proc/sched_debug", "/proc/scsi", "/sys/firmware"};
constexpr std::array<std::string_view, 5> kReadOnly = {"/proc/bus", "/proc/fs", "/proc/irq", "/proc/sys",
                                                       "/proc/sysrq-trigger"};

template <class Strings>
std::string List(const Strings& strings) {
  std::string list = "[";
  for (const auto& text : strings) list.append(list.size() > 1 ? "," : "").append(QuoteJson(text));
  return list + "]";
}

std::string Object(std::initializer_list<std::pair<std::string_view, std::string>> members) {
  std::string object = "{";
  for (const auto& [name, value] : members) {
    if (value.empty()) continue;
    object.append(object.size() > 1 ? "," : "").append(QuoteJson(name)).append(":").append(value);
  }
  return object + "}";
}

std::string Array(const std::vector<std::string>& items) {
  std::string array = "[";
  for (const std::string& item : items) array.append(array.size() > 1 ? "," : "").append(item);
  return array + "]";
}

std::string Mount(std::string_view destination, std::string_view type, std::string_view source,
                  const std::vector<std::string_view>& options) {
  return Object({{"destination", QuoteJson(destination)},
                 {"type", QuoteJson(type)},
                 {"source", QuoteJson(source)},
                 {"options", List(options)}});
}

std::string Mounts(const Spec& spec) {
  const std::string shm_size = "size=" + std::to_string(spec.shared_memory_bytes);
  // A user namespace may lack the group that owns terminals.
  const std::string_view tty_group = spec.in_user_namespace ? "mode=0620" : "gid=5";
  const std::string_view shm_option =
      spec.shared_memory_bytes > 0 ? std::string_view(shm_size) : std::string_view("nodev");
  std::vector<std::string> mounts = {
      Mount("/proc", "proc", "proc", {"nosuid", "noexec", "nodev"}),
      Mount("/dev", "tmpfs", "tmpfs", {"nosuid", "strictatime", "mode=755", "size=65536k"}),
      Mount("/dev/pts", "devpts", "devpts",
            {"nosuid", "noexec", "newinstance", "ptmxmode=0666", "mode=0620", tty_group}),
      Mount("/dev/shm", "tmpfs", "shm", {"nosuid", "noexec", "nodev", "mode=1777", shm_option}),
      Mount("/dev/mqueue", "mqueue", "mqueue", {"nosuid", "noexec", "nodev"}),
      // The sandbox has made it read-only. A new mount would need its own network namespace.
      Mount("/sys", "bind", "/sys", {"rbind", "ro", "nosuid", "noexec", "nodev"})};
  for (const Bind& bind : spec.binds) {
    std::vector<std::string_view> options = {"rbind", "rprivate", bind.read_only ? "ro" : "rw"};
    if (bind.data_only) options.insert(options.end(), {"nosuid", "nodev"});
    mounts.push_back(Mount(bind.destination, "bind", bind.source, options));
  }
  return Array(mounts);
}

std::string Devices(const Spec& spec) {
  std::vector<std::string> devices;
  for (const DeviceNode& node : spec.devices) {
    devices.push_back(Object({{"path", QuoteJson(node.path)},
                              {"type", QuoteJson(std::string_view(&node.type, 1))},
                              {"major", std::to_string(node.major)},
                              {"minor", std::to_string(node.minor)},
                              {"fileMode", "438"},  // 0666
                              {"uid", "0"},
                              {"gid", "0"}}));
  }
  return Array(devices);
}

std::string Hooks(const Spec& spec) {
  if (spec.hooks.empty()) return {};
  std::string hooks;
  for (const std::string_view stage :
       {"prestart", "createRuntime", "createContainer", "startContainer", "poststart", "poststop"}) {
    std::vector<std::string> of_stage;
    for (const Hook& hook : spec.hooks) {
      if (hook.stage != stage) continue;
      of_stage.push_back(Object({{"path", QuoteJson(hook.path)},
                                 {"args", List(hook.args)},
                                 {"env", hook.environment.empty() ? "" : List(hook.environment)}}));
    }
    if (of_stage.empty()) continue;
    hooks.append(hooks.empty() ? "" : ",").append(QuoteJson(stage)).append(":").append(Array(of_stage));
  }
  return "{" + hooks + "}";
}

std::string Capabilities(const User& user) {
  const std::string all = List(kRights | std::views::transform(&Right::name));
  const std::string own = user.uid == 0 ? all : "[]";
  return Object({{"bounding", all}, {"effective", own}, {"permitted", own}});
}

std::string Process(const Spec& spec) {
  std::vector<std::string> groups;
  for (const std::uint32_t gid : spec.user.groups) groups.push_back(std::to_string(gid));
  const std::string user = Object({{"uid", std::to_string(spec.user.uid)},
                                   {"gid", std::to_string(spec.user.gid)},
                                   {"additionalGids", groups.empty() ? "" : Array(groups)}});
  return Object({{"terminal", "false"},
                 {"user", user},
                 {"args", List(spec.args)},
                 {"env", List(spec.environment)},
                 {"cwd", QuoteJson(spec.working_dir.empty() ? "/" : spec.working_dir)},
                 {"capabilities", Capabilities(spec.user)},
                 {"noNewPrivileges", "true"}});
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

std::string PrintSpec(const Spec& spec) {
  const std::string linux_part = Object(
      {{"namespaces", Array({Object({{"type", QuoteJson("pid")}}), Object({{"type", QuoteJson("mount")}})})},
       {"devices", Devices(spec)},
       {"maskedPaths", List(kMasked)},
       {"readonlyPaths", List(kReadOnly)},
       {"seccomp", PrintSeccomp()}});
  return Object({{"ociVersion", QuoteJson("1.0.2")},
                 {"process", Process(spec)},
                 {"root", Object({{"path", QuoteJson(spec.root)}, {"readonly", "false"}})},
                 {"mounts", Mounts(spec)},
                 {"hooks", Hooks(spec)},
                 {"annotations", Object({{"run.oci.seccomp_bpf_data", QuoteJson(EncodeSeccompFilter())}})},
                 {"linux", linux_part}});
}

}  // namespace trainyard::container
