#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/async/task_group.h"
#include "base/async/unique_fd.h"
#include "engine/agent/uplink.h"
#include "engine/attempt_host.h"
#include "replica/shell/session.h"
#include "trainyard/agent/v1/agent.pb.h"

namespace trainyard::agent {

/// The shells that users have open in the slot's replica: each terminal's bytes go to a separate stream. Loop
/// thread only. The destructor ends the shells.
class Terminals {
 public:
  /// `uplink` outlives it.
  Terminals(boost::asio::any_io_executor loop, Uplink& uplink);

  /// Checks the server's name for a terminal, which becomes part of a path. kInvalidArgument: it cannot be
  /// used in one.
  [[nodiscard]] static Status CheckId(std::string_view id);

  /// Opens the stream /agent/v1/terminal/ID for the terminal. The shell ends when either of them closes; the
  /// server is told how.
  /// kUnavailable: the connection is gone.
  boost::asio::awaitable<Status> Add(std::string id, shell::Terminal terminal);
  /// Does nothing if the terminal is already gone.
  void Resize(const std::string& id, shell::TerminalSize size);

 private:
  struct Shell;
  boost::asio::awaitable<void> Serve(std::string id, shell::Terminal terminal,
                                     std::shared_ptr<mux::Stream> stream);
  boost::asio::awaitable<void> SayEnd(std::string id, std::shared_ptr<Shell> shell);

  boost::asio::any_io_executor loop_;
  Uplink& uplink_;
  std::map<std::string, UniqueFd> masters_;  ///< duplicates, for resizing
  TaskGroup tasks_;
};

/// Handles the server's requests about attempts: each request becomes a call of the attempt host and an
/// answer on the connection on which it came. Loop thread only.
class AttemptRequests {
 public:
  /// The address on which the slot's replica listens, unless the server names one.
  struct Place {
    std::string address;
    int port = 0;
  };

  /// `host` and `terminals` outlive it.
  AttemptRequests(boost::asio::any_io_executor loop, engine::AttemptHost& host, Terminals& terminals);

  void SetPlace(Place place) { place_ = std::move(place); }
  void Serve(v1::ToAgent::Request request, std::shared_ptr<ControlStream> control);
  /// From now on every request to start an attempt is answered with kUnavailable and the reason.
  void RefuseStarts(std::string reason) { refusal_ = std::move(reason); }
  [[nodiscard]] int starts_under_way() const noexcept { return starts_; }
  /// Called after each answer: an attempt may have come or gone.
  void SetOnServed(std::function<void()> on_served) { on_served_ = std::move(on_served); }

  /// All attempts of the slot. An attempt whose state cannot be determined now is reported as living, since
  /// nothing proves that it has ended.
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
