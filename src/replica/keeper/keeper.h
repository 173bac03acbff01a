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
#include "replica/keeper/packet.h"
#include "replica/keeper/supervisor_list.h"

namespace trainyard::keeper {

/// Connections at once; for a further one the one that has been silent longest is closed. A server has one
/// for each of its starts at the moment.
inline constexpr std::size_t kClientsMax = 64;
/// A server says at once what it wants, and hangs up: who says nothing for so long is dropped.
inline constexpr std::chrono::milliseconds kClientSilenceMax{10'000};
/// After what was to end by itself was killed: until it is gone.
inline constexpr std::chrono::milliseconds kKillWait{5'000};

struct KeeperOptions {
  std::string socket;  ///< absolute; beside it is a lock, SOCKET.lock
  /// From SIGTERM until what still lives is killed. The unit's TimeoutStopSec is longer by kKillWait and a
  /// bit.
  std::chrono::milliseconds stop_max{80'000};
  /// Whether that account may speak to it; nothing: root and the keeper's own may. For tests.
  std::function<bool(uid_t)> may_speak;
  /// Only processes of that unit of systemd may speak, as "trainyard.service"; empty: of any, also of none.
  std::string server_unit{};
  /// What is really started for a request; nothing: AsSupervisor (supervisor_rules.h). For tests.
  std::function<Result<StartRequest>(StartRequest)> admit{};
  std::chrono::milliseconds client_silence_max = kClientSilenceMax;
};

/// Starts supervisors for a server that may come and go, and ends them when it is told to end itself. Has no
/// state but which of them live: killed, it leaves them alone, and the next one takes over by their cgroups
/// (UnitGroups). One thread. docs/adr/0042-the-keeper.md.
class Keeper {
 public:
  /// Takes the lock, finds its groups and listens. kAlreadyExists: a keeper listens there. SIGTERM and SIGINT
  /// are blocked from now on.
  [[nodiscard]] static Result<std::unique_ptr<Keeper>> Open(KeeperOptions options);

  /// Until SIGTERM or SIGINT, and until all that it started, or took over, has ended. An error names what
  /// could not be ended.
  [[nodiscard]] Status Run();

 private:
  struct Client {
    UniqueFd socket;
    bool greeted = false;
    std::chrono::steady_clock::time_point heard{};  ///< when it last said something, or came
  };
  Keeper(KeeperOptions options, UniqueFd lock, UniqueFd listener, UniqueFd signals,
         SupervisorList supervisors);

  /// One round of the loop: waits, then does what is due.
  void Round();
  void Accept();
  /// False: the connection is over.
  [[nodiscard]] bool Serve(Client& client);
  [[nodiscard]] bool Send(const Client& client, const Answer& answer,
                          std::span<const int> descriptors = {}) const;
  [[nodiscard]] bool Start(const Client& client, const StartRequest& request, const Packet& packet);
  void BeginStop();
  /// Why it may not; empty: it may.
  [[nodiscard]] std::string WhyNot(const ucred& peer) const;
  [[nodiscard]] Result<StartRequest> Admit(StartRequest request) const;
  void DropSilent();
  [[nodiscard]] int PollWait() const;

  KeeperOptions options_;
  std::string program_;                 ///< this one
  std::string root_;                    ///< the cgroup of all units beside ours
  std::vector<std::string> variables_;  ///< for supervisors
  std::uint64_t instance_;
  UniqueFd lock_;
  UniqueFd listener_;
  UniqueFd signals_;
  SupervisorList supervisors_;
  std::vector<Client> clients_;
  std::optional<std::chrono::steady_clock::time_point> stop_deadline_;  ///< once it was told to end
};

/// `trainyard keeper --socket PATH [--server-unit UNIT] [--stop-timeout SECONDS]`: the process that starts
/// supervisors for a server (keeper.h), until SIGTERM. Tells systemd when it can be asked (sd_notify). Exit
/// code: 0; 1: it cannot listen, or could not end what it was to end (the reason is on stderr); 2: wrong
/// arguments.
int RunKeeper(int argc, char** argv);

}  // namespace trainyard::keeper
