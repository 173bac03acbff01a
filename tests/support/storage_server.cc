// Only the storage API on a free port, for the tests of clients: storage_server DATA [--no-create-on-use].
// Prints "listening on http://127.0.0.1:PORT", then "tls 127.0.0.1 PORT CA_FILE" for clients that speak
// nothing else (gsutil), and serves until SIGTERM.
#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/thread_pool.hpp>
#include <csignal>
#include <cstdio>
#include <string>
#include <string_view>

#include "api/route.h"
#include "api/storage/storage_handlers.h"
#include "base/async/system_clock.h"
#include "base/tls/tls_identity.h"
#include "net/http/server.h"
#include "net/http/testing/listen.h"
#include "stores/identity/identities.h"
#include "stores/storage/buckets.h"

namespace asio = boost::asio;
using namespace trainyard;  // NOLINT: a program of one page

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  const bool create_on_use = argc < 3 || std::string_view(argv[2]) != "--no-create-on-use";
  const SystemClock clock;
  asio::io_context loop;
  asio::thread_pool files(2);
  storage::Buckets::Options options{.data = argv[1], .create_on_use = create_on_use};
  auto buckets = storage::Buckets::Open(std::move(options), clock, files);
  if (!buckets) {
    std::fprintf(stderr, "storage_server: %s\n", buckets.error().message.c_str());
    return 1;
  }
  auto identities = identity::Identities::Open(
      loop.get_executor(), clock, {.path = std::string(argv[1]) + "/access.db", .default_project = "p"});
  if (!identities) {
    std::fprintf(stderr, "storage_server: %s\n", identities.error().message.c_str());
    return 1;
  }
  http::Router router;
  api::AddRoutes(router, api::StorageRoutes(), api::Where::kReplicas,
                 {api::Lend(**buckets), api::Lend(**identities)});
  api::AddRoutes(router, api::SharedRoutes(), api::Where::kReplicas, {api::Lend(router)});
  api::AddStorageRefusals(router);
  {
    http::Server server(loop, router);
    const auto port = http::Listen(server, "127.0.0.1");
    const auto identity = tls::EnsureTlsIdentity(std::string(argv[1]) + "/tls", {"127.0.0.1"}, clock.Now());
    if (!port || !identity) return 1;
    const auto tls_port = http::ListenWithTls(server, "127.0.0.1", *identity);
    if (!tls_port) return 1;
    asio::signal_set signals(loop, SIGTERM, SIGINT);
    signals.async_wait([&server](const boost::system::error_code&, int) { server.Stop(); });
    std::printf("listening on http://127.0.0.1:%u\n", static_cast<unsigned>(*port));
    std::printf("tls 127.0.0.1 %u %s\n", static_cast<unsigned>(*tls_port), identity->ca_file.c_str());
    std::fflush(stdout);
    loop.run();
  }
  files.join();
}
