#pragma once

#include <boost/asio/awaitable.hpp>
#include <string>
#include <utility>
#include <vector>

#include "engine/attempt_host.h"

namespace trainyard::engine {

/// The attempt hosts of a server, which outlive this value. A slot's agent determines which of them handles
/// it. Loop thread only.
struct AttemptHosts {
  AttemptHost& here;
  AttemptHost* with_agents = nullptr;  ///< null: this server has no agents

  [[nodiscard]] AttemptHost& Of(const std::string& agent) const {
    return agent.empty() || with_agents == nullptr ? here : *with_agents;
  }
  void SetOnGone(const AttemptHost::OnGone& on_gone) const;
  /// The attempts of both hosts.
  [[nodiscard]] boost::asio::awaitable<Result<std::vector<AttemptRef>>> List() const;
};

}  // namespace trainyard::engine
