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

/// The first 64 bits of an IPv6 address, which is what one customer gets at least; an IPv4 address as
/// ::ffff:A.B.C.D, whole.
using NetworkPrefix = std::array<std::uint8_t, 16>;

/// Who a connection belongs to: an account of this machine, else the address of another machine. Addresses
/// mean nothing on loopback: connections from there whose account is not known are all one peer.
struct PeerKey {
  std::optional<std::uint32_t> uid;
  std::optional<NetworkPrefix> network;  ///< only where there is no uid
  [[nodiscard]] bool is_known() const noexcept { return uid || network; }
  friend auto operator<=>(const PeerKey&, const PeerKey&) = default;
};

/// Pure.
[[nodiscard]] PeerKey PeerKeyOf(const Peer& peer) noexcept;

class ConnectionBudget;

/// What a connection is doing, in the order in which connections are closed when there are too many.
enum class ConnectionPhase : std::uint8_t {
  kUnproven,  ///< has not sent a whole request: a handshake, a slow head, nothing at all
  kIdle,      ///< waits for its next request
  kStream,    ///< follows a stream, which its client can resume
  kBusy,      ///< a request is in flight: never closed
  kKept,      ///< upgraded: never closed
};

/// One connection's place in a budget; the destructor leaves it. Loop thread only; the budget outlives it.
class ConnectionSeat {
 public:
  ~ConnectionSeat();
  ConnectionSeat(const ConnectionSeat&) = delete;
  ConnectionSeat& operator=(const ConnectionSeat&) = delete;

  /// A seat whose connection was closed stays without one.
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

/// How many connections there may be, for all servers of a process that share it. A new one is accepted as
/// long as another can be closed for it: see ConnectionPhase; within a phase the oldest first. A peer at its
/// limit loses one of its own. Each call takes O(log peers). Loop thread only.
class ConnectionBudget {
 public:
  struct Limits {
    std::size_t connections_max = 10'000;
    std::size_t known_peer_max =
        7'500;  ///< of one account or address; of all others together: connections_max
  };

  explicit ConnectionBudget(Limits limits);
  ~ConnectionBudget();
  ConnectionBudget(const ConnectionBudget&) = delete;
  ConnectionBudget& operator=(const ConnectionBudget&) = delete;

  /// Closes a connection if one more needs that; false: all connections have a request in flight.
  [[nodiscard]] bool MakeRoom(const PeerKey& peer);
  /// Closes one in any case (there are no descriptors left); false: none can be closed.
  bool CloseOne();
  /// A place for a connection for which there is room. `close` ends the connection at once; it is called at
  /// most once, within a call of this class, and must not call it.
  [[nodiscard]] std::unique_ptr<ConnectionSeat> Take(const PeerKey& peer, std::function<void()> close);

  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  /// How many connections were closed for others, and how many were refused.
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

/// What a process with so many descriptors can serve. Pure.
struct DescriptorPlan {
  std::size_t clients;      ///< connections, each with a file of its own
  std::size_t supervisors;  ///< kept free for them, whatever clients do
};
[[nodiscard]] DescriptorPlan PlanDescriptors(std::uint64_t descriptors_max);

}  // namespace trainyard::http
