#include "engine/remote/agent_session.h"

#include <array>
#include <chrono>
#include <tuple>
#include <utility>
#include <vector>

#include "base/async/diagnostics.h"
#include "base/async/task_group.h"
#include "rules/cluster/task_name.h"

namespace trainyard::engine {

namespace {

namespace asio = boost::asio;

/// An agent sends Hello as soon as it has connected.
constexpr std::chrono::seconds kHelloWaitMax{10};

/// The most supervisors of one agent that are connected at once: its slot has one attempt at a time, and
/// previous ones are ending.
constexpr std::size_t kAttachesMax = 32;

constexpr std::string_view kControlPath = "/agent/v1/control";
constexpr std::string_view kTerminalPath = "/agent/v1/terminal/";

struct RelayPath {
  std::string_view begin;
  RelayPurpose purpose;
};
constexpr std::array<RelayPath, 4> kOfAttempts{RelayPath{"/agent/v1/replica/", RelayPurpose::kReplica},
                                               RelayPath{"/agent/v1/front-tls/", RelayPurpose::kFrontTls},
                                               RelayPath{"/agent/v1/front/", RelayPurpose::kFront},
                                               RelayPath{"/agent/v1/outside/", RelayPurpose::kOutside}};

/// Whether the agent may report on the attempt: the agent "17-1-2/0" only on attempts of job 17.
bool IsOfJob(const std::string& agent, const std::string& attempt_id) {
  const std::optional<cluster::AttemptName> name = cluster::ParseAttemptId(attempt_id);
  return name && agent.starts_with(std::to_string(name->job_uid) + "-");
}

/// One connection. The tasks of its streams share its ownership and end with it.
class AgentSession {
 public:
  AgentSession(asio::any_io_executor loop, AgentConnection connection, const AgentDesk& desk)
      : loop_(loop),
        desk_(desk),
        from_(connection.from),
        unproven_(std::move(connection.unproven)),
        session_(loop, std::move(connection.transport), mux::Session::Side::kIsOpened, Options()),
        tasks_(std::move(loop)) {
    if (connection.budget != nullptr)
      seat_ = connection.budget->Take(connection.peer, [this] { session_.Close(); });
  }

  asio::awaitable<void> Run() {
    tasks_.Spawn(EndWithoutHello());
    const mux::Ending ending = co_await session_.Run();
    over_ = true;
    said_hello_.Set();
    if (link_) link_->Close();
    co_await tasks_.Join();
    if (agent_.empty()) co_return;
    desk_.host.OnDetached(agent_, link_.get());
    desk_.slots.OnDetached(agent_, ending);
  }

 private:
  mux::Session::Options Options() {
    mux::Session::Options options;
    options.on_stream = [this](std::string path, std::shared_ptr<mux::Stream> stream) {
      OnStream(path, std::move(stream));
    };
    return options;
  }

  void OnStream(const std::string& path, std::shared_ptr<mux::Stream> stream) {
    if (path == kControlPath && !link_) {
      link_ = std::make_shared<AgentLink>(loop_, std::move(stream));
      tasks_.Spawn(link_->WriteQueued());
      return tasks_.Spawn(Talk());
    }
    if (agent_.empty()) return stream->Reset();
    if (path.starts_with(kTerminalPath))
      return desk_.host.OnTerminal(agent_, path.substr(kTerminalPath.size()), std::move(stream));
    std::optional<RelayedConnection> relayed = ParseRelayPath(path);
    const bool may =
        relayed && (relayed->attempt_id.empty() ? CountAttach(stream) : IsOfJob(agent_, relayed->attempt_id));
    if (!may) return stream->Reset();
    desk_.relay(*std::move(relayed), std::move(stream));
  }

  /// Whether one more supervisor may connect. The server has a separate limit for supervisors, which one
  /// agent must not use up.
  bool CountAttach(const std::shared_ptr<mux::Stream>& stream) {
    std::erase_if(attaches_, [](const auto& attach) { return attach.expired(); });
    if (attaches_.size() >= kAttachesMax) return false;
    attaches_.push_back(stream);
    return true;
  }

  asio::awaitable<void> EndWithoutHello() {
    const bool came = co_await said_hello_.WaitFor(kHelloWaitMax);
    if (!came) session_.Close();
  }

