#pragma once

#include <cstdint>
#include <filesystem>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/systemd/service_variables.h"
#include "net/http/listening_socket.h"

namespace trainyard::sockets {

/// Listening sockets that the service manager keeps while no server runs: clients that connect during a
/// restart wait in the kernel's queue and are not refused. The server stores them in the manager's descriptor
/// store, and the next server receives them (sd_notify(3), FDSTORE). Without a manager every socket is new,
/// and none is kept. Blocks only for the system calls; one thread, before the loop runs.
class KeptSockets {
 public:
  /// `keeps`: whether there is a manager. `waiting`: the descriptors that it kept.
  KeptSockets(bool keeps, std::vector<systemd::KeptDescriptor> waiting)
      : keeps_(keeps), waiting_(std::move(waiting)) {}
  /// Takes the descriptors that this process received. Call it before starting threads or programs.
  [[nodiscard]] static KeptSockets Take();
  KeptSockets(KeptSockets&&) = default;
  KeptSockets& operator=(KeptSockets&&) = delete;
  ~KeptSockets() = default;

  /// Whether there is a manager that keeps sockets.
  [[nodiscard]] bool keeps() const noexcept { return keeps_; }

  /// The kept socket that listens there, or a new one. Closes a kept socket that conflicts with it (such as
  /// the same port on all addresses). Errors: those of http::ListenOnTcp.
  [[nodiscard]] Result<http::ListeningSocket> ListenOnTcp(const std::string& host, std::uint16_t port);
  /// Listens on the first port that is available. A port 0 is skipped, except as the last one: then it means
  /// any port.
  [[nodiscard]] Result<http::ListeningSocket> ListenOnFirst(const std::string& host,
                                                            const std::vector<std::uint16_t>& ports);
  /// The kept or a new Unix socket at `path`, which the manager then keeps. Errors: those of
  /// http::ListenOnUnix. Only if keeps().
  [[nodiscard]] Result<http::ListeningSocket> ListenOnUnix(const std::filesystem::path& path);

  /// Stores a TCP socket in the manager, unless it has it already. If the manager cannot be reached, this
  /// logs a line and is not an error.
  void Keep(const http::ListeningSocket& socket);

  /// Closes the kept sockets that were not used, here and in the manager's store: nothing listens there any
  /// more.
  void CloseTheRest();

 private:
  void Give(const std::string& name, int descriptor);
  void Close(const systemd::KeptDescriptor& kept);
  /// Closes the kept sockets of that port, whatever their address.
  bool ClosePort(std::uint16_t port);

  bool keeps_;
  std::vector<systemd::KeptDescriptor> waiting_;  ///< not used yet
  std::set<std::string> given_;                   ///< names of the sockets that the manager has
};

}  // namespace trainyard::sockets
