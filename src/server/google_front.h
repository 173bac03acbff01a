#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <string>

#include "base/result.h"
#include "control/settings.h"
#include "http/server_options.h"
#include "http/tls_identity.h"

namespace boost::asio {
class io_context;
}  // namespace boost::asio

namespace trainyard {
class Clock;
}  // namespace trainyard

namespace trainyard::control {
class TokenService;
}  // namespace trainyard::control

namespace trainyard::front {
class RealBuckets;
}  // namespace trainyard::front

namespace trainyard::http {
class Router;
}  // namespace trainyard::http

namespace trainyard::storage {
class Buckets;
}  // namespace trainyard::storage

namespace trainyard::server {

class DataDirectory;

/// This server under Google's host names, for replicas: TLS on port 443 and the metadata server on port 80 of
/// a loopback address of its own, and both as Unix sockets for replicas with a network of their own. Loop
/// thread; the same lifecycle as http::Server. docs/adr/0012-google-front.md.
class GoogleFront {
 public:
  struct Setup {
    boost::asio::io_context& loop;
    const http::Router& api;  ///< what replicas have of it
    storage::Buckets& buckets;
    control::TokenService& tokens;
    const Clock& clock;
    const DataDirectory& data;
    std::string project;
    http::TlsIdentity identity;  ///< has front::kTlsHosts
    http::ServerOptions options;
    front::RealBuckets* real_buckets = nullptr;           ///< nullptr: all buckets are ours
    std::map<std::string, std::string> bucket_dirs = {};  ///< those whose folders are elsewhere
  };

  /// Opens what can be opened, and writes into `settings` what replicas are told of it. A port that cannot be
  /// had is said to the operator, and no error. Errors: the data directory's.
  [[nodiscard]] static Result<std::unique_ptr<GoogleFront>> Open(const Setup& setup,
                                                                 control::Settings& settings);
  ~GoogleFront();

  void Stop();
  [[nodiscard]] std::size_t connection_count() const noexcept;

 private:
  struct State;
  explicit GoogleFront(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace trainyard::server
