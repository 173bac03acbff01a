#include "engine/agent/testing/agent_processes.h"

#include <fcntl.h>

#include <csignal>
#include <cstdio>
#include <filesystem>
#include <sstream>
#include <utility>

#include "base/async/file.h"
#include "base/check.h"
#include "engine/agent/node_folder.h"
#include "engine/local/attempt_files.h"

namespace trainyard::agent {

namespace fs = std::filesystem;

AgentProcesses::AgentProcesses() {
  fs::remove_all(dir_.path);  // the agent makes its own
  manifest_.set_attempt_id(kAttempt);
  dir_.path =
      folder_.path() + "/node/nodes/n1/slots/" + SlotFolderName(Start().ticket, 0) + "/attempts/" + kAttempt;
}

void AgentProcesses::EndAgents() {
  for (ChildProcess& agent : agents_) {
    if (agent.ended()) continue;
    (void)agent.Kill(SIGTERM);
    EXPECT_TRUE(agent.WaitFor(std::chrono::seconds(40))) << "the agent does not end";
    engine::KillSupervisor(dir_);  // if it did not
  }
  if (HasFailure()) {
    std::error_code error;
    for (fs::recursive_directory_iterator entry(folder_.path() + "/node", error), end; !error && entry != end;
         entry.increment(error)) {
      if (entry->path().filename() == "agent.log" || entry->path().filename() == "supervisor.log")
        std::fprintf(stderr, "%s:\n%s", entry->path().c_str(), ReadFile(entry->path()).value_or("").c_str());
    }
  }
}

void AgentProcesses::SpawnAgent(const Start& start) {
  const UniqueFd complaints = *OpenFile(folder_.path() + "/complaints", O_WRONLY | O_CREAT | O_APPEND, 0600);
  SpawnOptions options{
      .argv = {"trainyard", "agent", "--server=127.0.0.1:" + std::to_string(start.server_port),
               "--fingerprint=" + start.fingerprint, "--slot=" + std::to_string(start.slot),
               "--node=" + start.node, "--gpus=", "--dir=" + folder_.path() + "/node"},
      .program = "/proc/self/exe",
      // Without an index there is no attempt to reach it: tests use no network.
      .environment = {"PATH=/usr/bin:/bin", "HOME=" + folder_.path(), "TRAINYARD_TICKET=" + start.ticket,
                      "UV_NO_INDEX=1"},
      .descriptors = {{complaints.get(), 2}}};
  options.environment.insert(options.environment.end(), start.variables.begin(), start.variables.end());
  Result<ChildProcess> agent = ChildProcess::Spawn(std::move(options));
  TY_CHECK(agent);
  agents_.push_back(*std::move(agent));
}

ExitStatus AgentProcesses::WaitForAgent() {
  const Result<ExitStatus> ended = agents_.back().WaitFor(std::chrono::seconds(40));
  EXPECT_TRUE(ended) << "the agent does not end";
  return ended.value_or(ExitStatus{.code = -1});
}

ExitStatus AgentProcesses::End(int signal) {
  EXPECT_TRUE(agents_.back().Kill(signal));
  return WaitForAgent();
}

pid_t AgentProcesses::Worker() const {
  const std::string watcher = std::to_string(agents_.back().pid());
  std::istringstream children(*ReadFile("/proc/" + watcher + "/task/" + watcher + "/children"));
  pid_t first = -1;
  children >> first;
  return first;
}

std::string AgentProcesses::Complaints() const {
  return ReadFile(folder_.path() + "/complaints").value_or("");
}

}  // namespace trainyard::agent
