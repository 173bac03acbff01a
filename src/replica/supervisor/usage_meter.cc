#include "replica/supervisor/usage_meter.h"

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
#include <utility>

#include "base/async/file.h"
#include "base/process/kernel_calls.h"
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

}  // namespace trainyard::replica
