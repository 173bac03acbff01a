#include "control/upkeep/machine_watch.h"

#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <map>
#include <memory>
#include <optional>
#include <system_error>
#include <thread>
#include <utility>

#include "base/async/diagnostics.h"
#include "base/async/file.h"
#include "base/async/on_pool.h"
#include "base/wire/time.h"
#include "base/wire/utf8.h"
#include "control/run/service_log.h"
#include "rules/cluster/task_name.h"

namespace trainyard::control {
namespace {

using control::v1::MachineReport;
using std::chrono::steady_clock;

/// Readings closer together say little about CPUs: the previous value is shown again.
constexpr std::chrono::seconds kShownEvery{1};

/// A directory and its purpose.
struct Place {
  std::string path;
  std::string holds;
};

std::vector<Place> PlacesOf(const MachineWatch::Dependencies& parts) {
  std::vector<Place> places{{parts.data_dir, "data"}};
  for (const auto& [name, folder] : parts.bucket_dirs) places.push_back({folder, "bucket " + name});
  return places;
}

/// Adds one entry for each file system. Blocks. File systems that do not answer are left out.
void AddDisks(AnsweringDisks& answering, const std::vector<Place>& places, MachineReport& report) {
  std::vector<std::string> folders;
  for (const Place& place : places) folders.push_back(place.path);
  const std::vector<std::optional<AnsweringDisks::Space>> spaces = answering.Look(folders);
  std::map<std::uint64_t, MachineReport::Disk*> disks;
  for (std::size_t i = 0; i < places.size(); ++i) {
    if (!spaces[i]) continue;
    const Place& place = places[i];
    MachineReport::Disk*& disk = disks[spaces[i]->device];
    if (disk == nullptr) {
      disk = report.add_disks();
      disk->set_path(wire::ReplaceMalformed(place.path));
      disk->set_bytes(spaces[i]->bytes);
      disk->set_bytes_free(spaces[i]->bytes_free);
    }
    disk->add_holds(place.holds);
  }
}

std::string HostName() {
  std::array<char, 256> name{};
  return gethostname(name.data(), name.size() - 1) == 0 ? wire::ReplaceMalformed(name.data()) : "";
}

/// Values read from files. Blocks.
struct Readings {
  MachineReport report;
  node::MachineFigures figures;
};
Readings Look(AnsweringDisks& disks, const std::vector<Place>& places) {
  Readings looked{.report = {}, .figures = node::ReadMachineFigures()};
  looked.report.set_host_name(HostName());
  looked.report.set_system(
      wire::ReplaceMalformed(node::SystemName(ReadFile("/etc/os-release").value_or(""))));
  looked.report.set_memory_bytes(looked.figures.memory_bytes);
  looked.report.set_memory_bytes_used(looked.figures.memory_bytes - looked.figures.memory_available_bytes);
  AddDisks(disks, places, looked.report);
  return looked;
}

/// The last samples of GPUs that replicas use, by id.
std::map<std::string, replica::v1::Usage::Gpu> HeldGpus(const MachineWatch::Dependencies& parts) {
  std::map<std::string, replica::v1::Usage::Gpu> held;
  parts.jobs.ForEachUnfinished([&](const control::v1::JobRecord& job) {
    for (const control::v1::ReplicaRecord& replica : job.replicas()) {
      if (!replica.slot().agent().empty()) continue;  // a node's GPUs, with the same numbers
      const std::string task = cluster::TaskName(replica.id());
      const auto* latest = parts.usage.Find(LogUid(job), UsageName(job, task));
      if (latest == nullptr) continue;
      for (const replica::v1::Usage::Gpu& gpu : latest->now.usage.gpus()) held[gpu.id()] = gpu;
    }
  });
  return held;
}

bool IsGpu(const placement::Device& device) { return device.kind == placement::Device::Kind::kGpu; }

}  // namespace

MachineWatch::MachineWatch(Dependencies parts)
    : parts_(std::move(parts)), started_(parts_.clock.Now()), tasks_(parts_.loop) {
  tasks_.Spawn(SampleForEver());
}

boost::asio::awaitable<MachineReport> MachineWatch::Report() {
  auto look = [&disks = disks_, places = PlacesOf(parts_)] { return Look(disks, places); };
  Readings looked = co_await OnPool(looking_, std::move(look));
  const steady_clock::time_point now = steady_clock::now();
  if (now - shown_at_ >= kShownEvery) {
    shown_share_ = node::BusyShare(shown_.all_ticks > 0 ? shown_ : sampled_, looked.figures);
    shown_ = looked.figures;
    shown_at_ = now;
  }
  MachineReport report = std::move(looked.report);
  report.set_cpus(parts_.cpus);
  report.set_cpu_utilization(std::max(0.0, shown_share_));
  AddGpus(report);
  *report.mutable_server_start_time() = wire::ToProto(started_);
  report.set_version(parts_.version);
  co_return report;
}

void MachineWatch::AddGpus(MachineReport& report) const {
  const auto held = HeldGpus(parts_);
  for (const placement::Device& device : parts_.devices) {
    if (!IsGpu(device)) continue;
    MachineReport::Gpu& gpu = *report.add_gpus();
    gpu.set_id(device.id);
    gpu.set_type(device.type);
    const auto used = held.find(device.id);
    if (used == held.end()) continue;
    gpu.set_utilization(used->second.utilization());
    gpu.set_memory_bytes(used->second.memory_bytes());
    gpu.set_memory_total_bytes(used->second.memory_total_bytes());
  }
}

/// The mean of all GPUs, unused ones counting as idle; -1: there are none.
double MachineWatch::GpuUtilization() const {
  const auto gpus = std::ranges::count_if(parts_.devices, IsGpu);
  if (gpus == 0) return -1;
  double sum = 0;
  for (const auto& [id, gpu] : HeldGpus(parts_)) sum += gpu.utilization();
  return std::min(1.0, sum / static_cast<double>(gpus));
}

boost::asio::awaitable<Result<control::v1::MachineHistory>> MachineWatch::History(std::chrono::hours hours) {
  const metrics::MachineSpan span = metrics::SpanOf(parts_.clock.Now(), hours);
  TY_CO_TRY(const std::vector<metrics::MachineSample> samples, co_await parts_.usage.ListMachine(span.start));
  const metrics::MachineColumns columns = metrics::ColumnsOf(samples, span);
  control::v1::MachineHistory history;
  *history.mutable_start_time() = wire::ToProto(span.start);
  history.set_step_seconds(span.step.count());
  history.mutable_cpu_utilization()->Add(columns.cpu.begin(), columns.cpu.end());
  history.mutable_memory_utilization()->Add(columns.memory.begin(), columns.memory.end());
  history.mutable_gpu_utilization()->Add(columns.gpu.begin(), columns.gpu.end());
  history.mutable_replicas()->Add(columns.replicas.begin(), columns.replicas.end());
  co_return history;
}

boost::asio::awaitable<void> MachineWatch::SampleForEver() {
  boost::asio::steady_timer timer(parts_.loop);
  for (;;) {
    co_await SampleOnce();
    timer.expires_after(metrics::kMachineSampleEvery);
    co_await timer.async_wait(boost::asio::use_awaitable);
  }
}

boost::asio::awaitable<void> MachineWatch::SampleOnce() {
  const node::MachineFigures figures = co_await OnPool(looking_, node::ReadMachineFigures);
  metrics::MachineSample sample{.time = parts_.clock.Now(),
                                .cpu_utilization = node::BusyShare(sampled_, figures),
                                .memory_utilization = node::MemoryShare(figures),
                                .gpu_utilization = GpuUtilization(),
                                .replicas = static_cast<double>(parts_.jobs.Count().supervisors)};
  sampled_ = figures;
  const Status kept = co_await parts_.usage.AddMachine(sample);
  if (!kept && !failing_)
    Diagnose(DiagnosticLevel::kWarning, "measurements of the machine are lost: " + kept.error().message);
  failing_ = !kept;
}

std::optional<AnsweringDisks::Space> AnsweringDisks::AskKernel(const std::string& folder) {
  struct stat status{};
  struct statvfs space{};
  if (::stat(folder.c_str(), &status) != 0 || ::statvfs(folder.c_str(), &space) != 0) return std::nullopt;
  return Space{.device = status.st_dev,
               .bytes = static_cast<std::int64_t>(space.f_blocks * space.f_frsize),
               .bytes_free = static_cast<std::int64_t>(space.f_bavail * space.f_frsize)};
}

/// The thread owns all that it uses, so it may outlive everything. The future of a promise, unlike that of
/// std::async, does not wait in its destructor.
AnsweringDisks::Answer AnsweringDisks::Begin(const std::string& folder) const {
  auto promise = std::make_shared<std::promise<std::optional<Space>>>();
  Answer answer = promise->get_future().share();
  try {
    std::thread([promise, ask = ask_, folder] { promise->set_value(ask(folder)); }).detach();
  } catch (const std::system_error&) {  // no thread can be started: treated as no answer
    promise->set_value(std::nullopt);
  }
  return answer;
}

std::vector<std::optional<AnsweringDisks::Space>> AnsweringDisks::Look(
    const std::vector<std::string>& folders) {
  const auto deadline = std::chrono::steady_clock::now() + answer_max_;
  for (const std::string& folder : folders)
    if (!asked_.contains(folder)) asked_.emplace(folder, Begin(folder));
  std::vector<std::optional<Space>> spaces;
  for (const std::string& folder : folders) {
    const Answer& asked = asked_.at(folder);
    const bool has_answered = asked.wait_until(deadline) == std::future_status::ready;
    spaces.push_back(has_answered ? asked.get() : std::nullopt);
  }
  std::erase_if(asked_, [](const auto& one) {
    return one.second.wait_for(std::chrono::seconds(0)) == std::future_status::ready;
  });
  return spaces;
}

}  // namespace trainyard::control
