#include "engine/slurm/slurm_nodes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "base/check.h"
#include "engine/testing/loop.h"

namespace trainyard::engine {
namespace {

using testing::ElementsAre;
using testing::Pair;

class SettableClock final : public Clock {
 public:
  [[nodiscard]] SysTime Now() const override { return now; }
  SysTime now{std::chrono::seconds{1'700'000'000}};
};

slurm::Node NodeWith(std::string gpu_type) {
  slurm::Node node{.partition = "gpu"};
  node.name = "n1";
  node.state = "idle";
  node.gpus = {{.type = std::move(gpu_type), .count = 1}};
  return node;
}

/// Reports the nodes that the test sets; its other functions are not used.
class ToldClient final : public SlurmClient {
 public:
  [[nodiscard]] SlurmAnswer<std::int64_t> Submit(const slurm::BatchJob&,
                                                 const slurm::GangRequest&) const override {
    TY_CHECK(false);
  }
  [[nodiscard]] SlurmAnswer<std::vector<slurm::ListedJob>> List(std::optional<std::int64_t>) const override {
    TY_CHECK(false);
  }
  [[nodiscard]] SlurmAnswer<void> Cancel(const std::string&, std::span<const std::int64_t>) const override {
    TY_CHECK(false);
  }
  [[nodiscard]] SlurmAnswer<void> Check(const slurm::Options&) const override { TY_CHECK(false); }
  [[nodiscard]] SlurmAnswer<std::vector<slurm::Node>> Nodes() const override {
    ++asked;
    return answer;
  }

  mutable int asked = 0;
  SlurmAnswer<std::vector<slurm::Node>> answer = std::vector{NodeWith("a100")};
};

class SlurmNodesTest : public testing::Test {
 protected:
  void Look(SlurmNodes& nodes) { loop_.Run(LookAt(nodes)); }
  boost::asio::awaitable<bool> LookAt(SlurmNodes& nodes) {
    co_await nodes.Look(pool_);
    co_return true;
  }

  Loop loop_;
  boost::asio::thread_pool pool_{1};
  SettableClock clock_;
  ToldClient client_;
};

TEST_F(SlurmNodesTest, WhatWasSaidAtTheStartIsKeptForAWhile) {
  SlurmNodes nodes(client_, clock_, {NodeWith("t4")});
  Look(nodes);
  EXPECT_EQ(client_.asked, 0);
  EXPECT_THAT(nodes.gpus(), ElementsAre(Pair("gpu", ElementsAre("t4"))));
  clock_.now += SlurmNodes::kKept;
  ASSERT_TRUE(nodes.are_old());
  Look(nodes);
  EXPECT_EQ(client_.asked, 1);
  EXPECT_THAT(nodes.gpus(), ElementsAre(Pair("gpu", ElementsAre("a100"))));
  EXPECT_EQ(nodes.nodes(), std::vector{NodeWith("a100")});
}

TEST_F(SlurmNodesTest, ASilentSlurmIsAskedAgainAndWhatIsKnownStays) {
  SlurmNodes nodes(client_, clock_, {NodeWith("t4")});
  client_.answer = std::unexpected(SlurmRefusal{.words = "silent"});
  clock_.now += SlurmNodes::kKept;
  Look(nodes);
  EXPECT_THAT(nodes.gpus(), ElementsAre(Pair("gpu", ElementsAre("t4"))));
  EXPECT_TRUE(nodes.are_old());
  client_.answer = std::vector<slurm::Node>{};
  Look(nodes);
  EXPECT_EQ(client_.asked, 2);
  EXPECT_THAT(nodes.gpus(), ElementsAre());
}

TEST_F(SlurmNodesTest, NobodyIsAskedTwiceAtOnce) {
  SlurmNodes nodes(client_, clock_, {});
  auto first = LookAt(nodes);
  auto second = LookAt(nodes);
  boost::asio::co_spawn(loop_.context, std::move(first), [](const std::exception_ptr&, bool) {});
  loop_.Run(std::move(second));
  ASSERT_TRUE(loop_.RunUntil([&] { return !nodes.nodes().empty(); }));
  EXPECT_EQ(client_.asked, 1);
}

}  // namespace
}  // namespace trainyard::engine
