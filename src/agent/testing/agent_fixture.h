#pragma once

#include <memory>
#include <string>
#include <vector>

#include "agent/testing/fake_agent_server.h"
#include "process/child_process.h"
#include "supervisor/testing/attempt_fixture.h"

namespace trainyard::agent {

inline constexpr const char* kAttempt = "7-master-replica-0-1";

/// Agents as processes of their own, with a server each test plays. Supervisors are the test's own program,
/// and their connections end at the fixture's replica::FakeServer.
class AgentFixture : public replica::AttemptFixture {
 protected:
  AgentFixture();
  ~AgentFixture() override;

  struct Start {
    std::string ticket = "the-ticket";
    std::string node = "n1";
    int slot = 0;
    std::string fingerprint{};  ///< empty: the server's
    std::vector<std::string> variables{};
  };
  /// Starts one beside those that run.
  void StartAgent(const Start& start);
  void StartAgent() { StartAgent(Start()); }
  /// Sends the signal to the agent that was started last, and waits for its end.
  ExitStatus End(int signal);
  ExitStatus WaitForAgent();
  /// Waits until so many have said hello.
  [[nodiscard]] bool WaitForHellos(std::size_t count);
  /// Waits until the one that came last has understood its welcome.
  [[nodiscard]] bool WaitForWelcome();
  /// Has the agent begin the fixture's attempt.
  void StartAttempt();
  [[nodiscard]] bool WaitForGone();
  /// The process that does the agent's work.
  [[nodiscard]] pid_t Worker() const;
  [[nodiscard]] std::string Complaints() const;
  [[nodiscard]] std::vector<v1::FromAgent::Hello> Hellos();
  /// The reason of Ending; nothing: none came.
  [[nodiscard]] std::vector<std::string> Endings();

  std::unique_ptr<FakeAgentServer> agents_server_;
  std::vector<ChildProcess> agents_;
};

}  // namespace trainyard::agent
