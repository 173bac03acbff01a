#include "rules/placement/queue.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace trainyard::placement {
namespace {

Gang Make(std::int64_t uid, int priority, int age) {
  return {.uid = uid,
          .job_id = "job_" + std::to_string(uid),
          .priority = priority,
          .create_time = SysTime{} - std::chrono::seconds{age},
          .replicas = {}};
}

std::vector<std::int64_t> Uids(const Queue& queue) {
  std::vector<std::int64_t> uids;
  for (const Gang* gang : queue.InOrder()) uids.push_back(gang->uid);
  return uids;
}

std::int64_t Position(const Queue& queue, std::int64_t uid) { return queue.PositionOf(*queue.Find(uid)); }

TEST(Queue, SaysWhereEachWaits) {
  Queue queue;
  EXPECT_TRUE(queue.empty());
  for (std::int64_t uid : {1, 2, 3}) queue.Add(Make(uid, 0, 0));
  EXPECT_EQ(queue.TurnOf(*queue.Find(1), "job_9"),
            (Wait{1, "Waiting for its turn: job_9 is before it.",
                  "It is next when job_9 has started or is cancelled.", true}));
  EXPECT_EQ(queue.TurnOf(*queue.Find(2), "job_9"),
            (Wait{2, "Waiting for its turn: 1 job before it, job_1 is next.",
                  "It moves up when job_1 starts or is cancelled.", true}));
  EXPECT_EQ(queue.TurnOf(*queue.Find(3), "job_9").reason,
            "Waiting for its turn: 2 jobs before it, job_1 is next.");
  EXPECT_EQ(queue.Find(4), nullptr);
}

TEST(Queue, PositionsCountWithinALine) {
  Queue queue;
  for (std::int64_t uid = 1; uid <= 6; ++uid) {
    Gang gang = Make(uid, 0, 0);
    gang.line = static_cast<int>(uid % 2);
    queue.Add(std::move(gang));
  }
  EXPECT_EQ(Position(queue, 5), 3);
  EXPECT_EQ(Position(queue, 6), 3);
  queue.Take(1);
  EXPECT_EQ(Position(queue, 5), 2);
  EXPECT_EQ(Position(queue, 6), 3);
  EXPECT_EQ(Uids(queue), (std::vector<std::int64_t>{2, 3, 4, 5, 6}));
}

TEST(Queue, TakesFromAnyPlace) {
  Queue queue;
  for (std::int64_t uid : {1, 2, 3}) queue.Add(Make(uid, 0, 0));
  EXPECT_EQ(queue.Take(2)->job_id, "job_2");
  EXPECT_FALSE(queue.Take(2));
  EXPECT_EQ(Uids(queue), (std::vector<std::int64_t>{1, 3}));
  queue.Take(1);
  EXPECT_EQ(Position(queue, 3), 1);
  queue.Take(3);
  EXPECT_TRUE(queue.empty());
}

TEST(Queue, KeepsItsOrderWhoeverComesAndGoes) {
  std::mt19937 random(5);
  Queue queue;
  std::vector<Gang> model;
  for (std::int64_t uid = 1; uid <= 2000; ++uid) {
    if (random() % 3 == 0 && !model.empty()) {
      const auto gone = model.begin() + static_cast<std::ptrdiff_t>(random() % model.size());
      EXPECT_EQ(queue.Take(gone->uid)->uid, gone->uid);
      model.erase(gone);
    }
    model.push_back(Make(uid, static_cast<int>(random() % 3), static_cast<int>(random() % 5)));
    queue.Add(model.back());
  }
  std::ranges::sort(model, [](const Gang& a, const Gang& b) {
    if (a.priority != b.priority) return a.priority > b.priority;
    return a.create_time != b.create_time ? a.create_time < b.create_time : a.uid < b.uid;
  });
  ASSERT_EQ(queue.InOrder().size(), model.size());
  for (std::size_t i = 0; i < model.size(); ++i) {
    EXPECT_EQ(queue.InOrder()[i]->uid, model[i].uid);
    EXPECT_EQ(Position(queue, model[i].uid), static_cast<std::int64_t>(i) + 1);
  }
}

}  // namespace
}  // namespace trainyard::placement
