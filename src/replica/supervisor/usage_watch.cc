#include "replica/supervisor/usage_watch.h"

#include <sys/wait.h>

#include <algorithm>
#include <csignal>
#include <string>
#include <utility>

#include "base/async/file.h"
#include "base/process/program_pages.h"
#include "base/wire/time.h"
#include "programs/sandbox/cgroups/proc_figures.h"

namespace trainyard::replica {

namespace {

using std::chrono::milliseconds;

/// The time of the first measurement, and the interval between later ones.
constexpr milliseconds kFirstUsageAfter{1'000};
constexpr milliseconds kUsageInterval{10'000};
/// Shorter runs are not worth a cgroup.
constexpr milliseconds kCountMemoryAfter{100};

}  // namespace

pid_t PidOf(int pidfd) {
  const auto text = ReadFile("/proc/self/fdinfo/" + std::to_string(pidfd));
  const std::int64_t pid = text ? FindFigure(*text, "Pid:") : 0;
  return pid > 0 ? static_cast<pid_t>(pid) : -1;
}

UsageWatch::UsageWatch(Context context, Time now) : context_(context), measure_at_(now + kFirstUsageAfter) {
  counting_refused_ = !context_.process.cgroup().counts_memory();
  if (counting_refused_) before_ = once_ = lately_ = MemoryAround();
  if (!context_.process.cgroup().path().empty()) return;
  counting_refused_ = context_.manifest.limits().memory_bytes() > 0;  // set when its limits were created
  if (!counting_refused_) count_at_ = now + kCountMemoryAfter;
}

UsageWatch::Time UsageWatch::deadline() const noexcept { return std::min(count_at_, measure_at_); }

void UsageWatch::Step(Time now) {
  if (now >= count_at_) {
    count_at_ = Time::max();
    CountMemory();
  }
  if (now >= measure_at_) {
    measure_at_ = now + kUsageInterval;
    Measure();
    if (!std::exchange(released_, true)) ReleaseProgramPages();  // it has started: it needs little code now
  }
}

/// What this machine does not allow is logged once, by the server when it starts; if a program is then killed
/// for lack of memory, there is no proof of that.
void UsageWatch::CountMemory() {
  counting_refused_ = !context_.process.CountMemory(context_.manifest).has_value();
}

void UsageWatch::Measure() {
  if (counting_refused_ && before_) once_ = std::exchange(lately_, MemoryAround());
  const UserProcess& process = context_.process;
  v1::Usage& usage = *frame_.mutable_usage();
  usage = meter_.Measure({.cgroup = process.cgroup(),
                          .init = PidOf(process.pidfd()),
                          .own_network = process.has_network(),
                          .memory_limit_bytes = context_.manifest.limits().memory_bytes()});
  *usage.mutable_time() = wire::ToProto(SysTime(std::chrono::system_clock::now()));
  gpus_.reset();  // a sample that is not finished by now is stuck
  const auto& gpus = context_.manifest.devices().gpus();
  if (gpus.empty()) return Send();
  auto probe = GpuProbe::Start({gpus.begin(), gpus.end()});
  if (!probe) return Send();
  gpus_.emplace(std::move(*probe));
}

void UsageWatch::OnReadable() {
  std::optional<v1::Usage> seen = gpus_->Read();
  if (!seen) return;
  gpus_.reset();
  *frame_.mutable_usage()->mutable_gpus() = std::move(*seen->mutable_gpus());
  Send();
}

/// Samples are not kept while the server is away.
void UsageWatch::Send() {
  if (context_.link.attached()) context_.link.Send(frame_);
}

void UsageWatch::Tell(ObservedEnd& end) const {
  const Cgroup& cgroup = context_.process.cgroup();
  end.counts_oom_kills = !counting_refused_;
  end.oom_kills = cgroup.OomKills();
  end.processes_limit = context_.manifest.limits().pids();
  end.processes_refused = cgroup.ProcessesRefused();
  end.memory_bytes = context_.manifest.limits().memory_bytes();
  end.memory_peak_bytes = meter_.PeakMemory(cgroup);
  if (counting_refused_) TellByEnclosingGroup(end);
}

/// Under a cluster's agent the cluster's group limits the slot, and the kernel counts kills there. Other
/// processes may be in that group: so a killed program is taken for one of the counted ones, and a program
/// that failed only if that was recently (one of its processes was killed, and it gave up).
void UsageWatch::TellByEnclosingGroup(ObservedEnd& end) const {
  const bool was_killed =
      end.reported && WIFSIGNALED(end.wait_status) && WTERMSIG(end.wait_status) == SIGKILL;
  const std::optional<EnclosingMemory> before = was_killed ? before_ : once_;
  const std::optional<EnclosingMemory> now = before ? MemoryAround() : std::nullopt;
  if (!now) return;
  end.counts_oom_kills = true;
  end.oom_kills = now->oom_kills - before->oom_kills;
  if (end.oom_kills == 0 || end.memory_bytes > 0 || now->limit_bytes == 0) return;
  end.memory_bytes = now->limit_bytes;
  end.memory_peak_bytes = now->peak_bytes;
}

}  // namespace trainyard::replica
