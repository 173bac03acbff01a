#include "server/metrics_listener.h"

#include <utility>
#include <vector>

#include "api/own/own_handlers.h"

namespace trainyard::server {

namespace {

/// None of its requests has a body.
constexpr std::uint64_t kBodyBytesMax = 1024;

http::Router RoutesOf(const api::MetricsSources& sources, api::Administration& administration) {
  http::Router routes;
  api::MetricsSources nameless = sources;  // clients here must not learn about jobs
  nameless.names_jobs = false;
  const std::vector<api::Source> all{api::Lend(administration), api::Give(std::move(nameless))};
  api::AddAllRoutes(routes, api::Where::kFigures, all);
  return routes;
}

}  // namespace

MetricsListener::MetricsListener(boost::asio::io_context& loop, http::ListeningSocket socket,
                                 const api::MetricsSources& sources, api::Administration& administration,
                                 http::ConnectionBudget& connections)
    : routes_(RoutesOf(sources, administration)),
      server_(loop, routes_, {.body_bytes_max = kBodyBytesMax, .budget = &connections}) {
  server_.ListenTcp(std::move(socket));
}

}  // namespace trainyard::server
