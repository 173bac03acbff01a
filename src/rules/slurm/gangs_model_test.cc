#include <gtest/gtest.h>

#include <bit>
#include <cstdint>
#include <cstdlib>
#include <deque>
#include <iostream>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "rules/slurm/testing/model_cluster.h"

/// A model of the protocol of gangs, complete in small bounds: every history of two gangs on a Slurm with two
/// nodes, with any order of all steps and answers, and with some faults. The rules are the real ones.
namespace trainyard::slurm {
namespace {

/// The digest of a key: keys are too long to keep for millions of situations.
using Digest = std::pair<std::uint64_t, std::uint64_t>;

struct DigestHash {
  std::size_t operator()(const Digest& digest) const noexcept { return digest.first; }
};

Digest DigestOf(const std::string& key) {
  Digest digest{0x9E3779B97F4A7C15U, 0xC2B2AE3D27D4EB4FU};
  for (const char c : key) {
    digest.first = (digest.first ^ static_cast<unsigned char>(c)) * 0x100000001B3U;
    digest.second = std::rotl(digest.second ^ digest.first, 29) * 0x165667B19E3779F9U;
  }
  digest.first ^= digest.first >> 32U;
  return digest;
}

class Explorer {
 public:
  Explorer(const std::vector<int>& slots, int faults_max, unsigned faults)
      : first_(slots), faults_max_(faults_max), faults_(faults) {
    Find(std::make_unique<ModelCluster>(first_), 0, {});
  }

  /// Visits every moment; stops at the first that breaks an invariant.
  void Explore() {
    while (!to_visit_.empty() && broken_.empty()) {
      auto [at, here] = std::move(to_visit_.front());
      to_visit_.pop_front();
      const std::vector<ClusterStep> steps = AllowedSteps(*here);
      for (const ClusterStep& step : steps) {
        const bool is_last = &step == &steps.back();
        auto next = is_last ? std::move(here) : std::make_unique<ModelCluster>(*here);
        Do(*next, step);
        const std::uint32_t to = Find(std::move(next), at, step);
        ++moves_;
        if (step.fault == 0) ways_back_.emplace_back(to, at);
      }
    }
  }

  /// How many moments there are from which not everything can end without another fault.
  std::size_t CountStuck() {
    std::vector<std::uint32_t> begin(ways_.size() + 1);
    for (const auto& [to, from] : ways_back_) ++begin[to + 1];
    for (std::size_t i = 1; i < begin.size(); ++i) begin[i] += begin[i - 1];
    std::vector<std::uint32_t> from_of(ways_back_.size());
    std::vector<std::uint32_t> next(begin.begin(), begin.end() - 1);
    for (const auto& [to, from] : ways_back_) from_of[next[to]++] = from;
    std::vector<std::uint32_t> reached = over_;
    std::vector<bool> ends(ways_.size());
    for (const std::uint32_t at : reached) ends[at] = true;
    for (std::size_t i = 0; i < reached.size(); ++i) {
      for (std::uint32_t way = begin[reached[i]]; way < begin[reached[i] + 1]; ++way) {
        if (ends[from_of[way]]) continue;
        ends[from_of[way]] = true;
        reached.push_back(from_of[way]);
      }
    }
    for (std::uint32_t at = 0; at < ways_.size() && story_.empty(); ++at)
      if (!ends[at]) story_ = Story(at);
    return ways_.size() - reached.size();
  }

  [[nodiscard]] const std::string& broken() const { return broken_; }
  [[nodiscard]] const std::string& story() const { return story_; }
  [[nodiscard]] std::size_t moments() const { return ways_.size(); }
  [[nodiscard]] std::size_t moves() const { return moves_; }

 private:
  struct Way {
    std::uint32_t from = 0;
    ClusterStep step{};
  };

