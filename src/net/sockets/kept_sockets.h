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

/// Listening sockets that the service manager keeps while no server runs: who connects during a restart waits
/// in the kernel's queue and is not refused. They are given to its descriptor store at the start, and come
/// back to the next server (sd_notify(3), FDSTORE). Without a manager every socket is a new one, and none is
/// kept. Blocking only for the system calls; before the loop runs, one thread.
class KeptSockets {
 public:
  /// `keeps`: there is a manager. `waiting`: what it kept.
  KeptSockets(bool keeps, std::vector<systemd::KeptDescriptor> waiting)
      : keeps_(keeps), waiting_(std::move(waiting)) {}
  /// Those of this process. Before there are threads, or programs started by it.
  [[nodiscard]] static KeptSockets Take();
  KeptSockets(KeptSockets&&) = default;
  KeptSockets& operator=(KeptSockets&&) = delete;
  ~KeptSockets() = default;

  /// Whether there is a manager that keeps sockets.
  [[nodiscard]] bool keeps() const noexcept { return keeps_; }

  /// The kept socket that listens there, or a new one. A kept one that stands in its way (the same port of
  /// all addresses, say) is closed. Errors: those of http::ListenOnTcp.
  [[nodiscard]] Result<http::ListeningSocket> ListenOnTcp(const std::string& host, std::uint16_t port);
  /// The same at the first port that can be had. 0 stands for "none" but at the end: there for any.
  [[nodiscard]] Result<http::ListeningSocket> ListenOnFirst(const std::string& host,
                                                            const std::vector<std::uint16_t>& ports);
  /// The same at a file, and the manager keeps it. Errors: those of http::ListenOnUnix. Only if keeps().
  [[nodiscard]] Result<http::ListeningSocket> ListenOnUnix(const std::filesystem::path& path);

  /// Gives a TCP socket to the manager, if it has not got it yet. A manager that cannot be told is said to
  /// the operator, and no error.
  void Keep(const http::ListeningSocket& socket);

  /// Closes what nobody asked for, here and in the manager's store: nothing listens there any more.
  void CloseTheRest();

 private:
  void Give(const std::string& name, int descriptor);
  void Close(const systemd::KeptDescriptor& kept);
  /// Those of that port, whatever the address.
  bool ClosePort(std::uint16_t port);

  bool keeps_;
  std::vector<systemd::KeptDescriptor> waiting_;  ///< not asked for yet
  std::set<std::string> given_;                   ///< names of those that the manager has
};

}  // namespace trainyard::sockets
