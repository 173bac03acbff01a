#pragma once

#include <memory>
#include <string>
#include <vector>

#include "engine/agent/testing/agent_processes.h"
#include "engine/agent/testing/fake_agent_server.h"

namespace trainyard::agent {

/// Agents with a server that each test plays.
class AgentFixture : public AgentProcesses {
 protected:
  AgentFixture();
  ~AgentFixture() override;

  /// Starts one beside those that run; without a port or a fingerprint for the test's server.
  void StartAgent(Start start);
  void StartAgent() { StartAgent(Start()); }
  /// Waits until so many have said hello.
  [[nodiscard]] bool WaitForHellos(std::size_t count);
  /// Waits until the one that came last has understood its welcome.
  [[nodiscard]] bool WaitForWelcome();
  /// Has the agent begin the fixture's attempt.
  void StartAttempt();
  [[nodiscard]] bool WaitForGone();
  [[nodiscard]] std::vector<v1::FromAgent::Hello> Hellos();
  /// The reason of Ending; nothing: none came.
  [[nodiscard]] std::vector<std::string> Endings();

  std::unique_ptr<FakeAgentServer> agents_server_;
};

}  // namespace trainyard::agent
