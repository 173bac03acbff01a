// The engine of a cluster on a real Kubernetes: the conformance suite of all engines. KUBECONFIG names the
// cluster: its nodes have kRoom CPUs together, and its namespace has no other pods.
// tests/e2e/test_kubernetes_conformance.py runs it. As `PROGRAM agent ...` it is the agent in its pods.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <set>
#include <string_view>

#include "cluster_world.h"
#include "engine/agent/run_agent.h"
#include "engine/kubernetes/kube_setup.h"
#include "rules/kubernetes/object_name.h"

namespace trainyard::engine {
namespace {

/// A world's data directory is its own, so its pods' names are, too.
class KubernetesKind {
 public:
  static constexpr std::string_view kName = placement::kKubernetesEngine;
  static constexpr int kRoom = 4;
  static constexpr std::chrono::seconds kSettleMax{60};

  static EngineOptions Options() {
    EngineOptions options;
    options.kind = EngineOptions::Kind::kKubernetes;
    options.kubernetes.turn = std::chrono::seconds(2);
    return options;
  }
  static bool WaitsForRoom(const placement::Wait& wait) { return wait.reason.contains("CPU"); }
  /// A gang that waits has pods only while it has its turn.
  bool HasOnly(std::ptrdiff_t granted, std::ptrdiff_t wanted) {
    const auto pods = client_->ListPods(std::string(kubernetes::kInstallationLabel));
    if (!pods) return false;
    std::set<std::string> gangs;
    for (const kubernetes::Pod& pod : pods->pods)
      if (!pod.has_ended()) gangs.insert(pod.name.substr(0, pod.name.rfind('-')));
    return granted <= std::ssize(gangs) && std::ssize(gangs) <= wanted;
  }
  std::string Shown() {
    std::string text;
    if (const auto pods = client_->ListPods(std::string(kubernetes::kInstallationLabel)))
      for (const kubernetes::Pod& pod : pods->pods)
        text += "\nin Kubernetes: " + pod.name + " on " + pod.node;
    return text;
  }

 private:
  SystemClock clock_;
  std::unique_ptr<KubeClient> client_ = MakeKubeClient({}, clock_).value().client;
};

INSTANTIATE_TYPED_TEST_SUITE_P(Kubernetes, EngineConformance, ClusterWorld<KubernetesKind>);

}  // namespace
}  // namespace trainyard::engine

int main(int argc, char** argv) {
  if (argc > 1 && std::string_view(argv[1]) == "agent") return trainyard::agent::RunAgent(argc - 1, argv + 1);
  testing::InitGoogleMock(&argc, argv);
  const bool is_asked_for_names = GTEST_FLAG_GET(list_tests);
  if (!is_asked_for_names && std::getenv("KUBECONFIG") == nullptr) {
    std::fprintf(stderr, "usage: KUBECONFIG=FILE kubernetes_conformance\n");
    return 2;
  }
  return RUN_ALL_TESTS();
}
