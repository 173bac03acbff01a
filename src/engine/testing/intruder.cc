#include "engine/testing/intruder.h"

#include <chrono>
#include <utility>

namespace trainyard::engine {

namespace asio = boost::asio;

namespace {

constexpr std::uint64_t kStamp = 1;

FromReplica Hello(const std::string& attempt_id, const std::string& token) {
  FromReplica frame;
  frame.mutable_hello()->set_attempt_id(attempt_id);
  frame.mutable_hello()->set_token(token);
  frame.mutable_hello()->set_phase(replica::v1::READY);
  return frame;
}

FromReplica Runs() {
  FromReplica frame;
  frame.mutable_phase_changed()->set_phase(replica::v1::RUNNING);
  return frame;
}

FromReplica Line(std::int64_t number) {
  replica::v1::LogLines lines;
  lines.add_line()->set_stamp(kStamp);
  lines.mutable_line(0)->set_text(std::string(Intruder::kLine));
  FromReplica frame;
  replica::v1::LogChunk& chunk = *frame.mutable_log();
  chunk.set_first_line(number);
  chunk.set_line_count(1);
  chunk.set_first_stamp(kStamp);
  chunk.set_last_stamp(kStamp);
  chunk.set_lines(lines.SerializeAsString());
  return frame;
}

FromReplica Succeeded() {
  FromReplica frame;
  frame.mutable_exit()->set_cause(replica::v1::ExitRecord::EXITED);
  return frame;
}

}  // namespace

Intruder::Intruder(asio::any_io_executor loop, std::mt19937_64& random, ReplicaLinkObserver& server)
    : loop_(loop), random_(random), server_(server), tasks_(std::move(loop)) {}

/// The attempts of its replica before this one have ended.
void Intruder::Learn(const std::string& attempt_id, const std::string& token) {
  const std::string replica = attempt_id.substr(0, attempt_id.rfind('-') + 1);
  for (auto& [id, known] : known_) {
    if (id.starts_with(replica)) known.has_ended = true;
  }
  known_[attempt_id] = {.token = token};
}

void Intruder::LearnEnd(const std::string& attempt_id) {
  const auto found = known_.find(attempt_id);
  if (found != known_.end()) found->second.has_ended = true;
}

std::vector<std::string> Intruder::Living() const { return Those(false); }

std::vector<std::string> Intruder::Those(bool has_ended) const {
  std::vector<std::string> ids;
  for (const auto& [id, known] : known_) {
    if (known.has_ended == has_ended) ids.push_back(id);
  }
  return ids;
}

std::string Intruder::OneThat(bool has_ended) {
  const std::vector<std::string> ids = Those(has_ended);
  return ids.empty() ? "" : ids[random_() % ids.size()];
}

std::string_view Intruder::Try() {
  const std::string living = OneThat(false);
  const std::string ended = OneThat(true);
  const std::string target = living.empty() ? "1-master-replica-0-1" : living;
  switch (random_() % 5) {
    case 0: Connect("Hello with a wrong token", target, std::string(64, '0'), true); break;
    case 1:
      if (ended.empty()) return "";
      Connect("Hello with the token of an ended attempt", target, known_[ended].token, target != ended);
      break;
    case 2: {
      const std::string other = OneThat(false);
      if (other.empty() || other == target) return "";
      Connect("Hello with the token of another attempt", target, known_[other].token, true);
      break;
    }
    case 3: {
      const std::string token = target == living && !living.empty() ? known_[living].token : "";
      Connect("Hello of an attempt that was never started", "999-master-replica-0-1", token, true);
      break;
    }
    default:
      if (ended.empty()) return "";
      Connect("Hello of an attempt that has ended", ended, known_[ended].token, false);
  }
  return attacks_.back().name;
}

void Intruder::Connect(std::string_view name, const std::string& attempt_id, const std::string& token,
                       bool must_be_refused) {
  auto connection = std::make_shared<SimulatedConnection>(loop_, random_, nullptr);
  connection->Write(Hello(attempt_id, token));
  connection->Write(Runs());
  connection->Write(Line(static_cast<std::int64_t>(random_() % 4)));
  connection->Write(Succeeded());
  tasks_.Spawn(SimulatedConnection::Serve(connection, server_));
  attacks_.push_back({.name = name,
                      .attempt_id = attempt_id,
                      .must_be_refused = must_be_refused,
                      .connection = std::move(connection)});
}

std::vector<std::string> Intruder::TakeViolations() {
  std::vector<std::string> violations;
  for (const Attack& attack : attacks_) {
    const std::string what = std::string(attack.name) + " (" + attack.attempt_id + ")";
    if (attack.must_be_refused && attack.connection->is_accepted())
      violations.push_back(what + " was accepted");
    while (const auto frame = attack.connection->Read(SimulatedConnection::Time::max())) {
      if (frame->has_cluster()) violations.push_back(what + " was given the cluster");
      if (frame->has_dismiss()) attack.connection->Drop();
    }
  }
  std::erase_if(attacks_, [](const Attack& attack) { return attack.connection->is_closed(); });
  return violations;
}

}  // namespace trainyard::engine
