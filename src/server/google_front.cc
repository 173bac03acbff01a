#include "server/google_front.h"

#include <dirent.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <utility>

#include "api/batch_handlers.h"
#include "api/metadata_handlers.h"
#include "api/storage_handlers.h"
#include "api/storage_xml_handlers.h"
#include "api/token_handlers.h"
#include "async/diagnostics.h"
#include "async/file.h"
#include "control/access_token.h"
#include "control/token_service.h"
#include "front/boto_file.h"
#include "front/ca_bundle.h"
#include "front/front_address.h"
#include "front/host_dispatch.h"
#include "http/server.h"
#include "runtimes/google_channels.h"
#include "server/data_directory.h"

namespace trainyard::server {

namespace {

constexpr std::uint16_t kTlsPort = 443;   // TensorFlow's URLs have no port
constexpr std::uint16_t kPlainPort = 80;  // nor has the metadata server's

/// Where a replica's bind mount of the buckets goes: an empty folder of the machine's, made if need be. One
/// with something in it is somebody else's.
Status EnsureGcsFolder() {
  const char* folder = replica::kGcsFolder;
  if (::mkdir(folder, 0755) != 0 && errno != EEXIST)
    return std::unexpected(ErrnoError(errno, "mkdir " + std::string(folder)));
  std::error_code error;
  const bool empty = std::filesystem::is_empty(folder, error);
  if (error) return std::unexpected(ErrnoError(error.value(), "look into " + std::string(folder)));
  if (!empty) return std::unexpected(FailedPrecondition(std::string(folder) + " has something in it"));
  return {};
}

/// The files that replicas read.
Status WriteFiles(const GoogleFront::Setup& setup, const std::string& bundle) {
  const std::string& authority = setup.identity.ca_file;
  const std::filesystem::path folder = setup.data.front_dir();
  TY_RETURN_IF_ERROR(front::MakeCaBundle(replica::SystemCaBundles(), authority, bundle));
  TY_RETURN_IF_ERROR(front::MakeCaBundle({}, authority, folder / replica::kOwnAuthority));
  TY_RETURN_IF_ERROR(WriteFileAtomically(folder / replica::kCurlFile, "cacert = \"" + bundle + "\"\n"));
  return WriteFileAtomically(folder / replica::kBotoFile, front::BotoFile(bundle, setup.project));
}

}  // namespace

struct GoogleFront::State {
  explicit State(const Setup& setup);
  Result<std::string> Listen(const Setup& setup);

  http::Router storage;
  http::Router metadata;
  http::Router router;
  http::Server server;
  bool has_metadata = false;
};

GoogleFront::State::State(const Setup& setup)
    : router(front::DispatchByHost(
          {.storage = storage, .api = setup.api, .metadata = metadata, .real_buckets = setup.real_buckets})),
      server(setup.loop, router, setup.options) {
  api::AddStorageRoutes(storage, setup.buckets);
  api::AddXmlStorageRoutes(storage, setup.buckets);
  api::AddBatchRoutes(storage);  // gcsfs deletes by it
  api::AddMetadataRoutes(metadata, {.project = setup.project,
                                    .universe_domain = [] { return std::string("googleapis.com"); },
                                    .access_token =
                                        [&tokens = setup.tokens](const std::string& host) {
                                          return tokens.Issue(host, control::kAnyReplica);
                                        }});
  api::AddTokenRoute(metadata, setup.tokens, setup.clock);
  // The parts of a batch are handed to `storage`; real buckets are behind none but `router`.
  for (http::Router* checked : {&storage, &router}) api::CheckTokens(*checked, setup.tokens);
}

/// The address whose ports it has; an error says why there is none.
Result<std::string> GoogleFront::State::Listen(const Setup& setup) {
  const auto listen = [&](const std::string& address) -> Status {
    TY_TRY([[maybe_unused]] const std::uint16_t port,
           server.ListenTls(address, kTlsPort, setup.identity, http::FramingRules::kChunkedWins));
    return {};
  };
  TY_TRY(std::string address, front::TakeFrontAddress(setup.data.Path("run/front-address"), listen));
  const auto plain = server.ListenTcp(address, kPlainPort, http::FramingRules::kChunkedWins);
  has_metadata = plain.has_value();
  if (!plain)
    Diagnose(DiagnosticLevel::kWarning, "replicas have no metadata server of their own on port 80: " +
                                            plain.error().message + "; all of them share one token");
  return address;
}

GoogleFront::GoogleFront(std::unique_ptr<State> state) : state_(std::move(state)) {}
GoogleFront::~GoogleFront() = default;

Result<std::unique_ptr<GoogleFront>> GoogleFront::Open(const Setup& setup, control::Settings& settings) {
  auto state = std::make_unique<State>(setup);
  const std::string bundle = setup.data.front_dir() + "/ca-bundle.pem";
  TY_RETURN_IF_ERROR(WriteFiles(setup, bundle));
  replica::v1::GoogleFront told;
  told.set_tls_socket(setup.data.front_tls_socket());
  told.set_plain_socket(setup.data.front_plain_socket());
  TY_RETURN_IF_ERROR(
      state->server.ListenUnixTls(told.tls_socket(), setup.identity, http::FramingRules::kChunkedWins));
  TY_RETURN_IF_ERROR(state->server.ListenUnix(told.plain_socket(), http::FramingRules::kChunkedWins));
  told.set_ca_bundle(bundle);
  for (const std::string_view name : front::kTlsHosts) told.add_host_names(std::string(name));
  if (const Result<std::string> address = state->Listen(setup)) {
    told.set_address(*address);
  } else {
    Diagnose(DiagnosticLevel::kWarning,
             "TensorFlow's gs:// and gsutil will not work in replicas: " + address.error().message +
                 ". Run as root, give the program CAP_NET_BIND_SERVICE, or lower "
                 "net.ipv4.ip_unprivileged_port_start to 80");
  }
  if (const Status made = EnsureGcsFolder()) {
    told.set_buckets_dir(setup.data.Path("buckets"));
    told.mutable_bucket_dirs()->insert(setup.bucket_dirs.begin(), setup.bucket_dirs.end());
  } else {
    Diagnose(DiagnosticLevel::kWarning,
             "replicas will not see the buckets as files below /gcs: " + made.error().message);
  }
  settings.google_front = std::move(told);
  settings.front_metadata = state->has_metadata;
  return std::unique_ptr<GoogleFront>(new GoogleFront(std::move(state)));
}

void GoogleFront::Stop() { state_->server.Stop(); }

std::size_t GoogleFront::connection_count() const noexcept { return state_->server.connection_count(); }

}  // namespace trainyard::server
