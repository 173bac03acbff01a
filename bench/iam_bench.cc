// What asking a policy costs, with as many principals as an installation may have.
//
//   iam_bench [--benchmark_filter=...]      the argument is the number of principals
#include <benchmark/benchmark.h>

#include <cstddef>
#include <random>
#include <string>
#include <vector>

#include "api/route.h"
#include "rules/iam/method_table.h"
#include "rules/iam/policy_index.h"

namespace trainyard::iam {
namespace {

std::string Principal(std::size_t number) { return "user:person" + std::to_string(number) + "@example.com"; }

bool Nobody(std::string_view /*role*/, std::string_view /*project*/) { return false; }

PolicyIndex IndexOf(std::size_t principals) {
  v1::Policy policy;
  for (const char* role : {"roles/ml.developer", "roles/storage.objectViewer", "roles/owner"}) {
    v1::Binding& binding = *policy.add_bindings();
    binding.set_role(role);
    for (std::size_t i = 0; i < principals; ++i) binding.add_members(Principal(i));
  }
  return PolicyIndex(policy);
}

/// In another order than the index has them, so that no question finds its answer in the cache by luck.
std::vector<std::string> Askers(std::size_t principals) {
  std::mt19937 random(7);
  std::vector<std::string> askers;
  for (int i = 0; i < 4096; ++i) askers.push_back(Principal(random() % principals));
  return askers;
}

void Grants(benchmark::State& state, const char* permission) {
  const auto principals = static_cast<std::size_t>(state.range(0));
  const PolicyIndex index = IndexOf(principals);
  const std::vector<std::string> askers = Askers(principals);
  std::size_t next = 0;
  for (auto _ : state)
    benchmark::DoNotOptimize(index.Grants(askers[next++ % askers.size()], permission, Nobody));
}
BENCHMARK_CAPTURE(Grants, allowed, "ml.jobs.cancel")->Arg(10)->Arg(10'000);
BENCHMARK_CAPTURE(Grants, denied, "trainyard.server.drain")->Arg(10)->Arg(10'000);

void Build(benchmark::State& state) {
  const auto principals = static_cast<std::size_t>(state.range(0));
  for (auto _ : state) benchmark::DoNotOptimize(IndexOf(principals));
}
BENCHMARK(Build)->Arg(10'000)->Unit(benchmark::kMillisecond);

void FindRoute(benchmark::State& state) {
  const std::string route = "POST /v1/projects/{project}/jobs/{job}:cancel";
  for (auto _ : state) benchmark::DoNotOptimize(api::Methods().Find(route));
}
BENCHMARK(FindRoute);

}  // namespace
}  // namespace trainyard::iam

BENCHMARK_MAIN();
