#include "programs/sandbox/network/relay.h"

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <vector>

#include "base/async/unique_fd.h"
#include "base/async/unix_socket.h"

namespace trainyard::replica {

namespace {

constexpr std::size_t kBufferBytes = 64 << 10;

/// One direction of a connection. Reads only when everything read before is written.
struct Direction {
  std::string pending;
  bool ended = false;  ///< nothing more comes, and the other side was closed

  [[nodiscard]] bool Reads() const { return !ended && pending.empty(); }
  [[nodiscard]] bool Writes() const { return !pending.empty(); }
};

struct Connection {
  std::array<UniqueFd, 2> sides;  ///< first the replica's, then the server's
  std::array<Direction, 2> ways;  ///< from the side of that number to the other

  [[nodiscard]] short EventsOf(std::size_t side) const {
    return static_cast<short>((ways[side].Reads() ? POLLIN : 0) | (ways[1 - side].Writes() ? POLLOUT : 0));
  }
  [[nodiscard]] bool Over() const { return ways[0].ended && ways[1].ended; }
};

bool Later() { return errno == EAGAIN || errno == EINTR; }

/// False when the connection is broken.
bool Write(Direction& way, int to) {
  const ssize_t sent = send(to, way.pending.data(), way.pending.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
  if (sent < 0) return Later();
  way.pending.erase(0, static_cast<std::size_t>(sent));
  return true;
}

bool Read(Direction& way, int from, int to) {
  way.pending.resize(kBufferBytes);
  const ssize_t size = recv(from, way.pending.data(), way.pending.size(), MSG_DONTWAIT);
  way.pending.resize(size > 0 ? static_cast<std::size_t>(size) : 0);
  if (size < 0) return Later();
  if (size > 0) return Write(way, to);
  way.ended = true;
  shutdown(to, SHUT_WR);
  return true;
}

/// False when the connection is broken. `events`: poll's result for each side.
bool Step(Connection& connection, const std::array<short, 2>& events) {
  for (const std::size_t side : {0U, 1U}) {
    Direction& way = connection.ways[side];
    const int from = connection.sides[side].get();
    const int to = connection.sides[1 - side].get();
    if ((events[1 - side] & POLLOUT) != 0 && way.Writes() && !Write(way, to)) return false;
    if ((events[side] & (POLLIN | POLLHUP | POLLERR)) != 0 && way.Reads() && !Read(way, from, to))
      return false;
    // Nobody will read the remaining bytes.
    if ((events[1 - side] & (POLLHUP | POLLERR)) != 0 && way.Writes() && !Write(way, to)) return false;
    if ((events[side] & POLLERR) != 0) return false;
  }
  return true;
}

/// False when the listener has failed.
bool Accept(const RelayDoor& door, std::vector<Connection>& connections) {
  UniqueFd accepted(accept4(door.listener.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
  if (!accepted) return errno != EBADF && errno != EINVAL && errno != ENOTSOCK;
  auto server = ConnectUnix(door.server_socket, 0);
  if (!server) return true;
  Connection connection;
  connection.sides = {std::move(accepted), std::move(*server)};
  connections.push_back(std::move(connection));
  return true;
}

}  // namespace

void RunRelay(const std::vector<RelayDoor>& doors) {
  std::vector<Connection> connections;
  std::vector<pollfd> ready;
  for (;;) {
    const bool room = connections.size() < kRelayConnectionsMax;
    ready.clear();
    for (const RelayDoor& door : doors)
      ready.push_back({.fd = room ? door.listener.get() : -1, .events = POLLIN, .revents = 0});
    for (const Connection& connection : connections) {
      for (const std::size_t side : {0U, 1U}) {
        // A side without wanted events is left out: poll would report its hang-up again and again.
        const short events = connection.EventsOf(side);
        ready.push_back(
            {.fd = events != 0 ? connection.sides[side].get() : -1, .events = events, .revents = 0});
      }
    }
    if (poll(ready.data(), ready.size(), -1) < 0) continue;
    const pollfd* sides = ready.data() + doors.size();
    for (std::size_t i = connections.size(); i-- > 0;) {
      Connection& connection = connections[i];
      if (Step(connection, {sides[2 * i].revents, sides[2 * i + 1].revents}) && !connection.Over()) continue;
      connections.erase(connections.begin() + static_cast<std::ptrdiff_t>(i));
    }
    for (std::size_t i = 0; i < doors.size(); ++i) {
      if (ready[i].revents != 0 && !Accept(doors[i], connections)) return;
    }
  }
}

}  // namespace trainyard::replica
