#include "replica/supervisor/usage_watch.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/sysinfo.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include "base/async/file.h"
#include "base/process/kernel_calls.h"
#include "base/wire/time.h"
#include "programs/node/nvml_usage.h"
#include "programs/sandbox/cgroups/proc_figures.h"
#include "programs/sandbox/namespaces/device_files.h"

namespace trainyard::replica {

namespace {

/// Runs in the sampling process: keeps only the pipe of the supervisor's descriptors, and above all not the
/// attempt's lock.
[[noreturn]] void Look(int pipe, const std::vector<std::string>& gpus) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  prctl(PR_SET_NAME, "trainyard-gpu");
  constexpr int kPipe = 3;
  if (pipe != kPipe) dup2(pipe, kPipe);
  close_range(kPipe + 1, ~0U, 0);
  v1::Usage usage;
  if (const auto answer = node::AskNvmlUsage(NvmlLibrary(), gpus)) {
    for (const node::GpuUsage& one : *answer) {
      v1::Usage::Gpu& gpu = *usage.add_gpus();
      gpu.set_id(one.id);
      gpu.set_utilization(one.utilization);
      gpu.set_memory_bytes(one.memory_bytes);
      gpu.set_memory_total_bytes(one.memory_total_bytes);
    }
  }
  _exit(WriteAll(kPipe, usage.SerializeAsString()) ? 0 : 1);
}

std::string Proc(pid_t pid, const char* file) { return "/proc/" + std::to_string(pid) + "/" + file; }

std::vector<pid_t> Processes(const MeasuredProcess& source) {
  if (source.cgroup.path().empty()) return Descendants(getpid());
  std::vector<pid_t> pids = source.cgroup.Processes();
  if (source.init > 0 && std::ranges::find(pids, source.init) == pids.end()) pids.push_back(source.init);
  return pids;
}

std::int64_t MachineMemory() {
  struct sysinfo info{};
  return sysinfo(&info) == 0 ? static_cast<std::int64_t>(info.totalram) * info.mem_unit : 0;
}

using std::chrono::milliseconds;

/// The time of the first measurement, and the interval between later ones.
constexpr milliseconds kFirstUsageAfter{1'000};
constexpr milliseconds kUsageInterval{10'000};
/// Shorter runs are not worth a cgroup.
constexpr milliseconds kCountMemoryAfter{100};

}  // namespace

Result<GpuProbe> GpuProbe::Start(const std::vector<std::string>& gpus) {
  TY_TRY(Pipe pipe, MakePipe());
  fcntl(pipe.read.get(), F_SETFL, O_NONBLOCK);
  const pid_t pid = fork();  // we are single-threaded: the child can use the heap
  if (pid < 0) return std::unexpected(ErrnoError(errno, "fork"));
  if (pid == 0) Look(pipe.write.get(), gpus);
  return GpuProbe(pid, std::move(pipe.read));
}

GpuProbe::GpuProbe(GpuProbe&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)),
      pipe_(std::move(other.pipe_)),
      bytes_(std::move(other.bytes_)),
      answered_(other.answered_) {}

GpuProbe::~GpuProbe() {
  if (pid_ <= 0) return;
  if (!answered_) kill(pid_, SIGKILL);
  // A process that hangs in the driver cannot be killed: it is not waited for.
  while (waitpid(pid_, nullptr, answered_ ? 0 : WNOHANG) < 0 && errno == EINTR) {
  }
}

std::optional<v1::Usage> GpuProbe::Read() {
  std::array<char, 4096> buffer;  // NOLINT(*-member-init): filled by read
  ssize_t size = 0;
  while ((size = read(pipe_.get(), buffer.data(), buffer.size())) > 0)
    bytes_.append(buffer.data(), static_cast<std::size_t>(size));
  if (size < 0 && (errno == EAGAIN || errno == EINTR)) return std::nullopt;
  answered_ = true;
  v1::Usage usage;
  if (!usage.ParseFromString(bytes_)) usage.Clear();
  return usage;
}

std::string NvmlLibrary() {
  const char* path = std::getenv("TRAINYARD_NVML");
  return path != nullptr ? path : "libnvidia-ml.so.1";
}

UsageMeter::UsageMeter() : cpus_(CpuCount()) {}

v1::Usage UsageMeter::Measure(const MeasuredProcess& source) {
  ProcessFigures sum;
  DiskFigures disk;
  for (const pid_t pid : Processes(source)) {
    const auto stat = ReadFile(Proc(pid, "stat"));
    if (!stat) continue;  // it has just ended
    const ProcessFigures one = ParseProcessStat(*stat);
    sum.cpu_ticks += one.cpu_ticks;
    sum.resident_pages += one.resident_pages;
    const auto io = ReadFile(Proc(pid, "io"));
    const DiskFigures of_disk = ParseProcessIo(io ? *io : "");
    disk.read_bytes += of_disk.read_bytes;
    disk.written_bytes += of_disk.written_bytes;
  }
  disk_read_bytes_ = std::max(disk_read_bytes_, disk.read_bytes);
  disk_written_bytes_ = std::max(disk_written_bytes_, disk.written_bytes);
  cpu_seconds_ =
      std::max(cpu_seconds_, static_cast<double>(sum.cpu_ticks) / static_cast<double>(sysconf(_SC_CLK_TCK)));
  // The cgroup counts shared pages once; one that was joined late does not count what was there before.
  const std::int64_t memory =
      std::max(source.cgroup.MemoryBytes(),
               source.cgroup.counts_all() ? 0 : sum.resident_pages * sysconf(_SC_PAGESIZE));
  peak_bytes_ = std::max(peak_bytes_, memory);
  v1::Usage usage;
  usage.set_cpu_seconds(cpu_seconds_);
  usage.set_cpus(cpus_);
  usage.set_memory_bytes(memory);
  usage.set_memory_total_bytes(source.memory_limit_bytes > 0 ? source.memory_limit_bytes : MachineMemory());
  usage.set_disk_read_bytes(disk_read_bytes_);
  usage.set_disk_written_bytes(disk_written_bytes_);
  if (source.own_network && source.init > 0) {
    const auto devices = ReadFile(Proc(source.init, "net/dev"));
    const NetworkFigures network = ParseNetworkDevices(devices ? *devices : "");
    usage.set_received_bytes(network.received_bytes);
    usage.set_sent_bytes(network.sent_bytes);
  }
  return usage;
}

std::int64_t UsageMeter::PeakMemory(const Cgroup& cgroup) const {
  return std::max(peak_bytes_, cgroup.PeakMemoryBytes());
}

pid_t PidOf(int pidfd) {
  const auto text = ReadFile("/proc/self/fdinfo/" + std::to_string(pidfd));
  const std::int64_t pid = text ? FindFigure(*text, "Pid:") : 0;
  return pid > 0 ? static_cast<pid_t>(pid) : -1;
}

UsageWatch::UsageWatch(Context context, Time now) : context_(context), measure_at_(now + kFirstUsageAfter) {
  counting_refused_ = !context_.process.cgroup().counts_memory();
  if (counting_refused_) kills_before_ = kills_once_ = kills_lately_ = EnclosingOomKills();
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
  }
}

/// What this machine does not allow is logged once, by the server when it starts; if a program is then killed
/// for lack of memory, there is no proof of that.
void UsageWatch::CountMemory() {
  counting_refused_ = !context_.process.CountMemory(context_.manifest).has_value();
}

void UsageWatch::Measure() {
  if (counting_refused_ && kills_before_) kills_once_ = std::exchange(kills_lately_, EnclosingOomKills());
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
  if (counting_refused_) TellByEnclosingGroup(end);
  end.processes_limit = context_.manifest.limits().pids();
  end.processes_refused = cgroup.ProcessesRefused();
  end.memory_bytes = context_.manifest.limits().memory_bytes();
  end.memory_peak_bytes = meter_.PeakMemory(cgroup);
}

/// Under a cluster's agent the cluster's group limits the slot, and the kernel counts kills there. Other
/// processes may be in that group: so a killed program is taken for one of the counted ones, and a program
/// that failed only if that was recently (one of its processes was killed, and it gave up).
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
