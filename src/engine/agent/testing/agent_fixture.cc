#include "engine/agent/testing/agent_fixture.h"

#include <algorithm>
#include <utility>

namespace trainyard::agent {

AgentFixture::AgentFixture() {
  agents_server_ = std::make_unique<FakeAgentServer>(manifest_.places().attach_socket());
  v1::ToAgent frame;
  v1::ToAgent::Welcome& welcome = *frame.mutable_welcome();
  welcome.set_environments_dir(manifest_.places().environments_dir());
  welcome.set_ca_certificate_pem(agents_server_->authority());
  welcome.add_front_host_names("storage.googleapis.com");
  (*welcome.mutable_runtime_definitions())["mine.json"] = "{}";
  agents_server_->SetGreet([frame](const auto&) { return frame; });
}

AgentFixture::~AgentFixture() { EndAgents(); }

void AgentFixture::StartAgent(Start start) {
  if (start.server_port == 0) start.server_port = agents_server_->port();
  if (start.fingerprint.empty()) start.fingerprint = agents_server_->fingerprint();
  SpawnAgent(start);
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
  *request.mutable_start()->mutable_manifest() = Order();
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
