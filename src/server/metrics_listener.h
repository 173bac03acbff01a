#pragma once

#include <memory>
#include <string>

#include "base/result.h"
#include "net/http/listening_socket.h"
#include "net/http/router.h"
#include "net/http/server.h"

namespace boost::asio {
class io_context;
}  // namespace boost::asio

namespace trainyard::api {
class Administration;
struct MetricsSources;
}  // namespace trainyard::api

namespace trainyard::server {

/// `serve --metrics-listen`: /metrics, /healthz and /readyz over plain HTTP for monitoring, at any address,
/// without authentication. That is safe because the answers name no job and no project. Loop thread only; the
/// same lifecycle as http::Server.
class MetricsListener {
 public:
  /// The arguments outlive it.
  MetricsListener(boost::asio::io_context& loop, http::ListeningSocket socket,
                  const api::MetricsSources& sources, api::Administration& administration,
                  http::ConnectionBudget& connections);
  MetricsListener(const MetricsListener&) = delete;
  MetricsListener& operator=(const MetricsListener&) = delete;

  void Stop() { server_.Stop(); }
  [[nodiscard]] std::size_t connection_count() const noexcept { return server_.connection_count(); }

 private:
  http::Router routes_;
  http::Server server_;
};

}  // namespace trainyard::server
