#pragma once

#include <memory>
#include <string>
#include <vector>

#include "engine/agent/testing/agent_processes.h"
#include "engine/agent/testing/fake_agent_server.h"

namespace trainyard::agent {

/// Runs agents against a server that each test simulates.
class AgentFixture : public AgentProcesses {
 protected:
  AgentFixture();
  ~AgentFixture() override;

  /// Starts one more agent; if `start` has no port or fingerprint, it connects to the test's server.
  void StartAgent(Start start);
  void StartAgent() { StartAgent(Start()); }
  /// Waits until `count` agents have sent Hello.
  [[nodiscard]] bool WaitForHellos(std::size_t count);
  /// Waits until the last agent has processed its welcome.
  [[nodiscard]] bool WaitForWelcome();
  /// Makes the agent start the fixture's attempt.
  void StartAttempt();
  [[nodiscard]] bool WaitForGone();
  [[nodiscard]] std::vector<v1::FromAgent::Hello> Hellos();
  /// The reasons of all Ending frames.
  [[nodiscard]] std::vector<std::string> Endings();

  std::unique_ptr<FakeAgentServer> agents_server_;
};

}  // namespace trainyard::agent
