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

using text::QuoteJson;

std::string Array(const std::vector<std::string>& items) {
  std::string array = "[";
  for (const std::string& item : items) array.append(array.size() > 1 ? "," : "").append(item);
  return array + "]";
}

/// The texts as strings.
template <class Texts>
std::string List(const Texts& texts) {
  std::vector<std::string> items;
  for (const auto& text : texts) items.push_back(QuoteJson(text));
  return Array(items);
}

/// Members with an empty value are left out.
std::string Object(std::initializer_list<std::pair<std::string_view, std::string>> members) {
  std::string object = "{";
  for (const auto& [name, value] : members) {
    if (value.empty()) continue;
    object.append(object.size() > 1 ? "," : "").append(QuoteJson(name)).append(":").append(value);
  }
  return object + "}";
}

/// A condition on an argument; all conditions of a rule must be true.
struct Condition {
  int argument;
  std::string_view comparison;  ///< without SCMP_CMP_
  std::uint32_t value;
};

/// The system call is allowed, or refused with `error`.
std::string PrintRule(std::string_view name, int error, const std::vector<Condition>& conditions) {
  std::vector<std::string> args;
  for (const Condition& one : conditions) {
    const bool masked = one.comparison == "MASKED_EQ";  // value is a mask: none of its bits may be set
    args.push_back(Object({{"index", std::to_string(one.argument)},
                           {"value", std::to_string(one.value)},
                           {"valueTwo", masked ? "0" : ""},
                           {"op", QuoteJson("SCMP_CMP_" + std::string(one.comparison))}}));
  }
  return Object({{"names", List(std::array{name})},
                 {"action", QuoteJson(error == 0 ? "SCMP_ACT_ALLOW" : "SCMP_ACT_ERRNO")},
                 {"errnoRet", error == 0 ? "" : std::to_string(error)},
                 {"args", Array(args)}});
}

/// A rule may have only one condition per argument, so the ranges between the refused families are allowed
/// one by one.
void AddSockets(std::vector<std::string>& rules) {
  const auto [packet, hypervisor] = kSocketFamiliesRefused;
  rules.push_back(PrintRule("socket", 0, {{0, "LT", kNetlinkFamily}}));
  rules.push_back(PrintRule("socket", 0, {{0, "EQ", kNetlinkFamily}, {2, "NE", kNetlinkAudit}}));
  rules.push_back(PrintRule("socket", EINVAL, {{0, "EQ", kNetlinkFamily}, {2, "EQ", kNetlinkAudit}}));
  for (std::uint32_t family = packet + 1; family < hypervisor; ++family)
    rules.push_back(PrintRule("socket", 0, {{0, "EQ", family}}));
  rules.push_back(PrintRule("socket", 0, {{0, "GT", hypervisor}}));
}

std::string Architectures() {
#if defined(__x86_64__)
  return R"(["SCMP_ARCH_X86_64","SCMP_ARCH_X86"])";
#else
  return R"(["SCMP_ARCH_AARCH64"])";
#endif
}

/// Paths that reveal or change the machine's state, as in Docker.
constexpr std::array<std::string_view, 10> kMasked = {
    "/proc/asound",     "/proc/acpi",        "/proc/kcore",       "/proc/keys", "/proc/latency_stats",
    "/proc/timer_list", "/proc/timer_stats", "/proc/sched_debug", "/proc/scsi", "/sys/firmware"};
constexpr std::array<std::string_view, 5> kReadOnly = {"/proc/bus", "/proc/fs", "/proc/irq", "/proc/sys",
                                                       "/proc/sysrq-trigger"};

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
  const std::string allowed = List(NativeCalls().allowed | std::views::transform(&SystemCall::name));
  std::vector<std::string> rules = {Object({{"names", allowed}, {"action", QuoteJson("SCMP_ACT_ALLOW")}}),
                                    PrintRule("clone3", ENOSYS, {}),
                                    PrintRule("clone", 0, {{0, "MASKED_EQ", kCloneFlagsRefused}})};
  for (const std::uint32_t value : kPersonalities)
    rules.push_back(PrintRule("personality", 0, {{0, "EQ", value}}));
  AddSockets(rules);
  return Object({{"defaultAction", QuoteJson("SCMP_ACT_ERRNO")},
                 {"defaultErrnoRet", "1"},
                 {"architectures", Architectures()},
                 {"syscalls", Array(rules)}});
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
