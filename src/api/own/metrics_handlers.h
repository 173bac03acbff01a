#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/async/loop_watch.h"
#include "control/job_service.h"
#include "net/http/connection_budget.h"
#include "net/http/router.h"
#include "net/http/server_options.h"
#include "stores/metrics/usage_history.h"

namespace trainyard::api {

/// The sources of the figures. All outlive the router.
struct MetricsSources {
  control::JobService& jobs;
  metrics::UsageHistory& usage;
  const http::RequestCounts& requests;
  const http::ConnectionBudget& connections;
  const LoopWatch& loop;
  /// What this machine can limit for replicas: "memory", "CPUs", "processes".
  struct Limit {
    std::string of;
    bool works = false;
  };
  std::function<std::vector<Limit>()> limits;  ///< what is known now
};

/// GET /metrics without the families that name jobs: for who may not know them.
void AddNamelessMetricsRoute(http::Router& router, MetricsSources sources);

/// GET /metrics (Prometheus' text format) and GET /trainyard/v1/projects/P/jobs/J/metrics, which answers as
/// Cloud Monitoring's timeSeries.list: query `metric` (one of metrics::Metrics(); all without it), `replica`
/// (a task name), `startTime` and `endTime` (RFC 3339), `maxPoints` (of each series: thinned, of all
/// samples).
void AddMetricsRoutes(http::Router& router, MetricsSources sources);

/// POST /trainyard/v1/projects/P/jobs/J:maintain {"replica": "worker-replica-0"}: JobService::Maintain.
void AddMaintenanceRoute(http::Router& router, control::JobService& jobs);

}  // namespace trainyard::api