  asio::awaitable<void> Talk() {
    Result<FromAgent> first = co_await link_->Read();
    said_hello_.Set();
    if (!first || !first->has_hello()) co_return session_.Close();
    const bool admitted = co_await Admit(std::move(*first->mutable_hello()));
    if (!admitted) co_return;
    for (;;) {
      Result<FromAgent> frame = co_await link_->Read();
      if (!frame) co_return session_.Close();
      Take(*std::move(frame));
    }
  }

  asio::awaitable<bool> Admit(FromAgent::Hello hello) {
    const std::string node = hello.node().name();
    std::vector<agent::v1::AttemptFound> found(hello.attempts().begin(), hello.attempts().end());
    AgentOrigin origin{.from = from_, .is_there = [this] { return !over_; }};
    Result<std::string> taken = std::unexpected(Error{
        Code::kPermissionDenied,
        "the agent is newer than the server: protocol " + std::to_string(static_cast<int>(hello.protocol())),
        {}});
    if (hello.protocol() <= agent::v1::PROTOCOL_1)
      taken = co_await desk_.slots.TakeSlot(std::move(hello), std::move(origin));
    if (!taken) {
      co_await Refuse(node, taken.error());
      co_return false;
    }
    if (over_) co_return false;  // the agent reconnects
    unproven_.reset();
    if (seat_) seat_->SetPhase(http::ConnectionPhase::kKept);
    ToAgent frame;
    *frame.mutable_welcome() = desk_.welcome;
    link_->Send(frame);
    link_->Admit();
    agent_ = *std::move(taken);
    std::erase_if(found, [this](const auto& one) { return !IsOfJob(agent_, one.attempt_id()); });
    desk_.host.OnAttached(agent_, link_, found);
    desk_.slots.OnAttached(agent_);
    co_return true;
  }

  asio::awaitable<void> Refuse(const std::string& node, const Error& error) {
    Diagnose(DiagnosticLevel::kWarning, "an agent on " + node + " is refused: " + error.message);
    if (error.code != Code::kPermissionDenied) co_return session_.Close();
    ToAgent frame;
    frame.mutable_refused()->set_reason(error.message);
    link_->Send(frame);
    std::ignore =
        co_await link_->Read();  // the agent reads that and ends; otherwise the session's timeout ends it
    session_.Close();
  }

  void Take(FromAgent frame) {
    if (frame.has_answer()) return link_->OnAnswer(std::move(*frame.mutable_answer()));
    const bool is_gone = frame.has_gone() && IsOfJob(agent_, frame.gone().attempt_id());
    if (is_gone) return desk_.host.OnAttemptGone(agent_, frame.gone().attempt_id());
    if (frame.has_shell_ended())
      return desk_.host.OnShellEnded(agent_, frame.shell_ended().terminal(), frame.shell_ended().status());
    if (!frame.has_ending() || std::exchange(ends_, true)) return;
    Diagnose(DiagnosticLevel::kInfo, "the agent " + agent_ + " ends: " + frame.ending().reason());
    if (frame.ending().time_limit()) desk_.slots.OnTimeLimit(agent_);
  }

  asio::any_io_executor loop_;
  const AgentDesk& desk_;
  asio::ip::address from_;
  std::shared_ptr<void> unproven_;
  mux::Session session_;
  std::unique_ptr<http::ConnectionSeat> seat_;  ///< null: it is not counted
  std::shared_ptr<AgentLink> link_;             ///< null until the control stream is open
  std::string agent_;                           ///< empty until it is admitted
  bool over_ = false;
  bool ends_ = false;  ///< it has announced its end; once is enough
  std::vector<std::weak_ptr<mux::Stream>> attaches_;
  Event said_hello_{loop_};
  TaskGroup tasks_;
};

}  // namespace

std::optional<RelayedConnection> ParseRelayPath(std::string_view path) {
  if (path == "/agent/v1/attach")
    return RelayedConnection{.purpose = RelayPurpose::kAttach, .attempt_id = {}};
  for (const RelayPath& known : kOfAttempts) {
    if (!path.starts_with(known.begin)) continue;
    std::string attempt_id(path.substr(known.begin.size()));
    if (!cluster::ParseAttemptId(attempt_id)) return std::nullopt;
    return RelayedConnection{.purpose = known.purpose, .attempt_id = std::move(attempt_id)};
  }
  return std::nullopt;
}

asio::awaitable<void> ServeAgent(asio::any_io_executor loop, AgentConnection connection,
                                 const AgentDesk& desk) {
  const auto session = std::make_unique<AgentSession>(std::move(loop), std::move(connection), desk);
  co_await session->Run();
}

}  // namespace trainyard::engine
