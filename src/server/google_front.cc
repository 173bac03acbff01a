#include "server/google_front.h"

#include <unistd.h>

#include <utility>
#include <vector>

#include "api/iam/token_handlers.h"
#include "api/metadata/metadata_handlers.h"
#include "api/route.h"
#include "base/async/diagnostics.h"
#include "control/run/token_service.h"
#include "engine/local/google_front_files.h"
#include "net/access/door.h"
#include "net/front/host_dispatch.h"
#include "net/http/server.h"
#include "net/sockets/kept_sockets.h"

namespace trainyard::server {

namespace {

constexpr http::FramingRules kRules = http::FramingRules::kChunkedWins;

}  // namespace

front::MayPassOn MayPassOn(access::Door* door) {
  if (door == nullptr) return nullptr;
  return [door](http::Request& request, std::string_view route) { return door->Check(request, route); };
}

struct GoogleFront::State {
  explicit State(const Setup& setup);

  tls::TlsIdentity identity;
  http::Router storage;
  http::Router metadata;
  http::Router router;
  http::Server server;
};

GoogleFront::State::State(const Setup& setup)
    : identity(setup.identity),
      router(front::DispatchByHost({.storage = storage,
                                    .api = setup.api,
                                    .metadata = metadata,
                                    .real_buckets = setup.real_buckets,
                                    .may_pass_on = MayPassOn(setup.door)})),
      server(setup.loop, router, setup.options) {
  const std::vector<api::Source> sources{
      api::Lend(storage),
      api::Lend(setup.buckets),
      api::Lend(setup.identities),
      api::Give(setup.metadata),
      api::Lend(setup.tokens),
      api::Lend(setup.clock),
      api::Give(api::TokenEndpoint{
          .identities = setup.identities, .clock = setup.clock, .names = setup.token_names})};
  const bool logs_in = setup.door != nullptr;
  api::AddAllRoutes(storage, api::Where::kStorageFront,
                    sources);  // including batches, with which gcsfs deletes
  api::AddAllRoutes(
      metadata, api::Where::kMetadataFront | (logs_in ? api::Where::kLogin : api::Where::kNoLogin), sources);
  if (logs_in) {
    for (http::Router* guarded : {&storage, &metadata}) setup.door->Guard(*guarded);
    return;
  }
  // The parts of a batch are handled by `storage`; only `router` passes requests on to real buckets.
  for (http::Router* checked : {&storage, &router}) api::CheckTokens(*checked, setup.tokens);
}

Result<replica::v1::GoogleFront> PrepareGoogleFront(const ServeOptions& options,
                                                    const store::DataDirectory& data,
                                                    const BoundSockets& sockets) {
  const std::string bundle = data.ca_bundle();
  TY_RETURN_IF_ERROR(engine::WriteGoogleFrontFiles({.authority = sockets.identity.ca_file,
                                                    .folder = data.front_dir(),
                                                    .bundle = bundle,
                                                    .project = options.project}));
  replica::v1::GoogleFront told;
  told.set_tls_socket(data.front_tls_socket());
  told.set_plain_socket(data.front_plain_socket());
  told.set_ca_bundle(bundle);
  for (const std::string_view name : front::kTlsHosts) told.add_host_names(std::string(name));
  if (::access("/etc/hosts", F_OK) != 0) {
    Diagnose(DiagnosticLevel::kWarning,
             "this machine has no /etc/hosts: replicas find neither each other nor Google's names; make one "
             "with the line '127.0.0.1 localhost'");
  }
  if (sockets.front) engine::DescribeFront(*sockets.front, told);
  if (const Status made = sockets.has_namespaces ? engine::EnsureGcsFolder() : Status()) {
    told.set_buckets_dir(data.Path("buckets"));
    told.mutable_bucket_dirs()->insert(options.bucket_dirs.begin(), options.bucket_dirs.end());
  } else {
    Diagnose(DiagnosticLevel::kWarning,
             "replicas will not see the buckets as files below /gcs: " + made.error().message);
  }
  return told;
}

GoogleFront::GoogleFront(std::unique_ptr<State> state) : state_(std::move(state)) {}
GoogleFront::~GoogleFront() = default;

Result<std::unique_ptr<GoogleFront>> GoogleFront::Open(const Setup& setup,
                                                       std::optional<BoundSockets::Front> sockets) {
  auto state = std::make_unique<State>(setup);
  if (sockets) {
    TY_RETURN_IF_ERROR(state->server.ListenTls(std::move(sockets->tls), setup.identity, kRules));
    if (sockets->plain) state->server.ListenTcp(*std::move(sockets->plain), kRules);
  }
  return std::unique_ptr<GoogleFront>(new GoogleFront(std::move(state)));
}

Status GoogleFront::ListenUnix(const store::DataDirectory& data, sockets::KeptSockets& kept) {
  if (kept.keeps()) {
    TY_TRY(http::ListeningSocket tls, kept.ListenOnUnix(data.front_tls_socket()));
    TY_TRY(http::ListeningSocket plain, kept.ListenOnUnix(data.front_plain_socket()));
    TY_RETURN_IF_ERROR(state_->server.ListenTls(std::move(tls), state_->identity, kRules));
    state_->server.ListenTcp(std::move(plain), kRules);
    return {};
  }
  TY_RETURN_IF_ERROR(state_->server.ListenUnixTls(data.front_tls_socket(), state_->identity, kRules));
  return state_->server.ListenUnix(data.front_plain_socket(), kRules);
}

bool GoogleFront::Adopt(UniqueFd socket, http::Peer peer, bool with_tls) {
  return state_->server.Adopt(std::move(socket), std::move(peer), with_tls);
}

void GoogleFront::Stop(std::chrono::milliseconds idle_wait) { state_->server.Stop(idle_wait); }

std::size_t GoogleFront::connection_count() const noexcept { return state_->server.connection_count(); }

}  // namespace trainyard::server
