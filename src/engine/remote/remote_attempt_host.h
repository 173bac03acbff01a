#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/async/task_group.h"
#include "engine/attempt_host.h"
#include "engine/remote/agent_link.h"

namespace trainyard::engine {

/// Runs attempts on other machines, through their agents. While an agent is not connected (because of its
/// network or node, or because this server has just started), calls wait until it is back or known to be
/// dead; only Start and OpenShell fail with kUnavailable instead. Loop thread only. docs/adr/0056-agents.md.
class RemoteAttemptHost final : public AttemptHost {
 public:
  static constexpr std::chrono::seconds kUnheardMax{60};

  /// `may_live`: whether the agent of that name may be alive, or come back. An agent that is not connected
  /// and for which this is false is dead, and so are its attempts. `on_unheard`: called if an agent has not
  /// answered the request to kill an attempt for kUnheardMax; null: nobody needs to know.
  RemoteAttemptHost(boost::asio::any_io_executor loop, std::function<bool(const std::string& agent)> may_live,
                    std::function<void(const std::string& agent)> on_unheard = {});

  void SetOnGone(OnGone on_gone) override { on_gone_ = std::move(on_gone); }
  boost::asio::awaitable<Status> Start(Manifest manifest, Slot slot) override;
  boost::asio::awaitable<Inspection> Inspect(AttemptRef attempt) override;
  /// The attempts of agents that have connected since this server began; the others are known from records.
  boost::asio::awaitable<Result<std::vector<AttemptRef>>> List() override;
  boost::asio::awaitable<Result<Holding>> HoldingOf(AttemptRef attempt) override;
  boost::asio::awaitable<Result<Remains>> Collect(AttemptRef attempt, std::int64_t from_line) override;
  boost::asio::awaitable<Status> Kill(AttemptRef attempt) override;
  boost::asio::awaitable<Status> Forget(AttemptRef attempt) override;
  boost::asio::awaitable<Result<shell::Terminal>> OpenShell(AttemptRef attempt,
                                                            shell::TerminalSize size) override;

  // Events of agents.
  /// The agent has its slot; `found` is its report on its attempts when it connects. Replaces an older
  /// connection.
  void OnAttached(const std::string& agent, std::shared_ptr<AgentLink> link,
                  const std::vector<agent::v1::AttemptFound>& found);
  void OnDetached(const std::string& agent, const AgentLink* link);
  void OnAttemptGone(const std::string& agent, const std::string& attempt_id);
  /// A shell that OpenShell requested has ended, with that exit status.
  void OnShellEnded(const std::string& agent, const std::string& terminal, int status);
  /// Agents whose names begin with `prefix` will not come back, and none of their processes lives: each of
  /// their attempts is reported gone.
  void SetDead(std::string_view prefix);
  /// Ends agents whose names begin with `prefix`, once they have handed over what they have.
  void Release(std::string_view prefix, const std::string& reason);
  /// Takes the stream of a shell that OpenShell requested.
  void OnTerminal(const std::string& agent, const std::string& terminal, std::shared_ptr<mux::Stream> stream);

 private:
  struct Agent {
    explicit Agent(const boost::asio::any_io_executor& loop) : changed(loop) {}
    std::shared_ptr<AgentLink> link;  ///< null: away
    bool dead = false;
    Event changed;
    std::set<std::string> kept;      ///< attempts that were started and not forgotten
    std::set<std::string> living;    ///< those of them that have not ended
    std::set<std::string> not_sent;  ///< attempts whose Start certainly never reached the agent
  };
  /// A shell that a user has open.
  struct Shell {
    explicit Shell(const boost::asio::any_io_executor& loop) : ended(loop) {}
    Event ended;  ///< or nobody will say how it ends
    std::optional<int> status;
  };
  using Agents = std::map<std::string, std::shared_ptr<Agent>, std::less<>>;

  static boost::asio::awaitable<std::optional<int>> StatusOf(std::shared_ptr<Shell> shell);
  /// Nobody will say how shells with such keys end.
  void LeaveShells(std::string_view prefix);
  boost::asio::awaitable<void> WatchKill(std::string agent, std::shared_ptr<Event> answered);
  std::shared_ptr<Agent> Of(const std::string& agent);
  [[nodiscard]] bool WasNotSent(const AttemptRef& attempt) const;
  [[nodiscard]] std::vector<std::shared_ptr<Agent>> WithPrefix(std::string_view prefix) const;
  boost::asio::awaitable<std::shared_ptr<AgentLink>> LinkOf(std::string agent);
  boost::asio::awaitable<Result<AgentLink::Answers>> Ask(std::string agent, ToAgent::Request request,
                                                         bool& dead);
  void SayGone(Agent& agent, const std::string& attempt_id);
  [[nodiscard]] std::ptrdiff_t CountAwaited(const std::string& agent) const;

  boost::asio::any_io_executor loop_;
  std::function<bool(const std::string& agent)> may_live_;
  std::function<void(const std::string& agent)> on_unheard_;
  OnGone on_gone_;
  Agents agents_;
  std::int64_t terminals_ = 0;
  std::map<std::string, UniqueFd> awaited_terminals_;   ///< our end for the stream, by agent and terminal
  std::map<std::string, std::weak_ptr<Shell>> shells_;  ///< by agent and terminal; their users own them
  TaskGroup tasks_;
};

}  // namespace trainyard::engine
