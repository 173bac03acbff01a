#pragma once

#include <vector>

#include "api/route.h"
#include "base/result.h"
#include "base/tls/tls_identity.h"
#include "control/run/token_service.h"
#include "engine/local/google_front_files.h"
#include "net/access/door.h"
#include "net/front/real_buckets.h"
#include "net/http/server.h"

namespace trainyard::api {

/// Serves this server's API under Google's host names, for replicas or for `trainyard with`: TLS on port 443
/// and the metadata server on port 80 of a separate loopback address. Loop thread.
/// docs/adr/0012-google-front.md.
class GoogleFront {
 public:
  /// Clients of Google's own libraries send both a length and chunks.
  static constexpr http::FramingRules kRules = http::FramingRules::kChunkedWins;

  struct Setup {
    const http::Router& api;      ///< the routes for its callers
    std::vector<Source> sources;  ///< for the routes of storage and of the metadata server
    control::TokenService& tokens;
    tls::TlsIdentity identity;  ///< has front::kTlsHosts and kUsersHosts
    http::ServerOptions options;
    front::RealBuckets* real_buckets = nullptr;  ///< nullptr: all buckets are ours
    access::Door* door = nullptr;                ///< nullptr: every client may do everything
  };
  GoogleFront(boost::asio::io_context& loop, const Setup& setup);
  GoogleFront(const GoogleFront&) = delete;
  GoogleFront& operator=(const GoogleFront&) = delete;

  /// Errors: those of TLS.
  [[nodiscard]] Status Listen(engine::FrontSockets sockets);
  [[nodiscard]] http::Server& server() noexcept { return server_; }
  [[nodiscard]] const tls::TlsIdentity& identity() const noexcept { return identity_; }

 private:
  const tls::TlsIdentity identity_;
  http::Router storage_;
  http::Router metadata_;
  const http::Router router_;
  http::Server server_;
};

}  // namespace trainyard::api
