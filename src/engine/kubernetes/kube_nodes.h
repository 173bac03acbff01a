#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/thread_pool.hpp>
#include <chrono>
#include <optional>
#include <vector>

#include "base/clock.h"
#include "engine/kubernetes/kube_client.h"

namespace trainyard::engine {

/// The nodes of the cluster according to the API server's last answer. An account that may not list them does
/// without: sizes are then not reduced. Loop thread only; the constructor's references outlive it.
class KubeNodes {
 public:
  /// How long an answer is used: nodes do not change often.
  static constexpr std::chrono::seconds kKept{60};

  KubeNodes(const KubeClient& client, const Clock& clock) : client_(client), clock_(clock) {}

  /// Empty: they are not known.
  [[nodiscard]] const std::vector<kubernetes::KubeNode>& nodes() const noexcept { return nodes_; }
  /// Whether the answer is older than kKept, and no request is under way.
  [[nodiscard]] bool are_old() const { return !asked_ || clock_.Now() - *asked_ > kKept; }
  /// Asks the API server, on the pool, if the answer is old. Other callers do not wait meanwhile: they use
  /// the old answer. Until there is one, each caller asks: without it, sizes are not reduced.
  boost::asio::awaitable<void> Look(boost::asio::thread_pool& pool);

 private:
  const KubeClient& client_;
  const Clock& clock_;
  std::vector<kubernetes::KubeNode> nodes_;
  std::optional<SysTime> asked_;
  bool is_answered_ = false;
  bool is_refused_ = false;
};

}  // namespace trainyard::engine
