#include "stores/studies/study_service.h"

#include <algorithm>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <exception>
#include <utility>

#include "base/async/diagnostics.h"
#include "base/async/on_pool.h"
#include "base/wire/json.h"
#include "stores/studies/study_cases.h"
#include "stores/studies/study_work.h"

namespace trainyard::studies {
namespace {

using boost::asio::awaitable;
using Kind = StoredOperation::Kind;

constexpr std::size_t kWorksMax = 16;  ///< tuners kept; one of a long study takes up to 256 MB
constexpr std::chrono::milliseconds kOperationWait{500};  ///< of a request for an operation
constexpr std::chrono::seconds kRetryPause{1};  ///< after an error of the store, for example a full disk

awaitable<void> Sleep(std::chrono::steady_clock::duration time) {
  boost::asio::steady_timer timer(co_await boost::asio::this_coro::executor);
  timer.expires_after(time);
  co_await timer.async_wait(boost::asio::use_awaitable);
}

template <class Message>
Result<std::string> Printed(const Result<Message>& message) {
  if (!message) return std::unexpected(message.error());
  return wire::PrintJson(*message);
}

struct Computed {
  StudyWork::Suggestions suggestions;
  bool should_stop = true;  ///< what a trial that is STOPPING already gets
};

/// kInternal: nothing can be computed, for whatever reason.
Result<Computed> Compute(StudyWork& work, const OperationTask& task) {
  try {
    Computed computed;
    TY_RETURN_IF_ERROR(work.Update(task.changes));
    if (task.operation.kind == Kind::kSuggest)
      computed.suggestions = work.Suggest(task.needed, task.study.next_trial - 1);
    if (task.judging) computed.should_stop = work.ShouldStop(task.operation.trial);
    return computed;
  } catch (const std::exception& problem) {
    return std::unexpected(Internal(std::string("The tuner failed: ") + problem.what()));
  }
}

}  // namespace

Result<std::unique_ptr<StudyService>> StudyService::Open(boost::asio::any_io_executor loop,
                                                         const Clock& clock, const std::string& path) {
  TY_TRY(StudyStore store, StudyStore::Open(path));
  TY_TRY(StudyStore reader, StudyStore::OpenReader(path));
  return std::unique_ptr<StudyService>(
      new StudyService(std::move(loop), clock, std::move(store), std::move(reader)));
}

StudyService::StudyService(boost::asio::any_io_executor loop, const Clock& clock, StudyStore store,
                           StudyStore reader)
    : loop_(std::move(loop)),
      clock_(clock),
      store_(std::move(store)),
      reader_(std::move(reader)),
      tasks_(loop_) {}

StudyService::~StudyService() = default;

awaitable<Status> StudyService::Recover() {
  auto list = [this] { return store_.PendingOperations(); };
  TY_CO_TRY(std::vector<StoredOperation> pending, co_await OnPool(writer_, std::move(list)));
  for (const StoredOperation& operation : pending) Enqueue(operation);
  co_return Status{};
}

awaitable<Result<ml::v1::Study>> StudyService::CreateStudy(StudyName name, ml::v1::Study asked) {
  return OnPool(writer_, [this, name = std::move(name), asked = std::move(asked), now = clock_.Now()] {
    return studies::CreateStudy(store_, name, asked, now);
  });
}

awaitable<Result<ml::v1::Study>> StudyService::GetStudy(StudyName name) {
  return OnPool(readers_, [this, name = std::move(name)] { return studies::GetStudy(reader_, name); });
}

awaitable<Result<std::string>> StudyService::ListStudies(std::string project, std::string location) {
  return OnPool(readers_, [this, project = std::move(project), location = std::move(location)] {
    return Printed(studies::ListStudies(reader_, project, location));
  });
}

awaitable<Status> StudyService::DeleteStudy(StudyName name) {
  return OnPool(writer_, [this, name = std::move(name)] { return studies::DeleteStudy(store_, name); });
}

awaitable<Result<ml::v1::Trial>> StudyService::CreateTrial(StudyName study, ml::v1::Trial asked) {
  return OnPool(writer_, [this, study = std::move(study), asked = std::move(asked), now = clock_.Now()] {
    return studies::CreateTrial(store_, study, asked, now);
  });
}

awaitable<Result<ml::v1::Trial>> StudyService::GetTrial(TrialName name) {
  return OnPool(readers_, [this, name = std::move(name)] { return studies::GetTrial(reader_, name); });
}

awaitable<Result<std::string>> StudyService::ListTrials(StudyName study) {
  return OnPool(readers_,
                [this, study = std::move(study)] { return Printed(studies::ListTrials(reader_, study)); });
}

awaitable<Result<std::string>> StudyService::ListOptimalTrials(StudyName study) {
  return OnPool(readers_, [this, study = std::move(study)] {
    return Printed(studies::ListOptimalTrials(reader_, study));
  });
}

awaitable<Status> StudyService::DeleteTrial(TrialName name) {
  return OnPool(writer_, [this, name = std::move(name)] { return studies::DeleteTrial(store_, name); });
}

awaitable<Result<StudyRevision>> StudyService::Revision(StudyName study) {
  return OnPool(readers_, [this, study = std::move(study)] { return ReadRevision(reader_, study); });
}

awaitable<Result<StudyEvidence>> StudyService::Evidence(StudyName study) {
  return OnPool(readers_, [this, study = std::move(study)] { return ReadEvidence(reader_, study); });
}

awaitable<Result<ml::v1::Trial>> StudyService::AddMeasurement(TrialName name,
                                                              ml::v1::AddTrialMeasurementRequest asked) {
  return OnPool(writer_, [this, name = std::move(name), asked = std::move(asked), now = clock_.Now()] {
    return studies::AddMeasurement(store_, name, asked, now);
  });
}

awaitable<Result<ml::v1::Trial>> StudyService::CompleteTrial(TrialName name,
                                                             ml::v1::CompleteTrialRequest asked) {
  return OnPool(writer_, [this, name = std::move(name), asked = std::move(asked), now = clock_.Now()] {
    return studies::CompleteTrial(store_, name, asked, now);
  });
}

awaitable<Result<ml::v1::Trial>> StudyService::StopTrial(TrialName name) {
  return OnPool(writer_, [this, name = std::move(name)] { return studies::StopTrial(store_, name); });
}

awaitable<Result<longrunning::Operation>> StudyService::Suggest(StudyName study,
                                                                ml::v1::SuggestTrialsRequest asked) {
  auto begin = [this, study = std::move(study), asked = std::move(asked), now = clock_.Now()] {
    return BeginSuggest(store_, study, asked, now);
  };
  TY_CO_TRY(StoredOperation begun, co_await OnPool(writer_, std::move(begin)));
  Enqueue(begun);
  co_return std::move(begun.operation);
}

awaitable<Result<longrunning::Operation>> StudyService::CheckEarlyStopping(TrialName name) {
  auto begin = [this, name = std::move(name), now = clock_.Now()] {
    return BeginCheckStopping(store_, name, now);
  };
  TY_CO_TRY(StoredOperation begun, co_await OnPool(writer_, std::move(begin)));
  Enqueue(begun);
  co_return std::move(begun.operation);
}

awaitable<Result<longrunning::Operation>> StudyService::GetOperation(OperationName name) {
  auto get = [this, name] { return studies::GetOperation(reader_, name); };
  Result<longrunning::Operation> operation = co_await OnPool(readers_, get);
  if (!operation || operation->done()) co_return operation;
  if (const auto end = ends_.find(name.id); end != ends_.end()) {
    const std::shared_ptr<Event> ended = end->second;
    co_await ended->WaitFor(kOperationWait);
  }
  co_return co_await OnPool(readers_, get);
}

awaitable<Status> StudyService::CancelOperation(OperationName name) {
  return OnPool(writer_, [this, name = std::move(name)] { return studies::CancelOperation(store_, name); });
}

void StudyService::Enqueue(const StoredOperation& operation) {
  // Right after the start, Recover may find a new request before its own call gets here.
  if (!ends_.emplace(operation.id, std::make_shared<Event>(loop_)).second) return;
  auto [queue, is_new] = queues_.try_emplace(operation.study_uid);
  queue->second.push_back(operation.id);
  if (is_new) tasks_.Spawn(RunStudy(operation.study_uid));
}

awaitable<void> StudyService::RunStudy(std::int64_t study_uid) {
  std::deque<std::int64_t>& queue = queues_.at(study_uid);
  bool failing = false;  // the failure was already logged
  while (!queue.empty()) {
    Status run = co_await RunOperation(study_uid, queue.front());
    if (run) {
      const auto ended = ends_.extract(queue.front());
      queue.pop_front();
      ended.mapped()->Set();
      failing = false;
      continue;
    }
    if (!failing)
      Diagnose(DiagnosticLevel::kWarning, "an operation of a study waits: " + run.error().message);
    failing = true;
    co_await Sleep(kRetryPause);
  }
  queues_.erase(study_uid);
}

awaitable<Status> StudyService::RunOperation(std::int64_t study_uid, std::int64_t id) {
  for (bool done = false; !done;) {
    TY_CO_TRY(done, co_await TryOperation(study_uid, id));
  }
  co_return Status{};
}

std::shared_ptr<StudyWork> StudyService::WorkFor(const OperationTask& task) {
  Kept& kept = works_[task.study.uid];
  if (!kept.work || task.anew) kept.work = std::make_shared<StudyWork>(task.study);
  kept.used = ++uses_;
  std::shared_ptr<StudyWork> work = kept.work;
  if (works_.size() > kWorksMax)
    works_.erase(std::ranges::min_element(works_, {}, [](const auto& one) { return one.second.used; }));
  return work;
}

awaitable<Result<bool>> StudyService::TryOperation(std::int64_t study_uid, std::int64_t id) {
  const SysTime started = clock_.Now();
  Known known;
  if (const auto kept = works_.find(study_uid); kept != works_.end())
    known = {.deletions = kept->second.work->deletions(), .revision = kept->second.work->revision()};
  auto read = [this, id, study_uid, known] { return ReadOperation(store_, id, study_uid, known); };
  TY_CO_TRY(std::optional<OperationTask> read_task, co_await OnPool(writer_, std::move(read)));
  if (!read_task) co_return true;
  // Another study may have replaced it meanwhile; the task only has what changed since then.
  if (!read_task->anew && known.revision > 0 && !works_.contains(study_uid)) co_return false;
  // Shared with the pool: OnPool copies nothing, but its work must be movable and this may be large.
  auto task = std::make_shared<const OperationTask>(*std::move(read_task));
  Result<Computed> computed = Computed{};
  if (task->needed > 0 || task->judging) {
    auto compute = [work = WorkFor(*task), task] { return Compute(*work, *task); };
    computed = co_await OnPool(computers_, std::move(compute));
    if (!computed) works_.erase(study_uid);
  }
  auto finish = [this, id, task, computed = std::move(computed), started,
                 now = clock_.Now()]() -> Result<bool> {
    Status finished;
    if (!computed) {
      finished = FailOperation(store_, id, computed.error());
    } else if (task->operation.kind == Kind::kSuggest) {
      const auto& [points, last] = computed->suggestions;
      Result<bool> suggested = FinishSuggest(store_, id, points, last, started, now);
      if (suggested || suggested.error().code != Code::kInternal) return suggested;
      finished = FailOperation(store_, id, suggested.error());
    } else {
      finished = FinishCheckStopping(store_, id, computed->should_stop, started, now);
    }
    if (!finished) return std::unexpected(std::move(finished).error());
    return true;
  };
  co_return co_await OnPool(writer_, std::move(finish));
}

}  // namespace trainyard::studies
