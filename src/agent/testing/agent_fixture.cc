#include "agent/testing/agent_fixture.h"

#include <fcntl.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <sstream>

#include "agent/node_folder.h"
#include "async/file.h"
#include "base/check.h"
#include "engine/local/attempt_files.h"

namespace trainyard::agent {

namespace fs = std::filesystem;

AgentFixture::AgentFixture() {
  fs::remove_all(dir_.path);  // the agent makes its own
  manifest_.set_attempt_id(kAttempt);
  dir_.path =
      folder_.path() + "/node/nodes/n1/slots/" + SlotFolderName(Start().ticket, 0) + "/attempts/" + kAttempt;
  agents_server_ = std::make_unique<FakeAgentServer>(manifest_.places().attach_socket());
  v1::ToAgent frame;
  v1::ToAgent::Welcome& welcome = *frame.mutable_welcome();
  welcome.set_environments_dir(manifest_.places().environments_dir());
  welcome.set_ca_certificate_pem(agents_server_->authority());
  welcome.add_front_host_names("storage.googleapis.com");
  (*welcome.mutable_runtime_definitions())["mine.json"] = "{}";
  agents_server_->SetGreet([frame](const auto&) { return frame; });
}

AgentFixture::~AgentFixture() {
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

void AgentFixture::StartAgent(const Start& start) {
  const UniqueFd complaints = *OpenFile(folder_.path() + "/complaints", O_WRONLY | O_CREAT | O_APPEND, 0600);
  const std::string fingerprint =
      start.fingerprint.empty() ? agents_server_->fingerprint() : start.fingerprint;
  SpawnOptions options{
      .argv = {"trainyard", "agent", "--server=127.0.0.1:" + std::to_string(agents_server_->port()),
               "--fingerprint=" + fingerprint, "--slot=" + std::to_string(start.slot), "--node=" + start.node,
               "--gpus=", "--dir=" + folder_.path() + "/node"},
      .program = "/proc/self/exe",
      .environment = {"PATH=/usr/bin:/bin", "HOME=" + folder_.path(), "TRAINYARD_TICKET=" + start.ticket},
      .descriptors = {{complaints.get(), 2}}};
  options.environment.insert(options.environment.end(), start.variables.begin(), start.variables.end());
  Result<ChildProcess> agent = ChildProcess::Spawn(std::move(options));
  TY_CHECK(agent);
  agents_.push_back(*std::move(agent));
}

ExitStatus AgentFixture::WaitForAgent() {
  const Result<ExitStatus> ended = agents_.back().WaitFor(std::chrono::seconds(40));
  EXPECT_TRUE(ended) << "the agent does not end";
  return ended.value_or(ExitStatus{.code = -1});
}

ExitStatus AgentFixture::End(int signal) {
  EXPECT_TRUE(agents_.back().Kill(signal));
  return WaitForAgent();
}

bool AgentFixture::WaitForHellos(std::size_t count) {
  return agents_server_->WaitFor([count](const auto& memory) { return memory.hellos.size() >= count; });
}

bool AgentFixture::WaitForWelcome() {
  v1::ToAgent::Request request;
  request.set_inspect(manifest_.attempt_id());
  return WaitForHellos(1) && agents_server_->Ask(request).size() == 1;
}

void AgentFixture::StartAttempt() {
  v1::ToAgent::Request request;
  *request.mutable_start()->mutable_manifest() = manifest_;
  request.mutable_start()->mutable_manifest()->clear_places();
  request.mutable_start()->mutable_manifest()->clear_address();
  request.mutable_start()->mutable_manifest()->clear_port();
  request.mutable_start()->mutable_slot()->set_network(replica::v1::Manifest::HOST);
  const auto answers = agents_server_->Ask(request);
  ASSERT_EQ(answers.size(), 1U);
  ASSERT_EQ(answers[0].code(), 0) << answers[0].message();
}

bool AgentFixture::WaitForGone() {
  return agents_server_->WaitFor([](const auto& memory) {
    return std::ranges::any_of(
        memory.frames, [](const v1::FromAgent& frame) { return frame.gone().attempt_id() == kAttempt; });
  });
}

pid_t AgentFixture::Worker() const {
  const std::string watcher = std::to_string(agents_.back().pid());
  std::istringstream children(*ReadFile("/proc/" + watcher + "/task/" + watcher + "/children"));
  pid_t first = -1;
  children >> first;
  return first;
}

std::string AgentFixture::Complaints() const { return ReadFile(folder_.path() + "/complaints").value_or(""); }

std::vector<v1::FromAgent::Hello> AgentFixture::Hellos() {
  std::vector<v1::FromAgent::Hello> hellos;
  (void)agents_server_->WaitFor([&hellos](const auto& memory) {
    hellos = memory.hellos;
    return true;
  });
  return hellos;
}

std::vector<std::string> AgentFixture::Endings() {
  std::vector<std::string> endings;
  (void)agents_server_->WaitFor([&endings](const auto& memory) {
    for (const v1::FromAgent& frame : memory.frames)
      if (frame.has_ending()) endings.push_back(frame.ending().reason());
    return true;
  });
  return endings;
}

}  // namespace trainyard::agent
