#include "slurm_parts.h"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/check.h"
#include "engine/remote/agent_slots.h"
#include "figures.h"
#include "rules/slurm/gangs.h"
#include "simulated_slurm.h"
#include "sync_floor.h"

namespace trainyard::bench {
namespace {

namespace asio = boost::asio;
using slurm::GangAction;
using slurm::Gangs;
using slurm::JobState;
using slurm::ListedJob;
using slurm::Submission;

constexpr int kInFlight = slurm::kSubmittingMax;

/// What a list made of the gangs, and what it cost.
struct Reading {
  double all_ms = 0;
  double longest_ms = 0;  ///< of one call
  std::int64_t actions = 0;
};

class Decisions {
 public:
  explicit Decisions(int count) : count_(count) {}

  void Run();

 private:
  template <class Work>
  void Call(Reading& reading, Work work) {
    const double begin = ThreadSeconds();
    reading.actions += static_cast<std::int64_t>(work());
    const double spent_ms = 1e3 * (ThreadSeconds() - begin);
    reading.all_ms += spent_ms;
    reading.longest_ms = std::max(reading.longest_ms, spent_ms);
  }
  std::size_t Next() {
    std::size_t actions = 0;
    for (const GangAction& action : gangs_.Next(now_)) {
      ++actions;
      if (const auto* submit = std::get_if<slurm::Submit>(&action)) submitted_.push_back(submit->submission);
    }
    return actions;
  }
  /// All that is to be done now.
  void Drain(Reading& reading) {
    do Call(reading, [this] { return Next(); });
    while (gangs_.WakeAt() && *gangs_.WakeAt() <= now_);
  }
  void List(const char* what, JobState state, const char* reason);
  void Submit();
  void Say(const char* what, const Reading& reading) const;

