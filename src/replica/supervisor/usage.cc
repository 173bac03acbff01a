#include "replica/supervisor/usage.h"

#include <sys/sysinfo.h>
#include <unistd.h>

#include <algorithm>
#include <string>
#include <vector>

#include "base/async/file.h"
#include "programs/sandbox/cgroups/descendants.h"
#include "programs/sandbox/cgroups/proc_figures.h"
#include "programs/sandbox/namespaces/device_files.h"

namespace trainyard::replica {

namespace {

std::string Proc(pid_t pid, const char* file) { return "/proc/" + std::to_string(pid) + "/" + file; }

std::vector<pid_t> Processes(const UsageSource& source) {
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

UsageMeter::UsageMeter() : cpus_(CpuCount()) {}

v1::Usage UsageMeter::Measure(const UsageSource& source) {
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
  // The cgroup counts shared pages once; one that was joined late does not know what was there before.
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

}  // namespace trainyard::replica
