#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>

#include "api/iam/identity_handlers.h"
#include "api/metadata/metadata_handlers.h"
#include "base/result.h"
#include "base/tls/tls_identity.h"
#include "net/front/host_dispatch.h"
#include "net/http/server_options.h"
#include "server/bound_sockets.h"
#include "trainyard/replica/v1/replica.pb.h"

namespace boost::asio {
class io_context;
}  // namespace boost::asio

namespace trainyard {
class Clock;
}  // namespace trainyard

namespace trainyard::access {
class Door;
}  // namespace trainyard::access

namespace trainyard::control {
class TokenService;
}  // namespace trainyard::control

namespace trainyard::front {
class RealBuckets;
}  // namespace trainyard::front

namespace trainyard::http {
class Router;
}  // namespace trainyard::http

namespace trainyard::identity {
class Identities;
}  // namespace trainyard::identity

namespace trainyard::storage {
class Buckets;
}  // namespace trainyard::storage

namespace trainyard::sockets {
class KeptSockets;
}  // namespace trainyard::sockets

namespace trainyard::server {

/// Writes the files that replicas read about the front, and returns what they are told about it. If /gcs is
/// used for something else, the operator is told; it is no error. Call it before there are other threads.
/// Errors: those of the data directory.
[[nodiscard]] Result<replica::v1::GoogleFront> PrepareGoogleFront(const ServeOptions& options,
                                                                  const store::DataDirectory& data,
                                                                  const BoundSockets& sockets);

/// The function for front::Services::may_pass_on; null without a door. The door outlives the result.
[[nodiscard]] front::MayPassOn MayPassOn(access::Door* door);

/// Serves this server's API under Google's host names, for replicas or for `trainyard with`: TLS on port 443
/// and the metadata server on port 80 of a separate loopback address. Loop thread; the same lifecycle as
/// http::Server. docs/adr/0012-google-front.md.
class GoogleFront {
 public:
  struct Setup {
    boost::asio::io_context& loop;
    const http::Router& api;  ///< the routes for its callers
    storage::Buckets& buckets;
    identity::Identities& identities;
    control::TokenService& tokens;
    const Clock& clock;
    api::MetadataAnswers metadata;
    tls::TlsIdentity identity;  ///< has front::kTlsHosts
    http::ServerOptions options;
    front::RealBuckets* real_buckets = nullptr;  ///< nullptr: all buckets are ours
    access::Door* door = nullptr;                ///< nullptr: every client may do everything
    api::TokenNames token_names{};               ///< used with a door
  };

  /// Listens on the sockets, if there are some. Errors: those of TLS.
  [[nodiscard]] static Result<std::unique_ptr<GoogleFront>> Open(const Setup& setup,
                                                                 std::optional<BoundSockets::Front> sockets);
  ~GoogleFront();

  /// Also listens on two Unix sockets, for replicas with an isolated network. Errors: those of the data
  /// directory.
  [[nodiscard]] Status ListenUnix(const store::DataDirectory& data, sockets::KeptSockets& kept);

  /// As http::Server::Adopt.
  bool Adopt(UniqueFd socket, http::Peer peer, bool with_tls);
  void Stop(std::chrono::milliseconds idle_wait);
  [[nodiscard]] std::size_t connection_count() const noexcept;

 private:
  struct State;
  explicit GoogleFront(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace trainyard::server
