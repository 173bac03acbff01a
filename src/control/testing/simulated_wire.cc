#include "control/testing/simulated_wire.h"

#include <utility>

#include "base/async/event.h"
#include "control/run/pause.h"

namespace trainyard::control {

using boost::asio::awaitable;
using engine::FromReplica;
using engine::ReplicaLink;
using std::chrono::milliseconds;

namespace {

awaitable<void> Serve(awaitable<void> work, std::shared_ptr<Event> done) {
  struct SetAtEnd {
    std::shared_ptr<Event> event;
    ~SetAtEnd() { event->Set(); }
  };
  const SetAtEnd at_end{std::move(done)};
  co_await std::move(work);
}

}  // namespace

bool SimulatedWire::IsOpen(const ReplicaLink* link) const {
  const auto life = life_of_.find(link);
  return server_.is_up() && life != life_of_.end() && life->second == server_.lives();
}

Status SimulatedWire::OnHello(std::shared_ptr<ReplicaLink> link, const FromReplica::Hello& hello) {
  // Supervisors can connect once the server has taken over the jobs.
  if (!server_.has_recovered()) return std::unexpected(Unavailable("there is no server"));
  if (!room_.Reaches(hello.attempt_id())) return std::unexpected(Unavailable("its agent is not connected"));
  const ReplicaLink* const accepted_link = link.get();
  const Status accepted = server_.service().gateway().OnHello(std::move(link), hello);
  if (accepted) life_of_[accepted_link] = server_.lives();
  return accepted;
}

awaitable<void> SimulatedWire::OnFrame(std::shared_ptr<ReplicaLink> link, std::string attempt_id,
                                       FromReplica frame) {
  if (around_.Below(2) == 0) co_await Pause(milliseconds(around_.Below(50)));
  if (!IsOpen(link.get())) {
    link->Close();
    co_return;
  }
  // It is the server's work: it ends with the server, and the supervisor's connection does not.
  const auto done = std::make_shared<Event>(around_.loop.get_executor());
  ReplicaGateway& gateway = server_.service().gateway();
  server_.Call(Serve(gateway.OnFrame(std::move(link), std::move(attempt_id), std::move(frame)), done));
  co_await done->Wait();
}

void SimulatedWire::OnClosed(const ReplicaLink* link, const std::string& attempt_id) {
  const bool is_open = IsOpen(link);
  life_of_.erase(link);
  if (is_open) server_.service().gateway().OnClosed(link, attempt_id);
}

}  // namespace trainyard::control
