#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <memory>
#include <string>
#include <vector>

#include "base/async/task_group.h"
#include "engine/agent/control_stream.h"
#include "engine/agent/terminals.h"
#include "engine/attempt_host.h"
#include "trainyard/agent/v1/agent.pb.h"

namespace trainyard::agent {

/// What the server asks of the attempts: each request becomes a call of the attempt host, and an answer on
/// the connection that it came by. Loop thread only.
class AttemptRequests {
 public:
  /// Where the slot's replica listens, if the server does not say.
  struct Place {
    std::string address;
    int port = 0;
  };

  /// `host` and `terminals` outlive it.
  AttemptRequests(boost::asio::any_io_executor loop, engine::AttemptHost& host, Terminals& terminals);

  void SetPlace(Place place) { place_ = std::move(place); }
  void Serve(v1::ToAgent::Request request, std::shared_ptr<ControlStream> control);
  /// From now on no attempt begins: kUnavailable with the reason.
  void RefuseStarts(std::string reason) { refusal_ = std::move(reason); }
  [[nodiscard]] int starts_under_way() const noexcept { return starts_; }
  /// Called after each answer: an attempt may have come or gone.
  void SetOnServed(std::function<void()> on_served) { on_served_ = std::move(on_served); }

  /// All attempts of the slot. Of one whose state cannot be found out now it is said that it lives: nothing
  /// proves that it does not.
  boost::asio::awaitable<std::vector<v1::AttemptFound>> FindAll();

 private:
  using Answer = v1::FromAgent::Answer;
  boost::asio::awaitable<void> ServeOne(v1::ToAgent::Request request, std::shared_ptr<ControlStream> control);
  boost::asio::awaitable<Result<Answer>> Do(v1::ToAgent::Request request);
  boost::asio::awaitable<Result<Answer>> Start(v1::ToAgent::Start start);
  boost::asio::awaitable<Result<Answer>> Inspect(std::string attempt_id);
  boost::asio::awaitable<Result<Answer>> HoldingOf(std::string attempt_id);
  boost::asio::awaitable<Result<Answer>> OpenShell(v1::ToAgent::OpenShell open);
  boost::asio::awaitable<Status> Collect(const v1::ToAgent::Request& request, ControlStream& control);

  engine::AttemptHost& host_;
  Terminals& terminals_;
  Place place_;
  std::string refusal_;
  int starts_ = 0;
  std::function<void()> on_served_;
  TaskGroup tasks_;
};

}  // namespace trainyard::agent
