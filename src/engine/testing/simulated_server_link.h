#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <utility>

#include "engine/testing/simulated_connection.h"
#include "programs/attempt/spool.h"
#include "replica/supervisor/server_link.h"

namespace trainyard::engine {

/// For simulations: a supervisor's connections to the server, one after the other. It waits between them as
/// replica::ServerLink does, and sends lines and exit as replica::LogSender does: change them together. Loop
/// thread only.
class SimulatedServerLink final {
 public:
  using Time = SimulatedConnection::Time;

  explicit SimulatedServerLink(std::function<std::shared_ptr<SimulatedConnection>()> connect)
      : connect_(std::move(connect)) {}
  /// The frames that it has written may still arrive.
  ~SimulatedServerLink() { Close(); }
  SimulatedServerLink(const SimulatedServerLink&) = delete;
  SimulatedServerLink& operator=(const SimulatedServerLink&) = delete;

  /// Connects, if it is time. True: it is connected (again), and a Hello has to be sent.
  [[nodiscard]] bool Step(Time now);
  /// Drops the frame without a connection.
  void Send(FromReplica frame);
  /// The next frame that has arrived.
  [[nodiscard]] std::optional<ToReplica> Read(Time now);
  /// Whether the server has closed the connection.
  [[nodiscard]] bool IsOver(Time now) const { return connection_ && connection_->IsOver(now); }
  /// The connection ends; the next one comes after a pause.
  void Lose(Time now);
  void Close();
  /// The server's socket has appeared: a link that waits for it tries again at once.
  void RetryNow() noexcept { next_try_ = {}; }
  [[nodiscard]] bool is_connected() const noexcept { return connection_ != nullptr; }
  /// When Step, Read or IsOver may have something new.
  [[nodiscard]] Time deadline() const { return connection_ ? connection_->next_arrival() : next_try_; }

  /// Sends what the spool has, and behind the last line the exit. `exit`: null until it is on disk.
  void SendLines(replica::Spool& spool, const replica::v1::ExitRecord* exit);

 private:
  std::function<std::shared_ptr<SimulatedConnection>()> connect_;
  std::shared_ptr<SimulatedConnection> connection_;  ///< shared: the server's end has it, too
  std::chrono::milliseconds pause_ = replica::kReconnectPauseMin;
  Time next_try_{};
  bool exit_sent_ = false;  ///< on this connection
};

}  // namespace trainyard::engine
