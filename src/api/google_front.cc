#include "api/google_front.h"

#include <utility>

#include "api/iam/token_handlers.h"
#include "api/vertex/grpc_front.h"
#include "net/front/host_dispatch.h"

namespace trainyard::api {

namespace {

http::ServerOptions WithGrpc(http::ServerOptions options, const http::Router& router) {
  options.http2 = GrpcFront(router, options);
  return options;
}

}  // namespace

GoogleFront::GoogleFront(boost::asio::io_context& loop, const Setup& setup)
    : identity_(setup.identity),
      router_([this, &setup] {
        http::Router router = front::DispatchByHost({.storage = storage_,
                                                     .api = setup.api,
                                                     .metadata = metadata_,
                                                     .real_buckets = setup.real_buckets,
                                                     .door = setup.door});
        if (setup.door == nullptr) CheckTokens(router, setup.tokens);
        return router;
      }()),
      server_(loop, router_, WithGrpc(setup.options, router_)) {
  const bool logs_in = setup.door != nullptr;
  AddAllRoutes(storage_, Where::kStorageFront, setup.sources);  // including batches, with which gcsfs deletes
  AddAllRoutes(metadata_, Where::kMetadataFront | (logs_in ? Where::kLogin : Where::kNoLogin), setup.sources);
  if (logs_in) {
    for (http::Router* guarded : {&storage_, &metadata_}) setup.door->Guard(*guarded);
  } else {
    CheckTokens(storage_, setup.tokens);  // for the parts of a batch, which do not pass router_
  }
}

Status GoogleFront::Listen(engine::FrontSockets sockets) {
  TY_RETURN_IF_ERROR(server_.ListenTls(std::move(sockets.tls), identity_, kRules));
  if (sockets.plain) server_.ListenTcp(*std::move(sockets.plain), kRules);
  return {};
}

}  // namespace trainyard::api
