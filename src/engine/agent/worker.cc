#include "engine/agent/worker.h"

#include <unistd.h>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/system_timer.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <memory>
#include <tuple>
#include <utility>
#include <vector>

#include "base/async/diagnostics.h"
#include "base/async/file.h"
#include "base/async/on_pool.h"
#include "base/async/task_group.h"
#include "base/process/descriptor_limit.h"
#include "base/process/kernel_calls.h"
#include "engine/agent/attempt_requests.h"
#include "engine/agent/led_socket.h"
#include "engine/agent/node_provision.h"
#include "engine/agent/node_sockets.h"
#include "engine/agent/slot_end.h"
#include "engine/agent/uplink.h"
#include "engine/local/keeper_starter.h"
#include "engine/local/local_attempt_host.h"

namespace trainyard::agent {

namespace asio = boost::asio;

namespace {

/// Files of earlier agents are removed after this time, or at the end, so that a starting replica does not
/// wait for it.
constexpr std::chrono::seconds kCleanAfter{10};

std::int64_t DiskBytes(const std::string& folder) {
  std::error_code error;
  const std::filesystem::space_info space = std::filesystem::space(folder, error);
  return error ? 0 : static_cast<std::int64_t>(space.capacity);
}

/// The variables with which replicas find the server in the node's network.
std::map<std::string, std::string> VariablesFor(int port) {
  const std::string authority = "127.0.0.1:" + std::to_string(port);
  return engine::ReplicaVariables("http://" + authority, authority);
}

/// All settings except those that a welcome adds.
engine::NodeSettings SettingsOf(const Identity& identity, const NodeFolder& folder,
                                const NodeSockets& sockets) {
  const std::string& cache = identity.arguments.cache;
  return {.attempts_dir = folder.attempts_dir(),
          .environments_dir = cache.empty() ? folder.environments_dir() : cache + "/environments",
          .images_dir = cache.empty() ? folder.images_dir() : cache + "/images",
          .attach_socket = folder.run_dir() + "/attach.sock",
          .replica_socket = folder.run_dir() + "/replica.sock",
          .container_runtime = identity.facts.node.container_runtime(),
          .container_runtime_address = identity.facts.container_address,
          .disk_bytes = DiskBytes(folder.attempts_dir()),
          .front_metadata = sockets.front && sockets.front->plain,
          .isolations = identity.facts.isolations};
}

FrontPlaces FrontPlacesOf(const Identity& identity, const NodeFolder& folder, const NodeSockets& sockets) {
  const std::string& starter = identity.arguments.starter;
  FrontPlaces places{.dir = starter.empty() ? folder.front_dir() : FolderOf(starter) + "/front",
                     .where = {},
                     .gcs_lacking = identity.facts.gcs_lacking};
  places.where.set_tls_socket(folder.run_dir() + "/front-tls.sock");
  places.where.set_plain_socket(folder.run_dir() + "/front.sock");
  if (!sockets.front) return places;
  engine::DescribeFront(*sockets.front, places.where);
  places.where.set_has_names(sockets.has_names);
  return places;
}

class Worker final : public Uplink::Observer {
 public:
  Worker(const Identity& identity, const NodeFolder& folder, NodeSockets sockets)
      : identity_(identity),
        folder_(folder),
        settings_(SettingsOf(identity, folder, sockets)),
        front_(FrontPlacesOf(identity, folder, sockets)),
        replica_port_(sockets.replica_tcp.port),
        starter_(engine::MachineLimits()),
        host_(executor(), settings_, starter_, {}),
        owner_({.attempts_dir = settings_.attempts_dir, .sees_all = identity.arguments.starter.empty()}),
        uplink_(executor(),
                {.host = identity.arguments.server_host,
                 .port = identity.arguments.server_port,
                 .fingerprint = identity.arguments.fingerprint},
                *this),
        terminals_(executor(), uplink_),
        requests_(executor(), host_, terminals_),
        end_(executor(), {.uplink = uplink_,
                          .host = host_,
                          .requests = requests_,
                          .attempts_dir = settings_.attempts_dir}),
        tasks_(executor()) {
    host_.SetOnGone([this](const std::string& attempt_id) { OnGone(attempt_id); });
    requests_.SetOnServed([this] { end_.OnChange(); });
    Lead(std::move(sockets));
    tasks_.Spawn(Connect());
    tasks_.Spawn(End());
    tasks_.Spawn(WatchSignals());
    tasks_.Spawn(Clean());
    if (identity_.until) tasks_.Spawn(WatchClock(*identity_.until));
  }

  int Run() {
    loop_.run();
    return status_;
  }

