#include "engine/remote/agent_slots.h"

#include <gmock/gmock.h>

#include <filesystem>

#include "base/async/task_group.h"
#include "engine/testing/loop.h"

namespace trainyard::engine {
namespace {

constexpr placement::Submission kFirst{.gang = {.job_uid = 7, .try_number = 1}, .number = 1};
constexpr placement::Submission kSecond{.gang = {.job_uid = 7, .try_number = 1}, .number = 2};

class AgentSlotsTest : public testing::Test {
 protected:
  AgentSlotsTest() {
    folder_ = std::filesystem::temp_directory_path() / ("slots_test." + std::to_string(::getpid()));
    std::filesystem::create_directory(folder_);
    Restart();
  }
  ~AgentSlotsTest() override {
    slots_.reset();
    std::filesystem::remove_all(folder_);
  }
  void Restart() {
    slots_.reset();
    auto opened = AgentSlots::Open(loop_.context.get_executor(), folder_ / "engines.db");
    ASSERT_TRUE(opened) << opened.error().message;
    slots_ = *std::move(opened);
  }
  std::string Issue(const placement::Submission& submission) {
    return loop_.Run(slots_->Issue(submission, {1, 0})).value_or("");
  }
  Result<AgentSlots::SlotClaim> Take(const std::string& ticket, int slot, const std::string& instance) {
    agent::v1::FromAgent::Hello hello;
    hello.set_ticket(ticket);
    hello.set_slot(slot);
    hello.set_instance(instance);
    hello.mutable_node()->set_name("node-" + instance);
    return loop_.Run(slots_->Take(hello));
  }
  static bool IsRefused(const Result<AgentSlots::SlotClaim>& taken) {
    return !taken && taken.error().code == Code::kPermissionDenied;
  }

