#include "control/upkeep/use_keeper.h"

#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <map>
#include <set>
#include <span>
#include <utility>

#include "base/async/diagnostics.h"
#include "base/async/file.h"
#include "base/async/on_pool.h"
#include "base/wire/json.h"
#include "base/wire/time.h"
#include "rules/placement/project_use.h"
#include "stores/logs/log_reader.h"
#include "stores/storage/byte_meter.h"

namespace trainyard::control {

namespace {

using control::v1::ProjectUseTable;
using control::v1::UsageReport;
using Uses = std::map<std::string, placement::ProjectUse>;

constexpr mode_t kOwnersAlone = 0600;

void Write(const placement::ProjectUse& use, control::v1::ProjectUse& out) {
  out.set_accelerator_seconds(use.accelerator_seconds);
  out.set_cpu_seconds(use.cpu_seconds);
  if (use.last_admitted) *out.mutable_last_admitted() = wire::ToProto(*use.last_admitted);
}

placement::ProjectUse Read(const control::v1::ProjectUse& use) {
  placement::ProjectUse read{.accelerator_seconds = use.accelerator_seconds(),
                             .cpu_seconds = use.cpu_seconds(),
                             .last_admitted = {}};
  if (use.has_last_admitted()) read.last_admitted = wire::FromProto(use.last_admitted());
  return read;
}

/// The job's resources on this machine: those with an agent are a cluster's.
placement::Holding HoldingOf(const control::v1::JobRecord& job) {
  placement::Holding holding;
  for (const control::v1::ReplicaRecord& replica : job.replicas()) {
    if (!replica.slot().agent().empty()) continue;
    const replica::v1::Devices& devices = replica.slot().devices();
    holding.cpus += replica.cpus();
    holding.accelerators += devices.gpus_size() + (devices.tpu_node_name().empty() ? 0 : 1);
  }
  return holding;
}

/// The use according to the jobs' own times.
Uses Recompute(const std::vector<control::v1::JobRecord>& jobs, SysTime now) {
  Uses uses;
  for (const control::v1::JobRecord& job : jobs) {
    if (!job.job().has_start_time()) continue;
    const SysTime start = wire::FromProto(job.job().start_time());
    const SysTime end = job.job().has_end_time() ? wire::FromProto(job.job().end_time()) : now;
    const placement::ProjectUse past = placement::PastUse(HoldingOf(job), start, end, now);
    placement::ProjectUse& use = uses[job.project()];
    use.accelerator_seconds += past.accelerator_seconds;
    use.cpu_seconds += past.cpu_seconds;
    use.last_admitted = std::max(use.last_admitted.value_or(start), start);
  }
  return uses;
}

/// Nothing: the file is lost, or damaged.
std::optional<ProjectUseTable> ReadTable(const std::string& file) {
  const Result<std::string> text = ReadFile(file);
  if (!text && text.error().code == Code::kNotFound) return std::nullopt;
  ProjectUseTable table;
  const Status parsed = text ? wire::ParseJson(*text, table) : Status(std::unexpected(text.error()));
  if (parsed && table.has_time()) return table;
  Diagnose(DiagnosticLevel::kWarning, file + " cannot be read" +
                                          (parsed ? std::string() : ": " + parsed.error().message) +
                                          "; the projects' past use is computed from their jobs");
  return std::nullopt;
}

void Restore(engine::LocalEngine& engine, const std::string& file, store::JobStore& jobs, SysTime now) {
  if (const std::optional<ProjectUseTable> table = ReadTable(file)) {
    Uses uses;
    for (const control::v1::ProjectUse& use : table->projects()) uses[use.project()] = Read(use);
    return engine.shares().Restore(uses, wire::FromProto(table->time()));
  }
  const auto newest = jobs.Newest(UseKeeper::kRecordsMax);
  if (!newest) {
    Diagnose(DiagnosticLevel::kWarning,
             "the projects' past use is not known: " + newest.error().message + "; all projects start equal");
    return;
  }
  engine.shares().Restore(Recompute(*newest, now), now);
}

void AddQuotas(std::span<const placement::QuotaLimit> limits,
               google::protobuf::RepeatedPtrField<UsageReport::Quota>& out) {
  for (const placement::QuotaLimit& limit : limits) {
    UsageReport::Quota& quota = *out.Add();
    quota.set_subject(limit.subject);
    quota.set_resource(limit.resource);
    quota.set_limit(limit.limit);
    quota.set_engine(limit.engine);
  }
}

UsageReport::Machine MachineOf(const engine::LocalEngine::MachineUse& use) {
  UsageReport::Machine machine;
  machine.set_cpus(use.capacity.cpus);
  machine.set_cpus_held(use.cpus_held);
  machine.set_memory_bytes(use.capacity.memory_bytes);
  machine.set_memory_bytes_held(use.memory_bytes_held);
  for (const auto& [device, holder, trouble] : use.devices) {
    UsageReport::Device& shown = *machine.add_devices();
    shown.set_type(device.type);
    shown.set_index(device.id);
    if (!holder) continue;
    shown.set_project(holder->project);
    shown.set_job_id(holder->job_id);
  }
  return machine;
}

}  // namespace

std::shared_ptr<storage::ByteMeter> MakeByteMeter(
    const placement::Quotas& quotas, std::function<std::string(const std::string& bucket)> project_of) {
  if (!quotas.Limits(placement::kBucketBytesQuota)) return nullptr;
  auto limit_of = [&quotas](const std::string& project) -> std::optional<storage::ByteMeter::Limit> {
    const auto limit = quotas.Of(placement::ProjectSubject(project), placement::kBucketBytesQuota);
    if (!limit) return std::nullopt;
    return storage::ByteMeter::Limit{.bytes = limit->limit, .quota = "--quota " + limit->Text()};
  };
  storage::ByteMeter::Rules rules{.project_of = std::move(project_of), .limit_of = std::move(limit_of)};
  return std::make_shared<storage::ByteMeter>(std::move(rules));
}

UseKeeper::UseKeeper(boost::asio::any_io_executor loop, Dependencies parts, store::JobStore& jobs)
    : parts_(std::move(parts)), ended_(loop), tasks_(std::in_place, loop) {
  Restore(parts_.engine, parts_.file, jobs, parts_.clock.Now());
  if (parts_.meter)
    bytes_.buckets = [meter = parts_.meter](const std::string& project) { return meter->OfProject(project); };
  parts_.engine.shares().OnUse([this] { ended_.Set(); });
  tasks_->Spawn(WriteForEver());
  tasks_->Spawn(MeasureForEver());
}

UseKeeper::~UseKeeper() {
  parts_.engine.shares().OnUse(nullptr);
  tasks_.reset();  // nothing else writes the file from here on
  const Status written = WriteFileAtomically(parts_.file, Print(), kOwnersAlone);
  if (!written)
    Diagnose(DiagnosticLevel::kWarning, "the projects' past use is not stored: " + written.error().message);
}

std::string UseKeeper::Print() const {
  ProjectUseTable table;
  *table.mutable_time() = wire::ToProto(parts_.clock.Now());
  for (const auto& [project, use] : parts_.engine.shares().Use()) {
    control::v1::ProjectUse& row = *table.add_projects();
    Write(use, row);
    row.set_project(project);
  }
  return wire::PrintJson(table);
}

boost::asio::awaitable<void> UseKeeper::WriteForEver() {
  while (true) {
    const bool ended = co_await ended_.WaitFor(kWritePause);
    ended_.Reset();
    if (!ended && parts_.engine.shares().is_idle()) continue;  // the use only decays
    auto write = [file = parts_.file, text = Print()] {
      return WriteFileAtomically(file, text, kOwnersAlone);
    };
    const Status kept = co_await OnPool(parts_.files, std::move(write));
    if (!kept)
      Diagnose(DiagnosticLevel::kWarning, "the projects' past use is not stored: " + kept.error().message);
    boost::asio::steady_timer gather(co_await boost::asio::this_coro::executor, kGatherPause);
    co_await gather.async_wait(boost::asio::use_awaitable);
  }
}

/// Measures buckets only if a quota counts them: it reads all their directories.
boost::asio::awaitable<void> UseKeeper::MeasureForEver() {
  boost::asio::steady_timer timer(co_await boost::asio::this_coro::executor);
  while (true) {
    Result<std::map<std::string, std::int64_t>> logs =
        co_await parts_.logs.Read([](logs::LogReader& reader) { return reader.ProjectBytes(); });
    if (logs) bytes_.logs = *std::move(logs);
    if (parts_.meter) co_await MeasureOnce();
    timer.expires_after(kMeasurePause);
    co_await timer.async_wait(boost::asio::use_awaitable);
  }
}

boost::asio::awaitable<void> UseKeeper::MeasureOnce() {
  auto measure = [buckets = parts_.buckets] { return storage::MeasureBuckets(buckets); };
  Result<std::map<std::string, std::int64_t>> measured = co_await OnPool(measuring_, std::move(measure));
  if (measured) {
    parts_.meter->Set(*std::move(measured));
  } else {
    Diagnose(DiagnosticLevel::kWarning, "buckets are not measured: " + measured.error().message);
  }
}

void UseKeeper::AddMachine(UsageReport& report) const {
  const engine::ProjectShares& shares = parts_.engine.shares();
  const engine::ProjectShares::Uses uses = shares.Use();
  *report.mutable_time() = wire::ToProto(parts_.clock.Now());
  *report.mutable_machine() = MachineOf(parts_.engine.Occupancy());
  std::map<std::string, std::int64_t> buckets;
  if (parts_.meter) buckets = parts_.meter->ByProject();
  std::set<std::string> names;
  for (const auto& [name, use] : uses) names.insert(name);
  for (const auto& [name, bytes] : buckets) names.insert(name);
  for (const auto& [name, bytes] : bytes_.logs) names.insert(name);
  for (const auto& job : report.jobs()) names.insert(job.project());
  for (const std::string& name : names) {
    UsageReport::Project& out = *report.add_projects();
    out.set_project(name);
    if (const auto known = uses.find(name); known != uses.end()) {
      Write(known->second, *out.mutable_use());
      out.set_share(shares.PartOf(name));
    }
    out.set_weight(shares.WeightOf(name));
    const auto logs = bytes_.logs.find(name);
    out.set_log_bytes(logs == bytes_.logs.end() ? 0 : logs->second);
    const auto kept = buckets.find(name);
    out.set_bucket_bytes(kept == buckets.end() ? 0 : kept->second);
    AddQuotas(parts_.quotas.AllOf(placement::ProjectSubject(name)), *out.mutable_quotas());
  }
  std::vector<placement::QuotaLimit> principals = parts_.quotas.all();
  std::erase_if(principals, [](const placement::QuotaLimit& limit) {
    return limit.subject.starts_with(placement::kProjectKind);
  });
  AddQuotas(principals, *report.mutable_principal_quotas());
}

}  // namespace trainyard::control