  [[nodiscard]] std::vector<ClusterStep> AllowedSteps(const ModelCluster& here) const {
    const bool is_enough = std::popcount(here.faults) >= faults_max_;
    std::vector<ClusterStep> steps = StepsOf(here);
    std::erase_if(steps, [this, is_enough](const ClusterStep& step) {
      return step.fault != 0 && (is_enough || (step.fault & faults_) == 0);
    });
    return steps;
  }

  std::uint32_t Find(std::unique_ptr<ModelCluster> moment, std::uint32_t from, const ClusterStep& step) {
    const auto [found, is_new] =
        ids_.emplace(DigestOf(KeyOf(*moment)), static_cast<std::uint32_t>(ways_.size()));
    if (!is_new) return found->second;
    ways_.push_back({from, step});
    if (IsOver(*moment)) over_.push_back(found->second);
    if (!moment->broken.empty() && broken_.empty()) {
      broken_ = moment->broken;
      story_ = Story(found->second);
    }
    to_visit_.emplace_back(found->second, std::move(moment));
    return found->second;
  }

  /// Does the steps again that led there.
  std::string Story(std::uint32_t at) {
    std::vector<ClusterStep> steps;
    for (; at != 0; at = ways_[at].from) steps.push_back(ways_[at].step);
    std::string story;
    ModelCluster moment = first_;
    for (auto step = steps.rbegin(); step != steps.rend(); ++step) {
      story += Describe(*step) + "\n";
      Do(moment, *step);
    }
    return story + Describe(moment);
  }

  ModelCluster first_;
  int faults_max_;
  unsigned faults_;  ///< those that happen
  std::deque<std::pair<std::uint32_t, std::unique_ptr<ModelCluster>>> to_visit_;
  std::unordered_map<Digest, std::uint32_t, DigestHash> ids_;
  std::vector<Way> ways_;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> ways_back_;  ///< of steps without a fault
  std::vector<std::uint32_t> over_;
  std::size_t moves_ = 0;
  std::string broken_;
  std::string story_;
};

/// Every history of gangs with these numbers of slots, with at most so many different faults, all of
/// `faults`.
void ExploreAll(const std::vector<int>& slots, int faults_max, unsigned faults = ~0U) {
  Explorer explorer(slots, faults_max, faults);
  explorer.Explore();
  std::cout << explorer.moments() << " moments, " << explorer.moves() << " moves\n";
  ASSERT_EQ(explorer.broken(), "") << explorer.story();
  EXPECT_EQ(explorer.CountStuck(), 0U) << "the gangs cannot end, the first time after:\n" << explorer.story();
}

bool IsLong() { return std::getenv("TRAINYARD_LONG") != nullptr; }

TEST(GangsModel, OneSlotMeetsAnyFault) { ExploreAll({1}, IsLong() ? 2 : 1); }

TEST(GangsModel, AUserCancelsWhileSbatchIsSlow) { ExploreAll({1}, 2, kUserCancels | kSubmitLate); }

/// A drain takes the room of a job that waits, and ends before Slurm has ended the job.
TEST(GangsModel, ADrainEndsEarly) {
  ExploreAll({1}, 3,
             kUserCancels | kWantedAgain | kSubmitLate | (IsLong() ? kServerCrash | kCancelLost : 0U));
}

TEST(GangsModel, AGangOfTwoSlots) { ExploreAll({2}, IsLong() ? 1 : 0); }

/// Without a fault this takes longer than all the others together, so it is not in the short form.
TEST(GangsModel, TwoGangsShareTwoNodes) {
  if (!IsLong()) GTEST_SKIP() << "TRAINYARD_LONG=1 runs it";
  ExploreAll({2, 1}, 0);
}

TEST(GangsModel, TwoGangsMeetAnyFault) {
  if (!IsLong()) GTEST_SKIP() << "TRAINYARD_LONG=1 runs it";
  ExploreAll({2, 1}, 1);
}

}  // namespace
}  // namespace trainyard::slurm
