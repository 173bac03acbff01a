#include "replica/supervisor/usage_watch.h"

#include <sys/wait.h>

#include <algorithm>
#include <csignal>
#include <string>
#include <utility>

#include "base/wire/time.h"

namespace trainyard::replica {

namespace {

using std::chrono::milliseconds;

/// When what the program uses is measured for the first time, and how often then.
constexpr milliseconds kFirstUsageAfter{1'000};
constexpr milliseconds kUsageInterval{10'000};
/// Shorter runs are not worth a cgroup.
constexpr milliseconds kCountMemoryAfter{100};

}  // namespace

UsageWatch::UsageWatch(Around around, Time now) : around_(around), measure_at_(now + kFirstUsageAfter) {
  counting_refused_ = !around_.process.cgroup().counts_memory();
  if (counting_refused_) kills_before_ = kills_once_ = kills_lately_ = EnclosingOomKills();
  if (!around_.process.cgroup().path().empty()) return;
  counting_refused_ = around_.manifest.limits().memory_bytes() > 0;  // when its limits were made
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
  }
}

/// What this machine does not allow is said once, by the server when it starts; a program that is killed for
/// want of memory then ends without a proof of that.
void UsageWatch::CountMemory() {
  counting_refused_ = !around_.process.CountMemory(around_.manifest).has_value();
}

void UsageWatch::Measure() {
  if (counting_refused_ && kills_before_) kills_once_ = std::exchange(kills_lately_, EnclosingOomKills());
  const UserProcess& process = around_.process;
  v1::Usage& usage = *frame_.mutable_usage();
  usage = meter_.Measure({.cgroup = process.cgroup(),
                          .init = PidOf(process.pidfd()),
                          .own_network = process.has_network(),
                          .memory_limit_bytes = around_.manifest.limits().memory_bytes()});
  *usage.mutable_time() = wire::ToProto(SysTime(std::chrono::system_clock::now()));
  gpus_.reset();  // one that has not answered by now is stuck
  const auto& gpus = around_.manifest.devices().gpus();
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

/// Figures are not kept for a server that is away.
void UsageWatch::Send() {
  if (around_.link.attached()) around_.link.Send(frame_);
}

void UsageWatch::Tell(ObservedEnd& end) const {
  const Cgroup& cgroup = around_.process.cgroup();
  end.counts_oom_kills = !counting_refused_;
  end.oom_kills = cgroup.OomKills();
  if (counting_refused_) TellByEnclosingGroup(end);
  end.processes_limit = around_.manifest.limits().pids();
  end.processes_refused = cgroup.ProcessesRefused();
  end.memory_bytes = around_.manifest.limits().memory_bytes();
  end.memory_peak_bytes = meter_.PeakMemory(cgroup);
}

/// Below a cluster's agent the cluster's group bounds the slot, and the kernel counts there. Others may be in
/// that group: so a program that was killed itself is taken for one of those that were counted, and another
/// one that failed only if that was lately (a process of its own was killed, and it gave up).
void UsageWatch::TellByEnclosingGroup(ObservedEnd& end) const {
  const bool was_killed =
      end.reported && WIFSIGNALED(end.wait_status) && WTERMSIG(end.wait_status) == SIGKILL;
  const std::optional<std::int64_t> before = was_killed ? kills_before_ : kills_once_;
  const std::optional<std::int64_t> now = before ? EnclosingOomKills() : std::nullopt;
  if (!now) return;
  end.counts_oom_kills = true;
  end.oom_kills = *now - *before;
}

}  // namespace trainyard::replica
