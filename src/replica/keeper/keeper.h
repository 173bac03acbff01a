#pragma once

#include <sys/socket.h>
#include <sys/types.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/async/unique_fd.h"
#include "base/result.h"
#include "replica/keeper/keeper_message.h"
#include "replica/keeper/supervisor_list.h"

namespace trainyard::keeper {

/// Limit on connections; for a further one, the one that has been silent longest is closed. A server has one
/// connection for each start that is under way.
inline constexpr std::size_t kClientsMax = 64;
/// A server sends its request immediately and then disconnects: a client that is silent for so long is
/// disconnected.
inline constexpr std::chrono::milliseconds kClientSilenceMax{10'000};
/// How long to wait after killing what did not end by itself.
inline constexpr std::chrono::milliseconds kKillWait{5'000};

struct KeeperOptions {
  std::string socket;  ///< absolute; the lock file is next to it: SOCKET.lock
  /// Time from SIGTERM until what is still running is killed. The unit's TimeoutStopSec is longer by
  /// kKillWait and a bit.
  std::chrono::milliseconds stop_max{80'000};
  /// Whether that account may connect; null: only root and the keeper's own. For tests.
  std::function<bool(uid_t)> may_speak;
  /// Only processes of that systemd unit may connect, such as "trainyard.service"; empty: all processes, also
  /// those without a unit.
  std::string server_unit{};
  /// Maps a request to what is really started; null: AsSupervisor (keeper_message.h). For tests.
  std::function<Result<StartRequest>(StartRequest)> admit{};
  SupervisorMain supervisor_main = nullptr;  ///< supervisor_list.h
  std::chrono::milliseconds client_silence_max = kClientSilenceMax;
};

/// Starts supervisors for a server that may be restarted, and ends them when it is itself told to end. Its
/// only state is which of them are running: if it is killed, they continue, and the next keeper takes them
/// over by their cgroups (UnitGroups). One thread. docs/adr/0042-the-keeper.md.
class Keeper {
 public:
  /// Takes the lock, finds its groups and listens. kAlreadyExists: another keeper is listening there. From
  /// now on SIGTERM and SIGINT are blocked.
  [[nodiscard]] static Result<std::unique_ptr<Keeper>> Open(KeeperOptions options);

  /// Runs until SIGTERM or SIGINT, and then until all that it started, or took over, has ended. An error
  /// names what could not be ended.
  [[nodiscard]] Status Run();

 private:
  struct Client {
    UniqueFd socket;
    bool greeted = false;
    std::chrono::steady_clock::time_point heard{};  ///< when it last sent something, or connected
  };
  Keeper(KeeperOptions options, UniqueFd lock, UniqueFd listener, UniqueFd signals,
         SupervisorList supervisors);

  /// One round of the loop: waits, then does what is due.
  void Round();
  void Accept();
  /// False: the connection is closed.
  [[nodiscard]] bool Serve(Client& client);
  [[nodiscard]] bool Send(const Client& client, const Answer& answer,
                          std::span<const int> descriptors = {}) const;
  [[nodiscard]] bool Start(const Client& client, const StartRequest& request, const Packet& packet);
  void BeginStop();
  /// Why the client may not connect; empty: it may.
  [[nodiscard]] std::string WhyNot(const ucred& peer) const;
  [[nodiscard]] Result<StartRequest> Admit(StartRequest request) const;
  void DropSilent();
  [[nodiscard]] int PollWait() const;

  KeeperOptions options_;
  std::string program_;                 ///< the path of this program
  std::string root_;                    ///< the cgroup that contains our unit and all others
  std::vector<std::string> variables_;  ///< environment variables for supervisors
  std::uint64_t instance_;
  UniqueFd lock_;
  UniqueFd listener_;
  UniqueFd signals_;
  SupervisorList supervisors_;
  std::vector<Client> clients_;
  std::optional<std::chrono::steady_clock::time_point> stop_deadline_;  ///< set once it was told to end
};

/// `trainyard keeper --socket PATH [--server-unit UNIT] [--stop-timeout SECONDS]`: the process that starts
/// supervisors for a server (keeper.h), until SIGTERM. Tells systemd when it is ready (sd_notify). Exit code:
/// 0; 1: it cannot listen, or could not end all supervisors (the reason is on stderr); 2: wrong arguments.
int RunKeeper(int argc, char** argv, SupervisorMain main);

}  // namespace trainyard::keeper
