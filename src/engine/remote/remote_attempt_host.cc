#include "engine/remote/remote_attempt_host.h"

#include <sys/socket.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "base/wire/time.h"
#include "net/mux/pump.h"

namespace trainyard::engine {

namespace {

namespace asio = boost::asio;

const std::string kNodeLost = "the node of the replica is lost";

AttemptState StateOf(const agent::v1::AttemptFound& found) {
  switch (found.state()) {
    case agent::v1::AttemptFound::ALIVE: return AttemptState::kAlive;
    case agent::v1::AttemptFound::ENDED: return AttemptState::kEnded;
    case agent::v1::AttemptFound::LOST: return AttemptState::kLost;
    default: return AttemptState::kAbsent;
  }
}

/// `from_line`: the number of lines that reached the server.
AttemptHost::Remains LostWithItsNode(std::int64_t from_line) {
  AttemptHost::Remains remains;
  remains.exit.set_cause(ExitRecord::LOST);
  remains.exit.set_log_lost(true);
  remains.exit.set_message("its node or its agent is lost, and with it the output after line " +
                           std::to_string(from_line) + ", the last line that reached the server");
  *remains.exit.mutable_end_time() = wire::ToProto(SysTime(std::chrono::system_clock::now()));
  return remains;
}

/// The most shells that were requested of an agent and that it has not opened yet.
constexpr std::ptrdiff_t kAwaitedTerminalsMax = 32;
/// An agent says how a shell ended within this time after the end of its bytes.
constexpr std::chrono::seconds kShellEndMax{5};

/// A caller that is cancelled no longer waits for an answer, either.
struct SetAtEnd {
  Event& event;
  explicit SetAtEnd(Event& set) : event(set) {}
  SetAtEnd(const SetAtEnd&) = delete;
  SetAtEnd& operator=(const SetAtEnd&) = delete;
  ~SetAtEnd() { event.Set(); }
};

std::string TerminalKey(const std::string& agent, const std::string& terminal) {
  return agent + "#" + terminal;
}

}  // namespace

RemoteAttemptHost::RemoteAttemptHost(asio::any_io_executor loop,
                                     std::function<bool(const std::string& agent)> may_live,
                                     std::function<void(const std::string& agent)> on_unheard)
    : loop_(loop),
      may_live_(std::move(may_live)),
      on_unheard_(std::move(on_unheard)),
      tasks_(std::move(loop)) {}

std::shared_ptr<RemoteAttemptHost::Agent> RemoteAttemptHost::Of(const std::string& agent) {
  std::shared_ptr<Agent>& known = agents_[agent];
  if (!known) known = std::make_shared<Agent>(loop_);
  return known;
}

std::vector<std::shared_ptr<RemoteAttemptHost::Agent>> RemoteAttemptHost::WithPrefix(
    std::string_view prefix) const {
  std::vector<std::shared_ptr<Agent>> found;
  for (auto at = agents_.lower_bound(prefix); at != agents_.end() && at->first.starts_with(prefix); ++at)
    found.push_back(at->second);
  return found;
}

bool RemoteAttemptHost::WasNotSent(const AttemptRef& attempt) const {
  const auto known = agents_.find(attempt.agent);
  return known != agents_.end() && known->second->not_sent.contains(attempt.id);
}

/// Waits for the agent's connection. Null: the agent is dead.
asio::awaitable<std::shared_ptr<AgentLink>> RemoteAttemptHost::LinkOf(std::string agent) {
  if (!agents_.contains(agent) && !may_live_(agent)) co_return nullptr;
  const std::shared_ptr<Agent> known = Of(agent);
  for (;;) {
    if (known->link && !known->link->is_closed()) co_return known->link;
    if (known->dead || !may_live_(agent)) co_return nullptr;
    known->changed.Reset();
    co_await known->changed.Wait();
  }
}

/// Repeats the request if the connection was lost meanwhile: every request but Start may be sent twice.
asio::awaitable<Result<AgentLink::Answers>> RemoteAttemptHost::Ask(std::string agent,
                                                                   ToAgent::Request request, bool& dead) {
  for (;;) {
    const std::shared_ptr<AgentLink> link = co_await LinkOf(agent);
    dead = link == nullptr;
    if (dead) co_return std::unexpected(Unavailable(kNodeLost));
    Result<AgentLink::Answers> answers = co_await link->Ask(request);
    const bool was_lost = !answers && link->is_closed() && answers.error().code == Code::kUnavailable;
    if (!was_lost) co_return answers;
  }
}

asio::awaitable<Status> RemoteAttemptHost::Start(Manifest manifest, Slot slot) {
  const std::shared_ptr<Agent> agent = Of(slot.agent());
  const std::string attempt_id = manifest.attempt_id();
  if (!agent->link || agent->link->is_closed()) {
    agent->not_sent.insert(attempt_id);
    co_return std::unexpected(Unavailable("the agent on " + slot.node() + " is away"));
  }
  agent->not_sent.erase(attempt_id);
  ToAgent::Request request;
  *request.mutable_start()->mutable_manifest() = std::move(manifest);
  *request.mutable_start()->mutable_slot() = std::move(slot);
  const std::shared_ptr<AgentLink> link = agent->link;
  const Result<AgentLink::Answers> started = co_await link->Ask(std::move(request));
  // If the agent itself rejects the start, that is an answer; without an answer it may have started the
  // attempt.
  if (!started && !link->is_closed() && started.error().code == Code::kUnavailable)
    agent->not_sent.insert(attempt_id);
  if (!started) co_return std::unexpected(started.error());
  agent->kept.insert(attempt_id);
  agent->living.insert(attempt_id);
  co_return Status();
}

asio::awaitable<Inspection> RemoteAttemptHost::Inspect(AttemptRef attempt) {
  if (WasNotSent(attempt)) co_return Inspection{AttemptState::kAbsent};
  ToAgent::Request request;
  request.set_inspect(attempt.id);
  bool dead = false;
  const Result<AgentLink::Answers> answers = co_await Ask(attempt.agent, std::move(request), dead);
  if (dead) co_return Inspection{AttemptState::kLost};
  if (!answers) co_return Inspection{AttemptState::kUnknown, answers.error().message};
  const Inspection found{.state = StateOf(answers->back().attempt()),
                         .has_exit = answers->back().attempt().has_exit()};
  if (found.state == AttemptState::kAlive) {
    Of(attempt.agent)->kept.insert(attempt.id);
    Of(attempt.agent)->living.insert(attempt.id);
  }
  co_return found;
}

asio::awaitable<Result<std::vector<AttemptRef>>> RemoteAttemptHost::List() {
  std::vector<AttemptRef> kept;
  for (const auto& [name, agent] : agents_)
    for (const std::string& id : agent->kept) kept.push_back({.id = id, .agent = name});
  co_return kept;
}

asio::awaitable<Result<AttemptHost::Holding>> RemoteAttemptHost::HoldingOf(AttemptRef attempt) {
  ToAgent::Request request;
  request.set_holding_of(attempt.id);
  bool dead = false;
  const Result<AgentLink::Answers> answers = co_await Ask(attempt.agent, std::move(request), dead);
  if (dead) co_return std::unexpected(NotFound(kNodeLost));
  if (!answers) co_return std::unexpected(answers.error());
  const FromAgent::Answer& answer = answers->back();
  co_return Holding{.job_id = answer.job_id(), .devices = answer.devices(), .token = answer.token()};
}

asio::awaitable<Result<AttemptHost::Remains>> RemoteAttemptHost::Collect(AttemptRef attempt,
                                                                         std::int64_t from_line) {
  ToAgent::Request request;
  request.mutable_collect()->set_attempt_id(attempt.id);
  request.mutable_collect()->set_from_line(from_line);
  bool dead = false;
  Result<AgentLink::Answers> answers = co_await Ask(attempt.agent, std::move(request), dead);
  if (dead) co_return LostWithItsNode(from_line);
  if (!answers) co_return std::unexpected(answers.error());
  Remains remains;
  for (FromAgent::Answer& answer : *answers) {
    if (answer.has_exit()) remains.exit = std::move(*answer.mutable_exit());
    if (!answer.lacks().empty()) remains.lacks = std::move(*answer.mutable_lacks());
    if (answer.has_endpoint()) remains.endpoint = std::move(*answer.mutable_endpoint());
    if (answer.has_chunk()) remains.chunks.push_back(std::move(*answer.mutable_chunk()));
  }
  co_return remains;
}

asio::awaitable<void> RemoteAttemptHost::WatchKill(std::string agent, std::shared_ptr<Event> answered) {
  if (!co_await answered->WaitFor(kUnheardMax) && on_unheard_) on_unheard_(agent);
}

asio::awaitable<Status> RemoteAttemptHost::Kill(AttemptRef attempt) {
  ToAgent::Request request;
  request.set_kill(attempt.id);
  bool dead = false;
  const auto answered = std::make_shared<Event>(loop_);
  tasks_.Spawn(WatchKill(attempt.agent, answered));
  const SetAtEnd end{*answered};
  const Result<AgentLink::Answers> answers = co_await Ask(attempt.agent, std::move(request), dead);
  if (dead || answers) co_return Status();
  co_return std::unexpected(answers.error());
}

asio::awaitable<Status> RemoteAttemptHost::Forget(AttemptRef attempt) {
  if (WasNotSent(attempt)) co_return Status();
  ToAgent::Request request;
  request.set_forget(attempt.id);
  bool dead = false;
  const Result<AgentLink::Answers> answers = co_await Ask(attempt.agent, std::move(request), dead);
  if (!dead && !answers) co_return std::unexpected(answers.error());
  if (const auto known = agents_.find(attempt.agent); known != agents_.end())
    known->second->kept.erase(attempt.id);
  co_return Status();
}

std::ptrdiff_t RemoteAttemptHost::CountAwaited(const std::string& agent) const {
  const std::string prefix = TerminalKey(agent, "");
  const auto is_other = [&prefix](const auto& one) { return !one.first.starts_with(prefix); };
  const auto first = awaited_terminals_.lower_bound(prefix);
  return std::distance(first, std::find_if(first, awaited_terminals_.end(), is_other));
}

asio::awaitable<Result<shell::Terminal>> RemoteAttemptHost::OpenShell(AttemptRef attempt,
                                                                      shell::TerminalSize size) {
  const std::shared_ptr<Agent> agent = Of(attempt.agent);
  const std::shared_ptr<AgentLink> link = agent->link;
  if (!link) co_return std::unexpected(Unavailable("the replica's agent is not connected"));
  if (CountAwaited(attempt.agent) >= kAwaitedTerminalsMax)
    co_return std::unexpected(
        Error{Code::kResourceExhausted,
              "the agent on " + attempt.node + " has not opened the shells that it was asked for before",
              {}});
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends) != 0)
    co_return std::unexpected(ErrnoError(errno, "socketpair"));
  UniqueFd ours(ends[0]);
  const std::string terminal = std::to_string(++terminals_);
  const std::string key = TerminalKey(attempt.agent, terminal);
  awaited_terminals_[key] = UniqueFd(ends[1]);
  ToAgent::Request request;
  ToAgent::OpenShell& open = *request.mutable_open_shell();
  open.set_attempt_id(attempt.id);
  open.set_rows(size.rows);
  open.set_columns(size.columns);
  open.set_terminal(terminal);
  std::erase_if(shells_, [](const auto& one) { return one.second.expired(); });
  const auto shell = std::make_shared<Shell>(loop_);
  shells_[key] = shell;  // it may end before the answer is read
  const Result<AgentLink::Answers> opened = co_await link->Ask(std::move(request));
  if (!opened) {
    awaited_terminals_.erase(key);
    co_return std::unexpected(opened.error());
  }
  auto resize = [link, terminal](shell::TerminalSize wanted) {
    ToAgent frame;
    frame.mutable_resize()->set_terminal(terminal);
    frame.mutable_resize()->set_rows(wanted.rows);
    frame.mutable_resize()->set_columns(wanted.columns);
    link->Send(frame);
  };
  co_return shell::Terminal{
      .master = std::move(ours), .resize = std::move(resize), .status = [shell] { return StatusOf(shell); }};
}

