#include "engine/slurm/slurm_cancels.h"

#include <gmock/gmock.h>

#include <future>
#include <vector>

#include "base/async/guarded.h"
#include "engine/testing/loop.h"

namespace trainyard::engine {
namespace {

using slurm::CancelJobs;

/// Records the cancellations; each call ends when the test allows it.
class Client final : public SlurmClient {
 public:
  [[nodiscard]] SlurmAnswer<std::int64_t> Submit(const slurm::BatchJob&,
                                                 const slurm::GangRequest&) const override {
    return 1;
  }
  [[nodiscard]] SlurmAnswer<std::vector<slurm::ListedJob>> List(std::optional<std::int64_t>) const override {
    return std::vector<slurm::ListedJob>();
  }
  [[nodiscard]] SlurmAnswer<void> Cancel(const std::string& name,
                                         std::span<const std::int64_t> ids) const override {
    calls_.With([&](std::vector<CancelJobs>& calls) {
      calls.push_back({.name = name, .ids = {ids.begin(), ids.end()}});
    });
    may_end_.wait();
    return {};
  }
  [[nodiscard]] SlurmAnswer<void> Check(const slurm::Options&) const override { return {}; }
  [[nodiscard]] SlurmAnswer<std::vector<slurm::Node>> Nodes() const override {
    return std::vector<slurm::Node>();
  }

  [[nodiscard]] std::vector<CancelJobs> calls() const {
    return calls_.With([](const std::vector<CancelJobs>& calls) { return calls; });
  }
  void LetEnd() { end_.set_value(); }

 private:
  mutable Guarded<std::vector<CancelJobs>> calls_;
  std::promise<void> end_;
  std::shared_future<void> may_end_ = end_.get_future().share();
};

TEST(SlurmCancels, WhatWaitsIsCancelledByNameAndInTurn) {
  Loop loop;
  Client client;
  boost::asio::thread_pool pool(4);
  SlurmCancels cancels(loop.context.get_executor(), pool, client);
  cancels.Add({.name = "b", .ids = {2}});
  cancels.Add({.name = "c", .ids = {3}});
  ASSERT_TRUE(loop.RunUntil([&] { return client.calls().size() == SlurmCancels::kAtOnceMax; }));
  cancels.Add({.name = "a", .ids = {1}});
  cancels.Add({.name = "d", .ids = {5}});
  cancels.Add({.name = "d", .ids = {4, 5}});
  cancels.Add({.name = "b", .ids = {2}});
  loop.context.restart();
  loop.context.poll();
  EXPECT_THAT(client.calls(), testing::UnorderedElementsAre(CancelJobs{"b", {2}}, CancelJobs{"c", {3}}))
      << "as many as may be at once";
  client.LetEnd();
  ASSERT_TRUE(loop.RunUntil([&] { return client.calls().size() == 5; }));
  std::vector<CancelJobs> later = client.calls();
  later.erase(later.begin(), later.begin() + SlurmCancels::kAtOnceMax);
  EXPECT_THAT(later, testing::UnorderedElementsAre(CancelJobs{"d", {4, 5}}, CancelJobs{"a", {1}},
                                                   CancelJobs{"b", {2}}));
}

}  // namespace
}  // namespace trainyard::engine
