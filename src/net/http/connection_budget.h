#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <optional>

#include "net/http/peer.h"

namespace trainyard::http {

/// The first 64 bits of an IPv6 address, because one customer gets at least a /64; or a whole IPv4 address as
/// ::ffff:A.B.C.D.
using NetworkPrefix = std::array<std::uint8_t, 16>;

/// The owner of a connection: an account of this machine, or else the address of another machine. Loopback
/// addresses do not identify anyone: all connections from there whose account is unknown count as one peer.
struct PeerKey {
  std::optional<std::uint32_t> uid;
  std::optional<NetworkPrefix> network;  ///< set only if there is no uid
  [[nodiscard]] bool is_known() const noexcept { return uid || network; }
  friend auto operator<=>(const PeerKey&, const PeerKey&) = default;
};

/// Pure.
[[nodiscard]] PeerKey PeerKeyOf(const Peer& peer) noexcept;

class ConnectionBudget;

/// The state of a connection. Connections are closed in this order when there are too many.
enum class ConnectionPhase : std::uint8_t {
  kUnproven,  ///< has not sent a complete request: it is in the handshake, sends its head slowly, or has sent
              ///< nothing
  kIdle,      ///< waits for its next request
  kStream,    ///< receives a stream, which its client can resume
  kBusy,      ///< a request is in flight: never closed
  kKept,      ///< upgraded: never closed
};

/// One connection's seat in a budget; the destructor frees it. Loop thread only; the budget outlives it.
class ConnectionSeat {
 public:
  ~ConnectionSeat();
  ConnectionSeat(const ConnectionSeat&) = delete;
  ConnectionSeat& operator=(const ConnectionSeat&) = delete;

  /// Records what the connection is doing. No effect if the budget has closed it.
  void SetPhase(ConnectionPhase phase);

 private:
  friend class ConnectionBudget;
  using List = std::list<ConnectionSeat*>;
  struct Peer;

  ConnectionSeat(ConnectionBudget& budget, PeerKey peer, std::function<void()> close);
  void Unlist();

  ConnectionBudget& budget_;
  PeerKey key_;
  Peer* peer_;
  std::function<void()> close_;
  ConnectionPhase phase_ = ConnectionPhase::kUnproven;
  bool seated_ = true;
  List::iterator in_all_;
  List::iterator in_peer_;
};

/// Limits the connections of all servers of a process that share it. At the limit, a new connection is
/// accepted if another one can be closed: see ConnectionPhase for the order; within a phase the oldest is
/// closed first. If the peer is at its own limit, one of its own connections is closed. Each call takes O(log
/// peers). Loop thread only.
class ConnectionBudget {
 public:
  struct Limits {
    std::size_t connections_max = 10'000;
    std::size_t known_peer_max =
        7'500;  ///< for one account or address; unknown peers together: connections_max
  };

  explicit ConnectionBudget(Limits limits);
  ~ConnectionBudget();
  ConnectionBudget(const ConnectionBudget&) = delete;
  ConnectionBudget& operator=(const ConnectionBudget&) = delete;

  /// Closes a connection if that is needed for a new one; false: all connections have a request in flight.
  [[nodiscard]] bool MakeRoom(const PeerKey& peer);
  /// Closes one unconditionally, because there are no descriptors left; false: none can be closed.
  bool CloseOne();
  /// A seat for a new connection; call MakeRoom() first. `close` must end the connection at once. It is
  /// called at most once, from inside a method of this class, and must not call this class.
  [[nodiscard]] std::unique_ptr<ConnectionSeat> Take(const PeerKey& peer, std::function<void()> close);

  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  /// The number of connections that were closed to make room, and of those that were refused.
  [[nodiscard]] std::int64_t closed() const noexcept { return closed_; }
  [[nodiscard]] std::int64_t refused() const noexcept { return refused_; }

 private:
  friend class ConnectionSeat;
  static constexpr std::size_t kClosable = 3;  ///< phases before kBusy
  using Lists = std::array<ConnectionSeat::List, kClosable>;

  bool CloseFirst(const Lists& lists);
  void Leave(ConnectionSeat& seat);

  Limits limits_;
  Lists all_;
  std::map<PeerKey, std::unique_ptr<ConnectionSeat::Peer>> peers_;
  std::size_t size_ = 0;
  std::int64_t closed_ = 0;
  std::int64_t refused_ = 0;
};

/// How many connections a process with this limit of descriptors can serve. Pure.
struct DescriptorPlan {
  std::size_t clients;      ///< connections, each with one open file
  std::size_t supervisors;  ///< reserved for supervisors
};
[[nodiscard]] DescriptorPlan PlanDescriptors(std::uint64_t descriptors_max);

}  // namespace trainyard::http
