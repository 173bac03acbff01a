#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <ranges>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "base/async/system_clock.h"
#include "base/async/testing/temporary_folder.h"
#include "base/check.h"
#include "base/tls/tls_identity.h"
#include "engine/clusters.h"
#include "engine/testing/engine_conformance.h"
#include "engine/testing/loop.h"
#include "net/http/connection_budget.h"
#include "rules/placement/quota.h"
#include "stores/store/data_directory.h"

/// A server's engine on a real cluster, with the parts of which a server is made, for the conformance suite
/// of all engines. `Kind` says which cluster:
/// - kName, kRoom: the engine's name, and how many CPUs the cluster has;
/// - kSettleMax: how long the cluster and its agents may take on a busy machine;
/// - EngineOptions Options();
/// - bool WaitsForRoom(const placement::Wait&): the cluster has said that it has no room;
/// - bool HasOnly(std::ptrdiff_t granted, std::ptrdiff_t wanted): of how many gangs it has something: of
/// those
///   that are granted, and of no more than are wanted;
/// - std::string Shown(): what it has, for messages.
namespace trainyard::engine {

/// A server's room on the cluster; a world's data directory is its own, so its jobs' names are, too.
template <class Kind>
class ClusterWorld {
 public:
  ClusterWorld() { Restart(); }
  ~ClusterWorld() { Close(); }
  ClusterWorld(const ClusterWorld&) = delete;
  ClusterWorld& operator=(const ClusterWorld&) = delete;

  std::vector<Admissions::Options::Room> Rooms() { return {{.name = Kind::kName, .engine = engine()}}; }
  boost::asio::any_io_executor executor() { return loop_.context.get_executor(); }
  static bool has_own_networks() { return false; }
  static int room() { return Kind::kRoom; }
  void Restart() {
    Close();
    const Clusters::Place place{.project = "trainyard",
                                .google_front = true,
                                .image_map = {},
                                .environments_dir = data_.environments_dir(),
                                .address_file = data_.Path("run/agents-address"),
                                .slurm_database = data_.Path("engines.db"),
                                .kubernetes_database = data_.Path("kubernetes.db")};
    auto clusters = Clusters::Open(loop_.context, Kind::Options(), place, clock_, identity_);
    TY_CHECK(clusters && *clusters);
    clusters_ = *std::move(clusters);
    is_started_ = false;
  }
  /// Until the cluster has nothing of what was released, each reservation that fits has its resources and
  /// agents that answer, and each other one knows what it waits for.
  void Settle(const WantedRoom& wanted) {
    if (!std::exchange(is_started_, true))
      TY_CHECK(clusters_->Start([](const auto&, auto stream) { stream->Reset(); }, connections_));
    EXPECT_TRUE(loop_.RunUntil([&] { return IsSettled(wanted) && HasLeft(wanted); }, Kind::kSettleMax))
        << Shown(wanted);
    for (const WantedReservation& one : wanted | std::views::values)
      if (one.grant) ExpectAgents(*one.grant);
    loop_.Poll();  // who is to be told is told
  }

 private:
  /// The server is killed: nothing is given back.
  void Close() {
    if (!clusters_) return;
    clusters_->Stop();
    clusters_->Close();
    clusters_.reset();
  }

  Engine& engine() { return *clusters_->engines().at(Kind::kName); }

  /// As far as the engine knows.
  bool IsSettled(const WantedRoom& wanted) {
    int used = 0;
    std::vector<int> waiting;
    for (const auto& [key, one] : wanted) {
      const std::optional<placement::Wait> wait = engine().WaitOf(key);
      if (!wait) {
        if (!one.grant && !one.is_detached) return false;  // it has room, and is about to be told
        used += one.replicas;
        continue;
      }
      if (!Kind::WaitsForRoom(*wait)) return false;
      waiting.push_back(one.replicas);
    }
    return std::ranges::all_of(waiting, [used](int replicas) { return used + replicas > Kind::kRoom; });
  }
  bool HasLeft(const WantedRoom& wanted) {
    const auto granted = std::ranges::count_if(
        wanted, [](const auto& one) { return one.second.grant || one.second.is_detached; });
    return kind_.HasOnly(granted, std::ssize(wanted));
  }

  void ExpectAgents(const Grant& grant) {
    for (const Slot& slot : grant.slots()) {
      const AttemptRef none{.id = "1-master-replica-0-1", .node = slot.node(), .agent = slot.agent()};
      EXPECT_EQ(loop_.Run(clusters_->host().Inspect(none)), Inspection{AttemptState::kAbsent})
          << slot.agent() << " on " << slot.node();
    }
  }

  std::string Shown(const WantedRoom& wanted) {
    std::ostringstream text;
    for (const auto& [key, one] : wanted) {
      const std::optional<placement::Wait> wait = engine().WaitOf(key);
      text << "\nreservation " << key.job_uid << ", try " << key.try_number << ": "
           << (one.grant ? "granted"
               : wait    ? wait->reason
                         : "not told");
    }
    text << kind_.Shown();
    return text.str();
  }

  TemporaryFolder folder_;
  Loop loop_;
  SystemClock clock_;
  store::DataDirectory data_ = *store::DataDirectory::Open(folder_.path() + "/data");
  tls::TlsIdentity identity_ = *tls::EnsureTlsIdentity(data_.tls_dir(), {}, clock_.Now());
  Kind kind_;
  http::ConnectionBudget connections_{{.connections_max = 100, .known_peer_max = 100}};
  std::unique_ptr<Clusters> clusters_;
  bool is_started_ = false;
};

}  // namespace trainyard::engine
