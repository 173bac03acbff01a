#include "net/http/connection_budget.h"

#include <algorithm>
#include <span>
#include <utility>

#include "base/check.h"

namespace trainyard::http {

namespace {

constexpr std::uint64_t kFixedDescriptors = 128;  // databases, listeners, pools, the loop's own
constexpr std::uint64_t kPerClient = 2;           // its socket, and the file that it reads or writes
constexpr std::uint64_t kPerSupervisor = 2;       // its socket and its pidfd
constexpr std::uint64_t kSupervisorsShare = 8;    // of all descriptors
constexpr std::uint64_t kSupervisorsMax = 2'048;
constexpr std::uint64_t kClientsMax = 10'000;
constexpr std::uint64_t kClientsMin = 16;

constexpr std::size_t kPrefixBytes = 8;   // of an IPv6 address
constexpr std::size_t kMappedBytes = 12;  // before the IPv4 address in ::ffff:0:0/96

NetworkPrefix Mapped(std::span<const std::uint8_t, 4> address) {
  NetworkPrefix mapped{};
  mapped[kMappedBytes - 2] = mapped[kMappedBytes - 1] = 0xff;
  std::ranges::copy(address, mapped.begin() + kMappedBytes);
  return mapped;
}

/// Nullopt: this machine's loopback, or not TCP.
std::optional<NetworkPrefix> NetworkOf(const Peer& peer) {
  constexpr std::uint8_t kLoopback4 = 127;  // 127.0.0.0/8
  NetworkPrefix address = peer.remote.bytes;
  if (peer.kind == Peer::Kind::kTcp4) address = Mapped(std::span(address).first<4>());
  if (peer.kind != Peer::Kind::kTcp4 && peer.kind != Peer::Kind::kTcp6) return std::nullopt;
  const auto tail = std::span(address).last<4>();
  if (address == Mapped(tail)) {
    if (tail.front() == kLoopback4) return std::nullopt;
    return address;
  }
  NetworkPrefix loopback{};
  loopback.back() = 1;
  if (address == loopback) return std::nullopt;
  std::fill(address.begin() + kPrefixBytes, address.end(), std::uint8_t{0});
  return address;
}

}  // namespace

PeerKey PeerKeyOf(const Peer& peer) noexcept {
  if (peer.uid) return {.uid = peer.uid, .network = std::nullopt};
  return {.uid = std::nullopt, .network = NetworkOf(peer)};
}

struct ConnectionSeat::Peer {
  ConnectionBudget::Lists lists;
  std::size_t size = 0;
};

ConnectionSeat::ConnectionSeat(ConnectionBudget& budget, PeerKey peer, std::function<void()> close)
    : budget_(budget), key_(peer), close_(std::move(close)) {
  auto& entry = budget_.peers_[key_];
  if (entry == nullptr) entry = std::make_unique<Peer>();
  peer_ = entry.get();
  ++peer_->size;
  phase_ = ConnectionPhase::kBusy;
  SetPhase(ConnectionPhase::kUnproven);
}

ConnectionSeat::~ConnectionSeat() { budget_.Leave(*this); }

void ConnectionSeat::Unlist() {
  const auto index = static_cast<std::size_t>(phase_);
  if (index >= ConnectionBudget::kClosable) return;
  budget_.all_.at(index).erase(in_all_);
  peer_->lists.at(index).erase(in_peer_);
}

void ConnectionSeat::SetPhase(ConnectionPhase phase) {
  if (!seated_ || phase == phase_) return;
  Unlist();
  phase_ = phase;
  const auto index = static_cast<std::size_t>(phase);
  if (index >= ConnectionBudget::kClosable) return;
  auto& all = budget_.all_.at(index);
  auto& own = peer_->lists.at(index);
  in_all_ = all.insert(all.end(), this);
  in_peer_ = own.insert(own.end(), this);
}

ConnectionBudget::ConnectionBudget(Limits limits) : limits_(limits) {}

ConnectionBudget::~ConnectionBudget() { TY_CHECK(size_ == 0); }

bool ConnectionBudget::MakeRoom(const PeerKey& peer) {
  const auto found = peers_.find(peer);
  const std::size_t peer_max = peer.is_known() ? limits_.known_peer_max : limits_.connections_max;
  bool has_room = true;
  if (found != peers_.end() && found->second->size >= peer_max) has_room = CloseFirst(found->second->lists);
  if (has_room && size_ >= limits_.connections_max) has_room = CloseFirst(all_);
  if (!has_room) ++refused_;
  return has_room;
}

bool ConnectionBudget::CloseOne() { return CloseFirst(all_); }

bool ConnectionBudget::CloseFirst(const Lists& lists) {
  const auto list = std::ranges::find_if(lists, [](const auto& of_phase) { return !of_phase.empty(); });
  if (list == lists.end()) return false;
  ConnectionSeat& seat = *list->front();
  Leave(seat);
  ++closed_;
  const auto close = std::exchange(seat.close_, nullptr);
  close();
  return true;
}

std::unique_ptr<ConnectionSeat> ConnectionBudget::Take(const PeerKey& peer, std::function<void()> close) {
  ++size_;
  return std::unique_ptr<ConnectionSeat>(new ConnectionSeat(*this, peer, std::move(close)));
}

void ConnectionBudget::Leave(ConnectionSeat& seat) {
  if (!std::exchange(seat.seated_, false)) return;
  seat.Unlist();
  --size_;
  if (--seat.peer_->size == 0) peers_.erase(seat.key_);
}

DescriptorPlan PlanDescriptors(std::uint64_t descriptors_max) {
  const std::uint64_t supervisors = std::min(descriptors_max / kSupervisorsShare, kSupervisorsMax);
  const std::uint64_t kept = kFixedDescriptors + supervisors * kPerSupervisor;
  const std::uint64_t left = descriptors_max > kept ? descriptors_max - kept : 0;
  return {.clients = std::clamp(left / kPerClient, kClientsMin, kClientsMax), .supervisors = supervisors};
}

}  // namespace trainyard::http
