#include "engine/local/machine_limits.h"

#include <pwd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <optional>
#include <tuple>
#include <utility>

#include "base/systemd/manager_bus.h"
#include "base/systemd/unit_place.h"
#include "programs/attempt/attempt_dir.h"
#include "programs/sandbox/cgroups/installation_group.h"
#include "rules/placement/plan.h"

namespace trainyard::engine {

namespace {

using replica::CgroupView;
using replica::LimitSupport;
using systemd::PlaceKind;

std::string UserName() {
  std::array<char, 4096> buffer{};
  passwd entry{};
  passwd* found = nullptr;
  if (getpwuid_r(geteuid(), &entry, buffer.data(), buffer.size(), &found) != 0 || found == nullptr)
    return std::to_string(geteuid());
  return entry.pw_name;
}

/// Moves this process into a scope of that name. The scope is created, or exists because attempts of an
/// earlier server live in it.
Status MoveIntoScope(const std::string& scope) {
  TY_TRY(systemd::ManagerBus bus, systemd::ManagerBus::Open());
  const Status made = bus.StartScope(scope, "Jobs of Trainyard", getpid());
  if (made || made.error().code != Code::kAlreadyExists) return made;
  return bus.Join(scope, std::string("/") + replica::kLeafName, getpid());
}

/// Advice for machines where systemd cannot be used.
std::string AskRoot() {
  if (geteuid() == 0) return "Give the unit Delegate=yes, or install dbus";
  return "Start the server from a login by ssh or console, with dbus-user-session installed, or in a unit "
         "with "
         "Delegate=yes";
}

LimitSupport DivideOwn(const std::string& installation) {
  const auto view = CgroupView::Own();
  if (!view) return replica::NoLimits(false, view.error().message);
  return replica::DivideGroup(replica::BaseGroup(replica::OwnGroup(*view)), installation);
}

/// Moves this process from a login session to the user's systemd. The session must stay, since that systemd
/// lives only as long, so one process stays in it.
std::optional<systemd::SessionStay> StayInSession(const systemd::SessionFacts& session) {
  if (session.is_root || session.place != PlaceKind::kLoginSession || session.lingers) return std::nullopt;
  auto stay = systemd::SessionStay::Start();
  if (!stay) return std::nullopt;
  return std::move(*stay);
}

struct LimitSetup {
  LimitSupport support;
  std::string advice;  ///< what helps; empty: nothing is known to help
};

LimitSetup InSystemd(const CgroupView& view, const std::string& installation,
                     const systemd::SessionFacts& session) {
  const std::string scope = installation + ".scope";
  const std::string own = replica::OwnGroup(view);
  const systemd::UnitPlace place = systemd::FindOwnPlace(view.membership);
  if (place.unit == scope) return {DivideOwn(installation), ""};
  std::optional<systemd::SessionStay> stay = StayInSession(session);
  const Status moved = MoveIntoScope(scope);
  if (moved) {
    LimitSupport support = DivideOwn(installation);
    if (const auto now = CgroupView::Own(); stay && now)
      std::ignore = stay->WaitFor(replica::BaseGroup(replica::OwnGroup(*now)));
    return {std::move(support), ""};
  }
  // Own: "/sys/fs/cgroup" + the group of the unit + what is below it.
  const std::size_t below = own.rfind(place.unit);
  if (!place.unit.empty() && below != std::string::npos) {
    const std::string unit = own.substr(0, below + place.unit.size());
    if (replica::IsDelegated(unit) && replica::CanDivide(unit))
      return {replica::DivideGroup(unit, installation), ""};
  }
  return {
      replica::NoLimits(false, "systemd did not create a scope for this server: " + moved.error().message),
      AskRoot()};
}

LimitSetup Prepare(const CgroupView& view, const std::string& installation,
                   const systemd::SessionFacts& session) {
  switch (replica::CgroupVersion(view)) {
    case 0:
      return {replica::NoLimits(true, "no cgroup file system is mounted"), "Mount cgroup2 at /sys/fs/cgroup"};
    case 1: return {replica::TryVersion1(view, installation), geteuid() == 0 ? "" : "Run the server as root"};
    default: break;
  }
  if (systemd::IsRunning()) return InSystemd(view, installation, session);
  const std::string own = replica::BaseGroup(replica::OwnGroup(view));
  if (replica::CanDivide(own)) return {replica::DivideGroup(own, installation), ""};
  return {replica::NoLimits(false, own + " cannot be written"),
          "In a container, give it a cgroup namespace of its own with /sys/fs/cgroup writable"};
}

/// "memory, CPUs and processes".
std::string Joined(const std::vector<std::string>& words) {
  std::string text;
  for (std::size_t i = 0; i < words.size(); ++i)
    text += (i == 0 ? "" : i + 1 == words.size() ? " and " : ", ") + words[i];
  return text;
}

std::string Lacking(const LimitSupport& support, const std::string& known_advice) {
  std::vector<std::string> missing;
  for (const replica::MissingLimit& one : support.missing) missing.push_back(one.what);
  if (missing.empty()) return {};
  const replica::MissingLimit& first = support.missing.front();
  const std::string advice = known_advice.empty() && first.absent
                                 ? "Start the kernel without cgroup_disable, and see docs/your-machine.md"
                                 : known_advice;
  return "this machine does not limit the " + Joined(missing) + " of replicas (" + first.why + ")" +
         (advice.empty() ? "" : ". " + advice);
}

systemd::SessionFacts FindSession(const std::string& membership) {
  systemd::SessionFacts facts{
      .place = systemd::FindOwnPlace(membership).kind, .user = UserName(), .is_root = geteuid() == 0};
  if (facts.is_root || facts.place == PlaceKind::kNone || facts.place == PlaceKind::kSystem) return facts;
  facts.lingers = systemd::Lingers(facts.user);
  facts.kills_processes = systemd::KillsUserProcesses();
  return facts;
}

}  // namespace

std::string DescribeReplicaMemory(const MachineLimits& limits, std::int64_t machine_bytes) {
  constexpr std::int64_t kMib = 1 << 20;
  const std::int64_t most = placement::ReplicaMemoryMax(machine_bytes);
  const bool works = limits.cgroup_version == 2 && most > 0 &&
                     std::ranges::any_of(limits.limits, [](const MachineLimits::Limit& limit) {
                       return limit.what == "memory" && limit.works;
                     });
  if (!works)
    return "a replica may use all memory of this machine: the default limit needs cgroups of version 2 that "
           "limit memory";
  return "a replica may use " + std::to_string(most / kMib) + " of this machine's " +
         std::to_string(machine_bytes / kMib) + " MiB of memory";
}

MachineLimits DescribeLimits(const LimitSupport& support, const std::string& advice) {
  MachineLimits limits{
      .cgroup_version = support.version, .cgroup = support.group, .lacking = Lacking(support, advice)};
  for (const char* what : {"memory", "CPUs", "processes"}) {
    bool works = true;
    for (const replica::MissingLimit& one : support.missing) works = works && one.what != what;
    limits.limits.push_back({what, works});
  }
  return limits;
}

MachineLimits PrepareLimits(const std::string& attempts_dir) {
  const auto view = CgroupView::Own();
  const systemd::SessionFacts session = FindSession(view ? view->membership : "");
  LimitSetup prepared = view ? Prepare(*view, replica::InstallationName(attempts_dir), session)
                             : LimitSetup{replica::NoLimits(true, view.error().message), ""};
  replica::LeaveOutProcesses(prepared.support);
  MachineLimits limits = DescribeLimits(prepared.support, prepared.advice);
  systemd::LogoutNote logout = systemd::AfterLogout(session);
  limits.logout = std::move(logout.line);
  limits.logout_ends_jobs = logout.ends_jobs;
  return limits;
}

}  // namespace trainyard::engine
