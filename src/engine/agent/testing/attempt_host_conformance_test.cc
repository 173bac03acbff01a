#include "engine/testing/attempt_host_conformance.h"

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <memory>
#include <utility>

#include "base/async/file.h"
#include "base/async/system_clock.h"
#include "base/async/task_group.h"
#include "base/async/unix_socket.h"
#include "base/tls/certificate.h"
#include "base/tls/tls_identity.h"
#include "engine/agent/testing/agent_processes.h"
#include "engine/remote/agent_session.h"
#include "net/http/transport.h"
#include "net/mux/pump.h"

namespace trainyard::agent {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using engine::Manifest;

constexpr const char* kAgent = "7-1-1/0";
constexpr const char* kNode = "n1";

/// Gives the only slot permanently to the first agent.
class OneSlot final : public engine::SlotKeeper {
 public:
  asio::awaitable<Result<std::string>> TakeSlot(v1::FromAgent::Hello hello, engine::AgentOrigin) override {
    if (instance_.empty()) instance_ = hello.instance();
    if (hello.instance() != instance_)
      co_return std::unexpected(Error{Code::kPermissionDenied, "Another agent has the slot.", {}});
    co_return kAgent;
  }
  void OnAttached(const std::string&) override { has_come = true; }
  void OnTimeLimit(const std::string&) override {}
  void OnDetached(const std::string&, mux::Ending) override {}
  [[nodiscard]] bool MayLive(const std::string&) const override { return may_live; }

  bool has_come = false;
  bool may_live = true;

 private:
  std::string instance_;
};

/// The parts that end with the server. The sockets and the slots outlive it.
class AgentsServer {
 public:
  struct Kept {
    asio::io_context& loop;
    tcp::acceptor& door;
    asio::ssl::context& tls;
    OneSlot& slots;
    std::string attach_socket;  ///< where supervisors' connections end
  };
  AgentsServer(const Kept& kept, engine::ToAgent::Welcome welcome)
      : kept_(kept), desk_{.slots = kept_.slots, .host = host_, .welcome = std::move(welcome), .relay = {}} {
    desk_.relay = [this](const engine::RelayedConnection& connection, std::shared_ptr<mux::Stream> stream) {
      if (connection.purpose != engine::RelayPurpose::kAttach) return stream->Reset();
      Result<UniqueFd> end = ConnectUnix(kept_.attach_socket, SOCK_NONBLOCK);
      if (!end) return stream->Reset();  // nobody serves supervisors yet
      tasks_.Spawn(mux::Pump(std::move(stream), *std::move(end)));
    };
    tasks_.Spawn(Accept());
  }
  [[nodiscard]] engine::AttemptHost& host() { return host_; }

 private:
  asio::awaitable<void> Accept() {
    for (;;) {
      tcp::socket socket = co_await kept_.door.async_accept(asio::use_awaitable);
      tasks_.Spawn(Serve(std::move(socket)));
    }
  }
  asio::awaitable<void> Serve(tcp::socket socket) {
    std::unique_ptr<http::Transport> transport = http::MakeTlsTransport(std::move(socket), kept_.tls);
    const Status done = co_await transport->Handshake();
    if (!done) co_return;
    engine::AgentConnection connection{.transport = std::move(transport), .from = {}};
    co_await engine::ServeAgent(kept_.loop.get_executor(), std::move(connection), desk_);
  }

  const Kept kept_;
  engine::RemoteAttemptHost host_{kept_.loop.get_executor(),
                                  [this](const std::string& agent) { return kept_.slots.MayLive(agent); }};
  engine::AgentDesk desk_;
  TaskGroup tasks_{kept_.loop.get_executor()};
};

/// The attempt runs below an agent in another process, which connects to the host over TLS.
class AgentHostWorld : public AgentProcesses {
 protected:
  AgentHostWorld() {
    ProgramUntilLetEnd();
    const auto identity = tls::EnsureTlsIdentity(folder_.path() + "/tls", {}, SystemClock().Now());
    TY_CHECK(identity);
    tls_ = *http::MakeServerTls(*identity);
    Restart();
    const tls::Certificate authority = *tls::ParseCertificate(*ReadFile(identity->ca_file));
    SpawnAgent({.node = kNode,
                .server_port = door_.local_endpoint().port(),
                .fingerprint = tls::Fingerprint(authority.get())});
    EXPECT_TRUE(loop_.RunUntil([this] { return slots_.has_come; })) << "the agent does not come";
  }
  ~AgentHostWorld() override {
    host().SetOnGone(nullptr);
    slots_.may_live = false;  // nobody waits for an agent that is dead
    EXPECT_TRUE(loop_.Run(host().Kill(ref())));
    EXPECT_TRUE(loop_.Run(host().Forget(ref())));
    agents_server_.reset();
    EndAgents();
  }

  engine::Loop& loop() { return loop_; }
  engine::AttemptHost& host() { return agents_server_->host(); }
  static engine::AttemptRef ref() { return {.id = engine::kConformanceAttempt, .agent = kAgent}; }
  static engine::Slot slot() {
    engine::Slot slot;
    slot.set_node(kNode);
    slot.set_agent(kAgent);
    slot.set_network(Manifest::HOST);
    slot.mutable_devices()->set_accelerator_type("NVIDIA_TESLA_T4");
    slot.mutable_devices()->add_gpus("0");
    return slot;
  }
  void Restart() {
    agents_server_.reset();
    engine::ToAgent::Welcome welcome;
    welcome.set_environments_dir(manifest_.places().environments_dir());
    agents_server_.emplace(AgentsServer::Kept{.loop = loop_.context,
                                              .door = door_,
                                              .tls = tls_,
                                              .slots = slots_,
                                              .attach_socket = manifest_.places().attach_socket()},
                           std::move(welcome));
  }
  /// This thread forwards the supervisor's connection.
  bool WaitFor(const std::function<bool(const replica::FakeServer::Memory&)>& condition) override {
    return loop_.RunUntil([this, &condition] {
      const std::scoped_lock lock(memory_->mutex);
      return condition(*memory_);
    });
  }

 private:
  engine::Loop loop_;
  asio::ssl::context tls_{asio::ssl::context::tls_server};
  tcp::acceptor door_{loop_.context, {asio::ip::make_address("127.0.0.1"), 0}};
  OneSlot slots_;
  std::optional<AgentsServer> agents_server_;
};

}  // namespace
}  // namespace trainyard::agent

namespace trainyard::engine {
namespace {

INSTANTIATE_TYPED_TEST_SUITE_P(Agent, AttemptHostConformance, agent::AgentHostWorld);

}  // namespace
}  // namespace trainyard::engine
