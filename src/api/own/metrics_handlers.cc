#include "api/own/own_handlers.h"

#include <array>
#include <chrono>
#include <initializer_list>
#include <span>

#include "api/ml/job_request.h"
#include "base/async/loop_watch.h"
#include "base/extremes.h"
#include "base/wire/json.h"
#include "base/wire/time.h"
#include "control/job_service.h"
#include "control/run/service_log.h"
#include "net/http/connection_budget.h"
#include "net/http/server_options.h"
#include "net/http/text.h"
#include "rules/cluster/task_name.h"
#include "stores/metrics/prometheus_text.h"
#include "stores/metrics/series.h"
#include "stores/metrics/usage_history.h"

namespace trainyard::api {

namespace {

using metrics::PrometheusText;

Result<SysTime> TimeOf(const Request& request, std::string_view field, SysTime otherwise) {
  const std::string_view text = request.Query(field);
  if (text.empty()) return otherwise;
  Result<SysTime> time = wire::ParseTime(text);
  if (!time) return std::unexpected(InvalidArgument(std::string(field), time.error().message));
  return time;
}

Result<std::vector<const metrics::Metric*>> MetricsOf(const Request& request) {
  std::vector<const metrics::Metric*> wanted;
  const std::string_view type = request.Query("metric");
  for (const metrics::Metric& metric : metrics::Metrics()) {
    if (type.empty() || metric.type == type) wanted.push_back(&metric);
  }
  if (wanted.empty())
    return std::unexpected(InvalidArgument("metric", "There is no metric '" + std::string(type) + "'"));
  return wanted;
}

/// Nothing: all samples become points.
Result<std::optional<std::size_t>> PointsMaxOf(const Request& request) {
  if (!request.HasQuery("maxPoints")) return std::nullopt;
  const std::optional<std::uint64_t> points = http::ParseDecimal(request.Query("maxPoints"));
  if (!points || *points < kExtremesMin || *points > metrics::kThinnedPointsMax)
    return std::unexpected(InvalidArgument("maxPoints", "It must be a number from " +
                                                            std::to_string(kExtremesMin) + " to " +
                                                            std::to_string(metrics::kThinnedPointsMax)));
  return *points;
}

/// One value for each state; `counts` by state.
void PrintStates(std::initializer_list<ml::v1::Job::State> states, std::span<const std::int64_t> counts,
                 PrometheusText& text) {
  for (const ml::v1::Job::State state : states) {
    text.Add({{"state", ml::v1::Job::State_Name(state)}},
             static_cast<double>(counts[static_cast<std::size_t>(state)]));
  }
}

void PrintJobs(const control::Figures& figures, PrometheusText& text) {
  using ml::v1::Job;
  text.Family("trainyard_jobs", "gauge", "Unfinished jobs by state.");
  PrintStates({Job::QUEUED, Job::PREPARING, Job::RUNNING, Job::CANCELLING}, figures.unfinished, text);
  text.Family("trainyard_jobs_created_total", "counter", "Jobs created since the server started.");
  text.Add(static_cast<double>(figures.created));
  text.Family("trainyard_jobs_ended_total", "counter", "Jobs that ended since the server started, by state.");
  PrintStates({Job::SUCCEEDED, Job::FAILED, Job::CANCELLED}, figures.ended, text);
  text.Family("trainyard_queue_length", "gauge", "Jobs that wait for resources.");
  text.Add(static_cast<double>(figures.unfinished.at(static_cast<std::size_t>(ml::v1::Job::QUEUED))));
  text.Family("trainyard_supervisors", "gauge", "Running supervisors of replicas.");
  text.Add(static_cast<double>(figures.supervisors));
  text.Family("trainyard_log_lines_total", "counter",
              "Log lines received from replicas since the server started.");
  text.Add(static_cast<double>(figures.log_lines));
  text.Family("trainyard_log_bytes_total", "counter",
              "Bytes of log lines received from replicas since the server started.");
  text.Add(static_cast<double>(figures.log_bytes));
  text.Family("trainyard_log_bytes_dropped_total", "counter",
              "Bytes of log lines that were discarded since the server started.");
  text.Add(static_cast<double>(figures.log_bytes_dropped));
}

void PrintRequests(const http::RequestCounts& counts, PrometheusText& text) {
  text.Family("trainyard_http_requests_total", "counter", "Requests answered, by class of status.");
  for (std::size_t digit = 2; digit <= 5; ++digit)
    text.Add({{"code", std::to_string(digit) + "xx"}}, static_cast<double>(counts.by_class.at(digit)));
}

void PrintConnections(const http::ConnectionBudget& connections, PrometheusText& text) {
  text.Family("trainyard_http_connections", "gauge", "Clients' connections.");
  text.Add(static_cast<double>(connections.size()));
  text.Family("trainyard_http_connections_closed_total", "counter",
              "Idle connections that were closed so that new ones could be accepted.");
  text.Add(static_cast<double>(connections.closed()));
  text.Family("trainyard_http_connections_refused_total", "counter",
              "Connections refused because all others had a request in flight.");
  text.Add(static_cast<double>(connections.refused()));
}

void PrintLoop(const LoopWatch& loop, PrometheusText& text) {
  const auto seconds = [](LoopWatch::Duration duration) {
    return std::chrono::duration<double>(duration).count();
  };
  text.Family("trainyard_loop_turn_longest_seconds", "gauge",
              "The longest time that one task kept the event loop busy.");
  text.Add(seconds(loop.longest()));
  text.Family("trainyard_loop_stalls_total", "counter",
              "How often a task kept the event loop busy for too long, by task.");
  for (const auto& [cause, stalls] : loop.stalls())
    text.Add({{"cause", cause}}, static_cast<double>(stalls.count));
}

void PrintLimits(const engine::MachineLimits& known, PrometheusText& text) {
  text.Family("trainyard_limit_works", "gauge",
              "1: this machine can limit a replica's use of it; 0: it cannot (docs/your-machine.md).");
  for (const engine::MachineLimits::Limit& limit : known.limits)
    text.Add({{"of", limit.what}}, limit.works ? 1 : 0);
}

void PrintDevices(const engine::LocalEngine::MachineUse& use, PrometheusText& text) {
  text.Family("trainyard_accelerator_healthy", "gauge",
              "1: jobs get this accelerator; 0: it is out of service (docs/accelerators.md).");
  for (const auto& [device, holder, trouble] : use.devices)
    text.Add({{"type", device.type}, {"accelerator", device.id}}, trouble.empty() ? 1 : 0);
}

void PrintNotices(const control::Notifier::Counts& counts, PrometheusText& text) {
  text.Family("trainyard_notices_total", "counter",
              "Deliveries of notices about jobs since the server started, by outcome.");
  text.Add({{"outcome", "delivered"}}, static_cast<double>(counts.delivered));
  text.Add({{"outcome", "failed"}}, static_cast<double>(counts.failed));
  text.Add({{"outcome", "given_up"}}, static_cast<double>(counts.given_up));
}

/// A running replica's last sample, with the labels of its values.
struct ReplicaSample {
  PrometheusText::Labels labels;
  const metrics::UsageHistory::Latest* latest = nullptr;
};

std::vector<ReplicaSample> LivingReplicas(const MetricsSources& sources) {
  std::vector<ReplicaSample> all;
  sources.jobs.ForEachUnfinished([&](const control::v1::JobRecord& job) {
    for (const control::v1::ReplicaRecord& replica : job.replicas()) {
      const std::string task = cluster::TaskName(replica.id());
      const auto* latest = sources.usage.Find(control::LogUid(job), control::UsageName(job, task));
      if (latest == nullptr) continue;
      PrometheusText::Labels labels{{"project", job.project()}, {"job", job.job().job_id()}, {"task", task}};
      if (job.has_trial()) labels.emplace_back("trial", job.trial().trial_id());
      all.push_back({std::move(labels), latest});
    }
  });
  return all;
}

using Read = double (*)(const replica::v1::Usage&);

struct ReplicaFamily {
  std::string_view name;
  std::string_view type;
  std::string_view help;
  Read read;
};

constexpr std::array kReplicaFamilies{
    ReplicaFamily{"trainyard_replica_cpu_seconds_total", "counter", "CPU time of the current attempt.",
                  [](const replica::v1::Usage& usage) { return usage.cpu_seconds(); }},
    ReplicaFamily{"trainyard_replica_cpus", "gauge", "CPUs that the replica may use.",
                  [](const replica::v1::Usage& usage) { return usage.cpus(); }},
    ReplicaFamily{"trainyard_replica_memory_bytes", "gauge", "Memory in use.",
                  [](const replica::v1::Usage& usage) { return static_cast<double>(usage.memory_bytes()); }},
    ReplicaFamily{
        "trainyard_replica_memory_total_bytes", "gauge", "Memory that the replica may use.",
        [](const replica::v1::Usage& usage) { return static_cast<double>(usage.memory_total_bytes()); }},
    ReplicaFamily{
        "trainyard_replica_network_received_bytes_total", "counter",
        "Bytes received, if the replica has an isolated network.",
        [](const replica::v1::Usage& usage) { return static_cast<double>(usage.received_bytes()); }},
    ReplicaFamily{"trainyard_replica_network_sent_bytes_total", "counter",
                  "Bytes sent, if the replica has an isolated network.",
                  [](const replica::v1::Usage& usage) { return static_cast<double>(usage.sent_bytes()); }},
    ReplicaFamily{
        "trainyard_replica_disk_read_bytes_total", "counter", "Bytes read from disks by the current attempt.",
        [](const replica::v1::Usage& usage) { return static_cast<double>(usage.disk_read_bytes()); }},
    ReplicaFamily{
        "trainyard_replica_disk_written_bytes_total", "counter",
        "Bytes written to disks by the current attempt.",
        [](const replica::v1::Usage& usage) { return static_cast<double>(usage.disk_written_bytes()); }},
};

void PrintReplicas(const std::vector<ReplicaSample>& replicas, PrometheusText& text) {
  for (const ReplicaFamily& family : kReplicaFamilies) {
    text.Family(family.name, family.type, family.help);
    for (const ReplicaSample& replica : replicas)
      text.Add(replica.labels, family.read(replica.latest->now.usage));
  }
  text.Family("trainyard_replica_cpu_utilization", "gauge", "Share of the replica's CPUs in use, 0 to 1.");
  for (const ReplicaSample& replica : replicas) {
    const auto& before = replica.latest->before;
    text.Add(replica.labels, metrics::CpuUtilization(before ? &*before : nullptr, replica.latest->now.usage));
  }
}

void PrintAccelerators(const std::vector<ReplicaSample>& replicas, PrometheusText& text) {
  using Gpu = replica::v1::Usage::Gpu;
  const auto print = [&](std::string_view name, std::string_view help, double (*read)(const Gpu&)) {
    text.Family(name, "gauge", help);
    for (const ReplicaSample& replica : replicas) {
      for (const Gpu& gpu : replica.latest->now.usage.gpus()) {
        PrometheusText::Labels labels = replica.labels;
        labels.emplace_back("gpu", gpu.id());
        text.Add(labels, read(gpu));
      }
    }
  };
  print("trainyard_replica_accelerator_utilization",
        "Share of the time that the accelerator was in use, 0 to 1.",
        [](const Gpu& gpu) { return gpu.utilization(); });
  print("trainyard_replica_accelerator_memory_bytes", "Memory in use.",
        [](const Gpu& gpu) { return static_cast<double>(gpu.memory_bytes()); });
  print("trainyard_replica_accelerator_memory_total_bytes", "Total memory of the accelerator.",
        [](const Gpu& gpu) { return static_cast<double>(gpu.memory_total_bytes()); });
}

}  // namespace

awaitable<Result<Response>> ListSeries(const MetricsSources& sources, Request& request) {
  TY_CO_TRY(const std::optional<std::size_t> points_max, PointsMaxOf(request));
  TY_CO_TRY(std::vector<const metrics::Metric*> wanted, MetricsOf(request));
  metrics::SampleQuery query{.task_name = std::string(request.Query("replica"))};
  TY_CO_TRY(query.begin, TimeOf(request, "startTime", SysTime{}));
  TY_CO_TRY(query.end, TimeOf(request, "endTime", SysTime::max()));
  TY_CO_TRY(control::v1::JobRecord job, co_await sources.jobs.Record(JobNameOf(request)));
  query.job_uid = job.uid();
  if (points_max) {
    metrics::ThinnedQuery thinned{.project = job.project(),
                                  .job_id = job.job().job_id(),
                                  .metrics = std::move(wanted),
                                  .points_max = *points_max};
    TY_CO_TRY(std::string answer, co_await sources.usage.PrintThinned(std::move(query), std::move(thinned)));
    co_return Response::Json(std::move(answer));
  }
  TY_CO_TRY(std::vector<metrics::Sample> samples, co_await sources.usage.List(std::move(query)));
  std::vector<metrics::Series> all;
  for (const metrics::Metric* metric : wanted) {
    for (metrics::Series& series : metrics::SeriesOf(*metric, samples)) all.push_back(std::move(series));
  }
  co_return Response::Json(metrics::PrintSeries(job.project(), job.job().job_id(), all));
}

Result<Response> PrintMetrics(const MetricsSources& sources, Request&) {
  PrometheusText text;
  PrintJobs(sources.jobs.Count(), text);
  PrintRequests(sources.requests, text);
  PrintConnections(sources.connections, text);
  PrintLoop(sources.loop, text);
  PrintLimits(sources.limits(), text);
  PrintDevices(sources.use(), text);
  if (sources.notices) PrintNotices(sources.notices(), text);
  if (sources.names_jobs) {
    const std::vector<ReplicaSample> replicas = LivingReplicas(sources);
    PrintReplicas(replicas, text);
    PrintAccelerators(replicas, text);
  }
  Response response = Response::Text(text.Take());
  response.headers.Set("Content-Type", std::string(metrics::kPrometheusContentType));
  return response;
}

}  // namespace trainyard::api
