#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

#include "base/process/child_process.h"
#include "replica/supervisor/testing/attempt_fixture.h"

namespace trainyard::agent {

inline constexpr const char* kAttempt = "7-master-replica-0-1";

/// Runs agents as child processes for the fixture's attempt, whose directory is in slot 0 of node "n1".
/// Agents and supervisors are the test's own program. The agents' server must forward the supervisors'
/// connections to the fixture's replica::FakeServer.
class AgentProcesses : public replica::AttemptFixture {
 protected:
  struct Start {
    std::string ticket = "the-ticket";
    std::string node = "n1";
    int slot = 0;
    std::uint16_t server_port = 0;
    std::string fingerprint{};
    std::vector<std::string> variables{};
  };

  AgentProcesses();
  /// Starts one more agent.
  void SpawnAgent(const Start& start);
  /// Sends the signal to the agent that was started last, and waits for its end.
  ExitStatus End(int signal);
  ExitStatus WaitForAgent();
  /// Ends agents that still run, and if the test has failed prints what agents and supervisors wrote. Call it
  /// in the destructor of the class that owns their server.
  void EndAgents();
  /// The process that does the agent's work.
  [[nodiscard]] pid_t Worker() const;
  [[nodiscard]] std::string Complaints() const;

  std::vector<ChildProcess> agents_;
};

}  // namespace trainyard::agent
