#pragma once

#include <poll.h>

#include <chrono>
#include <functional>
#include <string>
#include <string_view>

#include "base/async/unique_fd.h"
#include "base/result.h"
#include "net/http/response_reader.h"
#include "programs/attempt/frame.h"
#include "trainyard/replica/v1/replica.pb.h"

namespace trainyard::replica {

using SteadyTime = std::chrono::steady_clock::time_point;

/// A descriptor or time that the supervisor's loop waits for. The loop requests a new list in each round.
struct Watch {
  int fd = -1;  ///< -1: none
  short events = POLLIN;
  SteadyTime deadline = SteadyTime::max();  ///< when `step` must be called even without an event
  std::function<void(short ready, SteadyTime now)> on_ready{};
  std::function<void(SteadyTime now)> step{};  ///< called in every round; null: its owner calls it
};

/// The pause before reconnecting doubles from the short to the long one; a change in the socket's directory
/// starts over.
inline constexpr std::chrono::milliseconds kReconnectPauseMin{5};
inline constexpr std::chrono::milliseconds kReconnectPauseMax{5'000};
/// How long a server that has accepted the connection may take to answer the upgrade.
inline constexpr std::chrono::milliseconds kUpgradeWaitMax{10'000};

/// The supervisor's connection to the server: connects, upgrades, exchanges frames, and reconnects for as
/// long as it exists. Never blocks; driven by its owner's poll loop. One thread.
///
///     idle --Step--> upgrading --101--> attached --any error--> idle
class ServerLink {
 public:
  struct Observer {
    virtual ~Observer() = default;
    /// Connected (again): send Hello.
    virtual void OnAttached() = 0;
    virtual void OnFrame(const v1::ToReplica& frame) = 0;
    virtual void OnLost() = 0;
  };

  /// The observer outlives the link.
  ServerLink(std::string socket_path, std::string token, Observer& observer);

  /// Checks the time: connects, or disconnects from a server that does not answer. Call in every round.
  void Step(SteadyTime now);
  /// Reads and writes what is possible. Call when fd() is ready.
  void OnReady(short events, SteadyTime now);
  /// Call when something changed in the socket's directory.
  void OnFolderChanged(SteadyTime now);

  [[nodiscard]] int fd() const noexcept { return socket_.get(); }
  [[nodiscard]] short events() const noexcept;
  /// inotify on the socket's directory; -1 if unavailable. Poll it for input while idle.
  [[nodiscard]] int folder_fd() const noexcept { return folder_watch_.get(); }
  /// The time at which Step must be called even without an event.
  [[nodiscard]] SteadyTime deadline() const noexcept;

  [[nodiscard]] bool attached() const noexcept { return state_ == State::kAttached; }
  [[nodiscard]] std::size_t queued_bytes() const noexcept { return out_.size(); }
  /// Queues the frame if connected, otherwise drops it.
  void Send(const v1::FromReplica& frame);
  void SendLog(std::string_view chunk);

 private:
  enum class State { kIdle, kUpgrading, kAttached };

  void Connect(SteadyTime now);
  void Lose(SteadyTime now);
  bool Read();
  bool Write();
  bool TakeUpgrade(std::string_view bytes);
  bool TakeFrames();
  void WatchFolder();

  std::string socket_path_;
  std::string token_;
  Observer& observer_;
  State state_ = State::kIdle;
  UniqueFd socket_;
  UniqueFd folder_watch_;
  http::ResponseReader upgrade_;
  std::string out_;
  FrameReader frames_;
  std::chrono::milliseconds pause_ = kReconnectPauseMin;
  SteadyTime next_try_{};
  SteadyTime upgrade_deadline_{};
};

}  // namespace trainyard::replica