  asio::awaitable<v1::FromAgent::Hello> MakeHello(std::string own_address) override;
  asio::awaitable<void> OnWelcome(v1::ToAgent::Welcome welcome) override;
  void OnWelcomed() override {
    end_.Tell();
    end_.OnChange();
  }
  void OnFrame(v1::ToAgent frame, std::shared_ptr<ControlStream> control) override;

 private:
  [[nodiscard]] asio::any_io_executor executor() { return loop_.get_executor(); }
  void Lead(NodeSockets sockets);
  asio::awaitable<void> Connect();
  asio::awaitable<void> End();
  asio::awaitable<void> Clean();
  asio::awaitable<void> RemoveOldSlots();
  asio::awaitable<void> WatchSignals();
  asio::awaitable<void> WatchClock(SysTime until);
  void OnGone(const std::string& attempt_id);
  void Begin(EndCause cause, const std::string& reason = {});

  const Identity& identity_;
  const NodeFolder& folder_;
  asio::io_context loop_{1};
  asio::thread_pool files_{2};  // two, since a removal may take long
  int status_ = 0;
  engine::NodeSettings settings_;
  const FrontPlaces front_;
  const int replica_port_;
  engine::ForkingStarter starter_;
  engine::LocalAttemptHost host_;
  asio::signal_set signals_{loop_, SIGTERM, kNoticeSignal};
  ConnectionOwner owner_;
  Uplink uplink_;
  Terminals terminals_;
  AttemptRequests requests_;
  SlotEnd end_;
  std::vector<std::unique_ptr<LedSocket>> led_;
  TaskGroup tasks_;
};

void Worker::Lead(NodeSockets sockets) {
  const auto lead = [this](http::ListeningSocket socket, std::string path, LedSocket::Who who) {
    LedSocket::Target target{.path = std::move(path), .who = who};
    led_.push_back(
        std::make_unique<LedSocket>(executor(), std::move(socket), std::move(target), owner_, uplink_));
  };
  using enum LedSocket::Who;
  lead(std::move(sockets.attach), "/agent/v1/attach", kSupervisors);
  lead(std::move(sockets.replica), "/agent/v1/replica", kReplicas);
  lead(std::move(sockets.replica_tcp), "/agent/v1/replica", kReplicas);
  lead(std::move(sockets.front_tls), "/agent/v1/front-tls", kReplicas);
  lead(std::move(sockets.front_plain), "/agent/v1/front", kReplicas);
  if (sockets.outside) lead(*std::move(sockets.outside), "/agent/v1/outside", kBuilds);
  if (!sockets.front) return;
  lead(std::move(sockets.front->tls), "/agent/v1/front-tls", kReplicas);
  if (sockets.front->plain) lead(*std::move(sockets.front->plain), "/agent/v1/front", kReplicas);
}

asio::awaitable<void> Worker::Connect() {
  const std::string reason = co_await uplink_.Run();
  const std::string line = "the server rejects this agent: " + reason;
  Diagnose(DiagnosticLevel::kError, line);
  const std::string shown = "trainyard agent: " + line + "\n";
  std::ignore = WriteAll(identity_.complain, shown);
  status_ = kExitRefused;
  loop_.stop();
}

asio::awaitable<void> Worker::End() {
  co_await end_.Run();
  co_await uplink_.Finish();
  co_await RemoveOldSlots();
  Diagnose(DiagnosticLevel::kInfo, "this agent has ended");
  loop_.stop();
}

asio::awaitable<void> Worker::Clean() {
  asio::system_timer timer(executor(), kCleanAfter);
  co_await timer.async_wait(asio::use_awaitable);
  co_await RemoveOldSlots();
}

asio::awaitable<void> Worker::RemoveOldSlots() {
  co_await OnPool(files_, [this] { folder_.RemoveOldSlots(); });
}

asio::awaitable<void> Worker::WatchSignals() {
  for (;;) {
    const int number = co_await signals_.async_wait(asio::use_awaitable);
    Begin(number == SIGTERM ? EndCause::kSignal : EndCause::kTimeLimit);
  }
}

asio::awaitable<void> Worker::WatchClock(SysTime until) {
  asio::system_timer timer(executor());
  timer.expires_at(std::chrono::time_point_cast<std::chrono::system_clock::duration>(until - kLimitNotice));
  co_await timer.async_wait(asio::use_awaitable);
  Begin(EndCause::kTimeLimit);
}

void Worker::Begin(EndCause cause, const std::string& reason) {
  end_.Begin(PlanEnd(cause, SysTime(std::chrono::system_clock::now()), identity_.until, reason));
}

void Worker::OnGone(const std::string& attempt_id) {
  Diagnose(DiagnosticLevel::kInfo, "attempt " + attempt_id + " has ended");
  v1::FromAgent frame;
  frame.mutable_gone()->set_attempt_id(attempt_id);
  uplink_.Send(frame);
  end_.OnChange();
}

asio::awaitable<v1::FromAgent::Hello> Worker::MakeHello(std::string own_address) {
  v1::FromAgent::Hello hello;
  hello.set_protocol(v1::PROTOCOL_1);
  hello.set_ticket(identity_.ticket);
  hello.set_slot(identity_.arguments.slot);
  hello.set_instance(identity_.instance);
  v1::Node& node = *hello.mutable_node();
  node = identity_.facts.node;
  node.set_name(identity_.arguments.node);
  node.set_address(AddressForOthers(own_address));
  node.set_port(identity_.port);
  for (const std::string& gpu : identity_.arguments.gpus) node.add_gpus(gpu);
  requests_.SetPlace({.address = node.address(), .port = identity_.port});
  const std::vector<v1::AttemptFound> found = co_await requests_.FindAll();
  for (const v1::AttemptFound& one : found) *hello.add_attempts() = one;
  co_return hello;
}

asio::awaitable<void> Worker::OnWelcome(v1::ToAgent::Welcome welcome) {
  const bool has_cache = !identity_.arguments.cache.empty();
  if (!has_cache && !welcome.environments_dir().empty())
    settings_.environments_dir = welcome.environments_dir();
  if (!has_cache && !welcome.images_dir().empty()) settings_.images_dir = welcome.images_dir();
  std::map<std::string, std::string> definitions(welcome.runtime_definitions().begin(),
                                                 welcome.runtime_definitions().end());
  // Without symbolic links: virtual environments keep the path that they were made under.
  auto provide = [dir = settings_.environments_dir,
                  definitions = std::move(definitions)]() -> Result<std::string> {
    TY_RETURN_IF_ERROR(ProvisionEnvironments(dir, definitions));
    return RealPath(dir);
  };
  Result<std::string> provided = co_await OnPool(files_, std::move(provide));
  if (provided) {
    settings_.environments_dir = *std::move(provided);
  } else {
    Diagnose(DiagnosticLevel::kError, provided.error().message);
  }
  settings_.google_front.reset();
  settings_.relay_port = 0;
  settings_.replica_environment.clear();
  if (welcome.front_host_names().empty()) co_return;
  settings_.relay_port = replica_port_;
  settings_.replica_environment = VariablesFor(replica_port_);
  auto write = [welcome = std::move(welcome), places = front_] { return ProvisionFront(welcome, places); };
  Result<replica::v1::GoogleFront> front = co_await OnPool(files_, std::move(write));
  if (front) {
    settings_.google_front = *std::move(front);
  } else {
    Diagnose(DiagnosticLevel::kError, "replicas cannot use Google's host names: " + front.error().message);
  }
}

void Worker::OnFrame(v1::ToAgent frame, std::shared_ptr<ControlStream> control) {
  switch (frame.kind_case()) {
    case v1::ToAgent::kRequest:
      return requests_.Serve(std::move(*frame.mutable_request()), std::move(control));
    case v1::ToAgent::kResize:
      return terminals_.Resize(frame.resize().terminal(),
                               {.rows = frame.resize().rows(), .columns = frame.resize().columns()});
    case v1::ToAgent::kRelease: return Begin(EndCause::kRelease, frame.release().reason());
    case v1::ToAgent::kWelcome:
    case v1::ToAgent::kRefused:
    case v1::ToAgent::KIND_NOT_SET: return;
  }
}

}  // namespace

namespace {

/// Sets proxy variables that supervisors inherit, and from them pip, uv and skopeo; users' programs do not
/// get them.
void NameProxy(const NodeSockets& sockets) {
  if (!sockets.outside) return;
  const std::string proxy = "http://127.0.0.1:" + std::to_string(sockets.outside->port);
  for (const char* name : {"HTTPS_PROXY", "https_proxy"}) ::setenv(name, proxy.c_str(), 0);
}

}  // namespace

int Work(const Identity& identity, const NodeFolder& folder, NodeSockets sockets) {
  NameProxy(sockets);
  std::signal(SIGPIPE, SIG_IGN);  // clients may disconnect
  RaiseDescriptorLimit();         // supervisors get the old limit
  auto worker = std::make_unique<Worker>(identity, folder, std::move(sockets));
  // The watcher blocked these signals until they are handled.
  const sigset_t handled = SignalSet({SIGTERM, kNoticeSignal, SIGCHLD});
  ::sigprocmask(SIG_UNBLOCK, &handled, nullptr);
  const int status = worker->Run();
  // The worker is not destroyed: the process ends next, and the kernel closes everything.
  std::ignore = worker.release();
  return status;
}

}  // namespace trainyard::agent
