#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/thread_pool.hpp>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/async/event.h"
#include "base/async/on_pool.h"
#include "base/async/task_group.h"
#include "base/clock.h"
#include "base/result.h"
#include "rules/tuning/tuner.h"
#include "stores/studies/study_operations.h"
#include "stores/studies/study_store.h"
#include "trainyard/longrunning/operations.pb.h"
#include "trainyard/ml/v1/study.pb.h"

namespace trainyard::studies {

class StudyWork;

/// The studies for the loop: Read and Write run the functions of study_cases.h and
/// study_operations.h on the threads of the database; what is written is durable. Suggestions are computed
/// off the loop: one at a time for each study, in the order of the requests, several studies in parallel; the
/// operation itself is returned immediately. Loop thread only. Operations that are unfinished when it is
/// destroyed are continued by the next service on the same file.
class StudyService {
 public:
  /// `clock` outlives it. Errors as StudyStore::Open.
  [[nodiscard]] static Result<std::unique_ptr<StudyService>> Open(boost::asio::any_io_executor loop,
                                                                  const Clock& clock,
                                                                  const std::string& path);
  ~StudyService();
  StudyService(const StudyService&) = delete;
  StudyService& operator=(const StudyService&) = delete;

  /// Continues the operations that the previous service did not finish. Call before the first request.
  boost::asio::awaitable<Status> Recover();

  /// Runs `work` on the reader's thread: `studies.Read([&](StudyStore& store) { return GetStudy(store, name);
  /// })`. Print long lists there, too: thousands of trials would block the loop for too long.
  template <class Work>
  auto Read(Work work) {
    return OnPool(readers_, [this, work = std::move(work)]() mutable { return work(reader_); });
  }
  /// Runs `work(store, now)` on the writer's thread.
  template <class Work>
  auto Write(Work work) {
    return OnPool(writer_,
                  [this, work = std::move(work), now = clock_.Now()]() mutable { return work(store_, now); });
  }

  boost::asio::awaitable<Result<longrunning::Operation>> Suggest(StudyName study,
                                                                 ml::v1::SuggestTrialsRequest asked);
  boost::asio::awaitable<Result<longrunning::Operation>> CheckEarlyStopping(TrialName name);
  /// If the operation is unfinished, waits for it up to half a second: clients poll immediately, and then
  /// only after a second or more.
  boost::asio::awaitable<Result<longrunning::Operation>> GetOperation(OperationName name);

 private:
  StudyService(boost::asio::any_io_executor loop, const Clock& clock, StudyStore store, StudyStore reader);
  void Enqueue(const StoredOperation& operation);
  boost::asio::awaitable<void> RunStudy(std::int64_t study_uid);
  boost::asio::awaitable<Status> RunOperation(std::int64_t study_uid, std::int64_t id);
  /// False: the operation must run again. Errors: those of the store.
  boost::asio::awaitable<Result<bool>> TryOperation(std::int64_t study_uid, std::int64_t id);
  std::shared_ptr<StudyWork> WorkFor(const OperationTask& task);

  boost::asio::any_io_executor loop_;
  const Clock& clock_;
  StudyStore store_;                                         ///< used on the thread of writer_
  StudyStore reader_;                                        ///< used on the thread of readers_
  std::map<std::int64_t, std::deque<std::int64_t>> queues_;  ///< operations by study; the first one runs
  /// One event for each operation in queues_, set when it leaves the queue. Shared with the waiting calls.
  std::map<std::int64_t, std::shared_ptr<Event>> ends_;
  struct CachedWork {
    std::shared_ptr<StudyWork> work;  ///< shared with the pool while it computes
    std::int64_t used = 0;
  };
  std::map<std::int64_t, CachedWork> works_;  ///< the most recently used studies
  std::int64_t uses_ = 0;
  boost::asio::thread_pool writer_{1};
  boost::asio::thread_pool readers_{1};
  boost::asio::thread_pool computers_{2};
  TaskGroup tasks_;
};

/// The tuner of one study with all its trials, kept between suggestions. Only saves time: one that is rebuilt
/// from the store makes the same suggestions. One thread at a time.
class StudyWork {
 public:
  explicit StudyWork(const StoredStudy& study);

  /// The trials of the store that are included: see StudyStore::TrialsChanged. After a deletion, start with a
  /// new one.
  [[nodiscard]] std::int64_t revision() const noexcept { return revision_; }
  [[nodiscard]] std::int64_t deletions() const noexcept { return deletions_; }

  /// kInternal: a trial does not belong to this study.
  [[nodiscard]] Status Update(const StudyStore::Changes& changes);

  struct Suggestions {
    std::vector<tuning::Point> points;
    bool last = false;  ///< no further points are left after these
  };
  /// @param made_before  as Tuner::Suggest
  [[nodiscard]] Suggestions Suggest(int count, int made_before);

  /// Whether the study's stopping rule applies to the trial; never without a rule or with several metrics.
  /// The trial must be one that Update() added.
  [[nodiscard]] bool ShouldStop(int trial) const;

  [[nodiscard]] const tuning::StudySpec& spec() const noexcept { return tuner_.spec(); }

 private:
  [[nodiscard]] int PointsLeft(const std::vector<tuning::Point>& more, int enough) const;

  ml::v1::AutomatedStoppingConfig stopping_;
  std::int64_t deletions_;
  std::int64_t revision_ = 0;
  tuning::Tuner tuner_;
  std::vector<tuning::Trial> trials_;  ///< by id
};

}  // namespace trainyard::studies