  int count_;
  SysTime now_{std::chrono::hours(480'000)};
  Gangs gangs_{std::string(kInstallation)};
  std::vector<Submission> submitted_;
  bool sorted_ = false;  ///< and said how long it took
};

void Decisions::Say(const char* what, const Reading& reading) const {
  std::printf("%-44s %8.1f ms in all, %7.2f ms the longest call, %8lld actions\n", what, reading.all_ms,
              reading.longest_ms, static_cast<long long>(reading.actions));
}

void Decisions::Submit() {
  Reading reading;
  for (int uid = 1; uid <= count_; ++uid) {
    Call(reading, [&] {
      gangs_.Want({.key = {.job_uid = uid, .try_number = 1}, .slots = 4}, now_);
      return 0;
    });
  }
  Drain(reading);
  for (std::size_t done = 0; done < submitted_.size(); ++done) {
    Call(reading, [&] {
      gangs_.OnSubmitted(submitted_[done], static_cast<std::int64_t>(done) + 1, now_);
      return 0;
    });
    Call(reading, [this] { return Next(); });
  }
  TY_CHECK(std::ssize(submitted_) == count_);
  Say("gangs alone: wanted and submitted", reading);
  Print("gangs alone: decisions per second", 1e3 * static_cast<double>(reading.actions) / reading.all_ms,
        "/s");
}

void Decisions::List(const char* what, JobState state, const char* reason) {
  std::vector<ListedJob> jobs;
  for (std::size_t i = 0; i < submitted_.size(); ++i) {
    jobs.push_back({.id = static_cast<std::int64_t>(i) + 1,
                    .name = slurm::JobName(kInstallation, submitted_[i].gang),
                    .comment = slurm::Comment(submitted_[i]),
                    .state = state,
                    .state_text = state == JobState::kPending ? "PENDING" : "CANCELLED",
                    .nodes = {},
                    .reason = reason});
  }
  now_ += slurm::kListPause;
  Reading reading;
  Drain(reading);  // which asks for the list
  const double begin = ThreadSeconds();
  slurm::OurJobs ours = slurm::OursOf(kInstallation, std::move(jobs));
  const double sorted_ms = 1e3 * (ThreadSeconds() - begin);
  reading = {};
  Call(reading, [&] {
    gangs_.OnListed(std::nullopt, now_, std::move(ours), now_);
    return 0;
  });
  Drain(reading);
  Say(what, reading);
  if (std::exchange(sorted_, true)) return;
  Print("gangs alone: whose the jobs of a list are, off the loop", sorted_ms, "ms");
}

void Decisions::Run() {
  const std::size_t before = HeldBytes();
  Submit();
  List("gangs alone: a list, all wait for a turn", JobState::kPending, "Priority");
  Print("gangs alone: memory of a gang", static_cast<double>(HeldBytes() - before) / count_, "bytes");
  List("gangs alone: a list with nothing new", JobState::kPending, "Priority");
  List("gangs alone: a list, all for another reason", JobState::kPending, "PartitionDown");
  Reading failed;
  Call(failed, [this] {
    gangs_.OnListFailed(std::nullopt, "Unable to contact slurm controller", now_);
    return 0;
  });
  Drain(failed);
  Say("gangs alone: the controller does not answer", failed);
  Reading released;
  for (const Submission& submission : submitted_) {
    Call(released, [&] {
      gangs_.Release(submission.gang, now_);
      return 0;
    });
  }
  Drain(released);
  Say("gangs alone: all cancelled", released);
  List("gangs alone: a list, all have ended", JobState::kCancelled, "None");
}

/// The book, and what is written into it for the job of a number.
class Book {
 public:
  using Work = asio::awaitable<void> (Book::*)(int uid);

  Book(const std::filesystem::path& path, int count)
      : tickets_(static_cast<std::size_t>(count) + 1),
        slots_(*engine::AgentSlots::Open(loop_.get_executor(), path)) {}

  asio::awaitable<void> Issue(int uid) {
    std::vector<int> replicas{0, 1, 2, 3};
    Result<std::string> ticket = co_await slots_->Issue(FirstOf(uid), std::move(replicas));
    TY_CHECK(ticket.has_value());
    tickets_[static_cast<std::size_t>(uid)] = *std::move(ticket);
  }
  asio::awaitable<void> Take(int uid) {
    agent::v1::FromAgent::Hello hello;
    hello.set_ticket(tickets_[static_cast<std::size_t>(uid)]);
    hello.set_instance("instance");
    hello.mutable_node()->set_name("node1");
    const auto taken = co_await slots_->Take(std::move(hello));
    TY_CHECK(taken.has_value());
  }
  asio::awaitable<void> End(int uid) {
    slots_->VoidTicket(FirstOf(uid));
    slots_->Drop(FirstOf(uid).gang);
    co_return;
  }

  /// So many at once.
  double PerSecond(int in_flight, Work work) {
    int next = 0;
    const auto begin = SteadyClock::now();
    for (int i = 0; i < in_flight; ++i) asio::co_spawn(loop_, Go(work, next), asio::detached);
    loop_.restart();
    loop_.run();
    return count() / SecondsSince(begin);
  }
  [[nodiscard]] int count() const noexcept { return static_cast<int>(tickets_.size()) - 1; }

 private:
  asio::awaitable<void> Go(Work work, int& next) {
    while (next < count()) co_await (this->*work)(++next);
  }

  asio::io_context loop_{1};
  std::vector<std::string> tickets_;
  std::unique_ptr<engine::AgentSlots> slots_;
};

}  // namespace

void MeasureDecisions(int count) { Decisions(count).Run(); }

void MeasureBook(const std::filesystem::path& folder, int count) {
  Book book(folder / "book.db", count);
  Print("floor: write and fdatasync of 4 KiB", SyncedBlocksPerSecond(folder, 4096, 1), "/s");
  Print("book of slots: submissions written down, 4 at once", book.PerSecond(kInFlight, &Book::Issue), "/s");
  Print("book of slots: agents written down, 64 at once", book.PerSecond(64, &Book::Take), "/s");
  Print("book of slots: jobs that end, all at once", book.PerSecond(count, &Book::End), "/s");
}

}  // namespace trainyard::bench
