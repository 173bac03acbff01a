#include <google/protobuf/stubs/logging.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdio>
#include <map>
#include <random>
#include <thread>
#include <vector>

#include "base/wire/json.h"
#include "rules/cluster/role.h"
#include "rules/cluster/scale_tier.h"
#include "rules/jobs/prepare.h"
#include "rules/jobs/testing/random_job.h"
#include "rules/validation/validate.h"

/// What must hold for every job. The seeds are fixed; a failure names the job.
namespace trainyard::jobs {
namespace {

using ml::v1::Job;

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
constexpr bool kSanitized = true;
#else
constexpr bool kSanitized = false;
#endif
#endif
constexpr int kJobs = kSanitized ? 100'000 : 1'000'000;
constexpr int kAskedAgain = 4;  ///< every fourth job is asked for twice
constexpr int kPrintedJobs = kSanitized ? 5'000 : 20'000;

ValidationContext Everything() {
  return {.containers = true, .tuning = true, .gpus = true, .tpus = true, .runtimes = {}};
}

struct Tally {
  int valid = 0;
  std::map<std::string, int> fields;  ///< refused, by the error's field without indexes
};

std::string WithoutIndex(std::string field) {
  const std::size_t open = field.find('[');
  return open == std::string::npos ? field : field.erase(open, field.find(']') + 1 - open);
}

Tally ValidateMany(unsigned seed, int jobs) {
  std::mt19937 random(seed);
  Tally tally;
  for (int i = 0; i < jobs; ++i) {
    const Job job = RandomJob(random);
    const ValidationContext context = Everything();
    const Status once = Validate(job, context);
    if (i % kAskedAgain == 0) {
      EXPECT_EQ(once, Validate(Job(job), context)) << job.ShortDebugString();
      const Violations all = FindViolations(job, context);
      EXPECT_EQ(all.empty(), once.has_value()) << job.ShortDebugString();
      if (!once && !all.empty()) EXPECT_EQ(all.front(), once.error()) << job.ShortDebugString();
    }
    if (once) {
      ++tally.valid;
      continue;
    }
    const Error& error = once.error();
    EXPECT_EQ(error.code, Code::kInvalidArgument) << job.ShortDebugString();
    EXPECT_FALSE(error.message.empty() || error.field.empty()) << job.ShortDebugString();
    ++tally.fields[WithoutIndex(error.field)];
  }
  return tally;
}

TEST(Validate, IsTotalAndDeterministicForAMillionJobs) {
  constexpr int kThreads = 2;
  const auto start = std::chrono::steady_clock::now();
  std::vector<Tally> tallies(kThreads);
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < kThreads; ++i) {
      threads.emplace_back([&tallies, i] {
        tallies[static_cast<std::size_t>(i)] =
            ValidateMany(4711U + static_cast<unsigned>(i), kJobs / kThreads);
      });
    }
  }
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  Tally all;
  for (const Tally& tally : tallies) {
    all.valid += tally.valid;
    for (const auto& [field, count] : tally.fields) all.fields[field] += count;
  }
  RecordProperty("seconds", std::to_string(seconds.count()));
  std::printf("%d jobs, %d valid, %zu fields refused, %.1f s\n", kJobs, all.valid, all.fields.size(),
              seconds.count());
  EXPECT_GT(all.valid, kJobs / 10) << "the generator should make many valid jobs";
  EXPECT_GT(all.fields.size(), 60U) << "and break most rules";
}

TEST(Expand, ConservesCountsOfEveryValidJob) {
  std::mt19937 random(20240117);
  int custom = 0;
  for (int i = 0; i < kPrintedJobs; ++i) {
    const Job job = RandomJob(random);
    if (!Validate(job, Everything())) continue;
    const auto plans = cluster::Expand(job.training_input());
    ASSERT_TRUE(plans) << job.ShortDebugString();
    std::map<int, std::int64_t> counts;
    for (const cluster::ReplicaPlan& plan : *plans) EXPECT_EQ(plan.index, counts[plan.type]++);
    EXPECT_EQ(counts[replica::v1::MASTER], 1);
    EXPECT_GE(MakeRecord("p", job, "2.15", {}).replicas_size(), 1);
    if (job.training_input().scale_tier() != ml::v1::TrainingInput::CUSTOM) continue;
    ++custom;
    for (const cluster::Role& role : cluster::Roles(job.training_input())) {
      EXPECT_EQ(counts[role.type], role.count) << job.ShortDebugString();
    }
  }
  EXPECT_GT(custom, kPrintedJobs / 20);
}

TEST(Json, PrintOfParseIsStable) {
  const google::protobuf::LogSilencer silence;  // protobuf complains about each text that is not UTF-8
  std::mt19937 random(99);
  int read = 0;
  for (int i = 0; i < kPrintedJobs; ++i) {
    const std::string text = wire::PrintJson(RandomJob(random));
    Job first;
    if (!wire::ParseJson(text, first, "job")) continue;  // unknown enumerators have no name to be read by
    ++read;
    const std::string printed = wire::PrintJson(first);
    Job second;
    ASSERT_TRUE(wire::ParseJson(printed, second, "job")) << printed;
    EXPECT_EQ(wire::PrintJson(second), printed);
    EXPECT_EQ(second.SerializeAsString().size(), first.SerializeAsString().size()) << printed;
    EXPECT_EQ(Validate(second, Everything()), Validate(first, Everything())) << printed;
  }
  EXPECT_GT(read, kPrintedJobs / 2);
}

}  // namespace
}  // namespace trainyard::jobs