  std::filesystem::path folder_;
  Loop loop_;
  std::unique_ptr<AgentSlots> slots_;
};

TEST_F(AgentSlotsTest, TheFirstAgentHasTheSlotAndMayComeBack) {
  const std::string ticket = Issue(kFirst);
  const auto taken = Take(ticket, 1, "a");
  ASSERT_TRUE(taken);
  EXPECT_EQ(taken->submission, kFirst);
  EXPECT_EQ(taken->slot, 1);
  const auto other = Take(ticket, 1, "b");
  ASSERT_FALSE(other);
  EXPECT_EQ(other.error().code, Code::kPermissionDenied);
  EXPECT_EQ(other.error().message,
            "Another agent, on node-a, has the slot: the cluster has started the job twice.");
  EXPECT_TRUE(Take(ticket, 0, "b"));
  EXPECT_TRUE(Take(ticket, 1, "a"));
}

TEST_F(AgentSlotsTest, WhatIsWrittenDownOutlivesTheServer) {
  const std::string ticket = Issue(kFirst);
  const std::string installation = slots_->installation();
  ASSERT_TRUE(Take(ticket, 1, "a"));
  Restart();
  EXPECT_EQ(slots_->installation(), installation);
  EXPECT_TRUE(IsRefused(Take(ticket, 1, "b")));
  EXPECT_TRUE(Take(ticket, 1, "a"));
  const SubmissionRecord* known = slots_->Find(kFirst.gang);
  ASSERT_NE(known, nullptr);
  EXPECT_THAT(known->replicas, testing::ElementsAre(1, 0));
  EXPECT_EQ(known->holders.at(1).node.name(), "node-a");
}

TEST_F(AgentSlotsTest, ATicketIsVoidOnceTheRoomIsGivenBackOrAskedForAgain) {
  const std::string first = Issue(kFirst);
  ASSERT_TRUE(Take(first, 0, "a"));
  const std::string second = Issue(kSecond);
  EXPECT_NE(first, second);
  EXPECT_TRUE(IsRefused(Take(first, 0, "a")));
  EXPECT_TRUE(Take(second, 0, "b")) << "its slots are free again";
  slots_->VoidTicket(kFirst);
  EXPECT_TRUE(Take(second, 0, "b")) << "it was another's";
  slots_->VoidTicket(kSecond);
  EXPECT_TRUE(IsRefused(Take(second, 0, "b")));
  Restart();
  EXPECT_TRUE(IsRefused(Take(second, 0, "b")));
}

TEST_F(AgentSlotsTest, WhatIsOverIsForgotten) {
  const std::string ticket = Issue(kFirst);
  slots_->Drop(kFirst.gang);
  Restart();
  EXPECT_TRUE(slots_->all().empty());
  EXPECT_FALSE(Take(ticket, 0, "a"));
}

TEST_F(AgentSlotsTest, ATicketEndsWithItsJobAlsoIfNobodyHasMadeItVoid) {
  const std::string ticket = Issue(kFirst);
  slots_->Drop(kFirst.gang);
  EXPECT_TRUE(IsRefused(Take(ticket, 0, "a")));
}

TEST_F(AgentSlotsTest, ThereAreAsManySlotsAsReplicas) {
  const std::string ticket = Issue(kFirst);
  EXPECT_EQ(Take(ticket, 2, "a").error().message, "The grant has no slot 2.");
  EXPECT_FALSE(Take(ticket, -1, "a"));
  EXPECT_FALSE(Take("", 0, "a"));
}

/// Every second ticket is void afterwards, and every third job over.
boost::asio::awaitable<void> IssueAndEndSome(AgentSlots& slots, int uid, int& issued) {
  const placement::Submission first{.gang = {.job_uid = uid, .try_number = 1}, .number = 1};
  std::vector<int> replicas{0};
  const Result<std::string> ticket = co_await slots.Issue(first, std::move(replicas));
  issued += ticket ? 1 : 0;
  if (uid % 2 == 0) slots.VoidTicket(first);
  if (uid % 3 == 0) slots.Drop(first.gang);
}

TEST_F(AgentSlotsTest, ManyAreWrittenDownAtOnce) {
  constexpr int kMany = 3'000;
  int issued = 0;
  TaskGroup tasks(loop_.context.get_executor());
  for (int uid = 1; uid <= kMany; ++uid) tasks.Spawn(IssueAndEndSome(*slots_, uid, issued));
  ASSERT_TRUE(loop_.RunUntil([&tasks] { return tasks.size() == 0; }));
  EXPECT_EQ(issued, kMany);
  Restart();
  EXPECT_EQ(slots_->all().size(), static_cast<std::size_t>(kMany - kMany / 3));
  for (const auto& [gang, submitted] : slots_->all())
    EXPECT_EQ(submitted.ticket_sha256.empty(), gang.job_uid % 2 == 0) << gang.job_uid;
}

TEST_F(AgentSlotsTest, WhatIsWrittenTogetherIsThereAsAWhole) {
  slots_.reset();
  AgentBook book = AgentBook::Open(folder_ / "engines.db").value();
  const auto write = [&book](const placement::Submission& of_holder) -> Status {
    TY_RETURN_IF_ERROR(book.Put({.submission = kFirst, .ticket_sha256 = "digest", .replicas = {0}}));
    return book.PutHolder(of_holder, 0, {});
  };
  const placement::Submission unknown{.gang = {.job_uid = 8, .try_number = 1}, .number = 1};
  EXPECT_FALSE(book.Together([&] { return write(unknown); }));
  EXPECT_TRUE(book.Load().value().empty());
  EXPECT_TRUE(book.Together([&] { return write(kFirst); }));
  EXPECT_EQ(book.Load().value().at(0).holders.size(), 1U);
}

TEST_F(AgentSlotsTest, CancellationsAreKeptUntilTheNextSubmission) {
  Issue(kFirst);
  ASSERT_TRUE(loop_.Run(slots_->NoteCancels(kFirst.gang, {40, 41})));
  ASSERT_TRUE(loop_.Run(slots_->NoteCancels(kFirst.gang, {41, 42})));
  Restart();
  EXPECT_EQ(slots_->Find(kFirst.gang)->cancelled, (std::set<std::int64_t>{40, 41, 42}));
  Issue(kSecond);
  EXPECT_TRUE(slots_->Find(kFirst.gang)->cancelled.empty());
  Restart();
  EXPECT_TRUE(slots_->Find(kFirst.gang)->cancelled.empty());
  slots_->Drop(kFirst.gang);
  EXPECT_TRUE(loop_.Run(slots_->NoteCancels(kFirst.gang, {43}))) << "the job is over";
}

}  // namespace
}  // namespace trainyard::engine
