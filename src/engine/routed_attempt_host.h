#pragma once

#include <string>
#include <utility>
#include <vector>

#include "engine/attempt_host.h"

namespace trainyard::engine {

/// The attempts of a server that gives room here and elsewhere: each call goes to the host that the attempt's
/// agent names. Loop thread only; both hosts outlive it.
class RoutedAttemptHost final : public AttemptHost {
 public:
  RoutedAttemptHost(AttemptHost& here, AttemptHost& with_agents) : here_(here), with_agents_(with_agents) {}

  void SetOnGone(OnGone on_gone) override;
  boost::asio::awaitable<Status> Start(Manifest manifest, Slot slot) override {
    AttemptHost& host = Of(slot.agent());
    return host.Start(std::move(manifest), std::move(slot));
  }
  boost::asio::awaitable<Inspection> Inspect(AttemptRef attempt) override {
    AttemptHost& host = Of(attempt.agent);
    return host.Inspect(std::move(attempt));
  }
  boost::asio::awaitable<Result<std::vector<AttemptRef>>> List() override;
  boost::asio::awaitable<Result<Holding>> HoldingOf(AttemptRef attempt) override {
    AttemptHost& host = Of(attempt.agent);
    return host.HoldingOf(std::move(attempt));
  }
  boost::asio::awaitable<Result<Remains>> Collect(AttemptRef attempt, std::int64_t from_line) override {
    AttemptHost& host = Of(attempt.agent);
    return host.Collect(std::move(attempt), from_line);
  }
  boost::asio::awaitable<Status> Kill(AttemptRef attempt) override {
    AttemptHost& host = Of(attempt.agent);
    return host.Kill(std::move(attempt));
  }
  boost::asio::awaitable<Status> Forget(AttemptRef attempt) override {
    AttemptHost& host = Of(attempt.agent);
    return host.Forget(std::move(attempt));
  }
  boost::asio::awaitable<Result<shell::Terminal>> OpenShell(AttemptRef attempt,
                                                            shell::TerminalSize size) override {
    AttemptHost& host = Of(attempt.agent);
    return host.OpenShell(std::move(attempt), size);
  }

 private:
  [[nodiscard]] AttemptHost& Of(const std::string& agent) const {
    return agent.empty() ? here_ : with_agents_;
  }

  AttemptHost& here_;
  AttemptHost& with_agents_;
};

}  // namespace trainyard::engine
