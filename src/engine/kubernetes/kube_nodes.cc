#include "engine/kubernetes/kube_nodes.h"

#include <utility>

#include "base/async/diagnostics.h"
#include "base/async/on_pool.h"

namespace trainyard::engine {

boost::asio::awaitable<void> KubeNodes::Look(boost::asio::thread_pool& pool) {
  if (is_answered_ && !are_old()) co_return;
  asked_ = clock_.Now();
  auto ask = [&client = client_] { return client.Nodes(); };
  KubeAnswer<std::vector<kubernetes::KubeNode>> nodes = co_await OnPool(pool, std::move(ask));
  if (nodes) {
    nodes_ = *std::move(nodes);
    is_answered_ = true;
    is_refused_ = false;
    co_return;
  }
  if (nodes.error().failure != kubernetes::Failure::kMistake) {
    asked_.reset();  // asked again by the next caller
    co_return;
  }
  nodes_.clear();
  is_answered_ = true;
  if (!std::exchange(is_refused_, true))
    Diagnose(
        DiagnosticLevel::kInfo,
        "this server may not list the cluster's nodes, so it does not know their sizes; docs/kubernetes.md "
        "has the ClusterRole: " +
            nodes.error().words);
}

}  // namespace trainyard::engine
