#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <chrono>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <random>

#include "base/async/event.h"
#include "engine/replica_link.h"

namespace trainyard::engine {

/// For simulations: one connection between a supervisor and the server, as a Unix socket is one. Frames
/// arrive in order and after a while. What an end wrote before it closed may still arrive, or a part of it.
/// Loop thread only.
class SimulatedConnection final : public ReplicaLink,
                                  public std::enable_shared_from_this<SimulatedConnection> {
 public:
  using Time = std::chrono::steady_clock::time_point;

  /// `random` outlives it. `on_arrival` is called when something is on its way to the supervisor.
  SimulatedConnection(boost::asio::any_io_executor loop, std::mt19937_64& random,
                      std::function<void()> on_arrival);

  /// Serves the connection for the server, until it is over. Call it once, and keep the result in a task. The
  /// observer outlives the task.
  static boost::asio::awaitable<void> Serve(std::shared_ptr<SimulatedConnection> connection,
                                            ReplicaLinkObserver& observer);

  // The server's end
  void Send(ToReplica frame) override;
  void Close() override;

  // The supervisor's end
  void Write(FromReplica frame);
  /// The next frame that has arrived.
  [[nodiscard]] std::optional<ToReplica> Read(Time now);
  /// Whether the server has closed it, and all that arrived before was read.
  [[nodiscard]] bool IsOver(Time now) const;
  /// When the next frame, or the end, arrives; max(): nothing is on its way.
  [[nodiscard]] Time next_arrival() const;
  /// Closes it. A part of what was written and did not arrive yet still arrives; nothing, if `at_once`.
  void Drop(bool at_once = false);

  /// Whether the server has accepted the Hello.
  [[nodiscard]] bool is_accepted() const noexcept { return is_accepted_; }
  /// Whether the server has closed it.
  [[nodiscard]] bool is_closed() const noexcept { return closed_at_.has_value(); }

 private:
  [[nodiscard]] std::chrono::milliseconds Delay();
  boost::asio::awaitable<std::optional<FromReplica>> Next();
  [[nodiscard]] Time ArrivalTime();

  struct Arriving {
    ToReplica frame;
    Time time;
  };

  std::mt19937_64& random_;
  std::function<void()> on_arrival_;
  std::deque<FromReplica> written_;
  std::deque<Arriving> arriving_;
  Time last_arrival_{};
  std::optional<Time> closed_at_;  ///< when the supervisor learns that the server has closed it
  bool is_dropped_ = false;        ///< by the supervisor
  bool is_accepted_ = false;
  Event wake_;  ///< of Serve
};

}  // namespace trainyard::engine