asio::awaitable<std::optional<int>> RemoteAttemptHost::StatusOf(std::shared_ptr<Shell> shell) {
  std::ignore = co_await shell->ended.WaitFor(kShellEndMax);
  co_return shell->status;
}

void RemoteAttemptHost::LeaveShells(std::string_view prefix) {
  for (const auto& [key, shell] : shells_)
    if (const auto open = shell.lock(); open && key.starts_with(prefix)) open->ended.Set();
}

void RemoteAttemptHost::OnShellEnded(const std::string& agent, const std::string& terminal, int status) {
  const auto found = shells_.find(TerminalKey(agent, terminal));
  if (found == shells_.end()) return;
  if (const std::shared_ptr<Shell> shell = found->second.lock()) {
    shell->status = status;
    shell->ended.Set();
  }
  shells_.erase(found);
}

void RemoteAttemptHost::OnTerminal(const std::string& agent, const std::string& terminal,
                                   std::shared_ptr<mux::Stream> stream) {
  const auto awaited = awaited_terminals_.find(TerminalKey(agent, terminal));
  if (awaited == awaited_terminals_.end()) return stream->Reset();
  tasks_.Spawn(mux::Pump(std::move(stream), std::move(awaited->second)));
  awaited_terminals_.erase(awaited);
}

