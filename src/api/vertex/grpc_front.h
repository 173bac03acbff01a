#pragma once

#include <boost/asio/awaitable.hpp>
#include <functional>
#include <memory>

#include "net/http/channel.h"
#include "net/http/router.h"
#include "net/http/server_options.h"

namespace trainyard::api {

/// Serves the gRPC calls of Google's clients: a call is the request of the route whose method it names
/// (VertexRoutes), so login, rights, quotas and errors are those of REST. The message is the path, the query
/// and the body, as google.api.http would map them. For ServerOptions::http2; `router` outlives it. Loop
/// thread. docs/adr/0100-grpc-framing.md.
///
/// @param options  of the server: a call is a request for its admit, look_behind_proxy and counts
[[nodiscard]] std::function<boost::asio::awaitable<void>(std::shared_ptr<http::Channel> channel)> GrpcFront(
    const http::Router& router, const http::ServerOptions& options);

}  // namespace trainyard::api