void RemoteAttemptHost::OnAttached(const std::string& agent, std::shared_ptr<AgentLink> link,
                                   const std::vector<agent::v1::AttemptFound>& found) {
  const std::shared_ptr<Agent> known = Of(agent);
  if (known->link) known->link->Close();
  LeaveShells(TerminalKey(agent, ""));
  known->link = std::move(link);
  std::set<std::string> still;
  known->kept.clear();
  for (const agent::v1::AttemptFound& one : found) {
    known->kept.insert(one.attempt_id());
    if (one.state() == agent::v1::AttemptFound::ALIVE) still.insert(one.attempt_id());
  }
  for (const std::string& attempt : std::set<std::string>(known->living))
    if (!still.contains(attempt)) SayGone(*known, attempt);
  known->living.merge(still);
  known->changed.Set();
}

void RemoteAttemptHost::OnDetached(const std::string& agent, const AgentLink* link) {
  const auto known = agents_.find(agent);
  if (known == agents_.end() || known->second->link.get() != link) return;
  known->second->link = nullptr;
  LeaveShells(TerminalKey(agent, ""));
}

void RemoteAttemptHost::OnAttemptGone(const std::string& agent, const std::string& attempt_id) {
  SayGone(*Of(agent), attempt_id);
}

void RemoteAttemptHost::SetDead(std::string_view prefix) {
  LeaveShells(prefix);
  for (const std::shared_ptr<Agent>& agent : WithPrefix(prefix)) {
    agent->dead = true;
    if (agent->link) std::exchange(agent->link, nullptr)->Close();
    agent->changed.Set();
    for (const std::string& attempt : std::set<std::string>(agent->living)) SayGone(*agent, attempt);
  }
  const auto is_other = [prefix](const auto& one) { return !one.first.starts_with(prefix); };
  const auto first = agents_.lower_bound(prefix);
  agents_.erase(first, std::find_if(first, agents_.end(), is_other));  // waiting callers share the ownership
}

void RemoteAttemptHost::Release(std::string_view prefix, const std::string& reason) {
  ToAgent frame;
  frame.mutable_release()->set_reason(reason);
  for (const std::shared_ptr<Agent>& agent : WithPrefix(prefix))
    if (agent->link) agent->link->Send(frame);
}

void RemoteAttemptHost::SayGone(Agent& agent, const std::string& attempt_id) {
  agent.living.erase(attempt_id);
  if (on_gone_) on_gone_(attempt_id);
}

}  // namespace trainyard::engine
