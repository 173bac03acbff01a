#include "stores/studies/study_operations.h"

#include <algorithm>
#include <span>
#include <utility>

#include "base/wire/time.h"
#include "stores/studies/study_cases.h"
#include "stores/studies/study_config.h"
#include "stores/studies/study_store.h"
#include "stores/studies/trial_rules.h"
#include "stores/studies/trial_values.h"
#include "trainyard/ml/v1/study_operations.pb.h"

namespace trainyard::studies {
namespace {

namespace original = google::cloud::ml::v1;
using Kind = StoredOperation::Kind;
using ml::v1::Trial;

Error NoSuchOperation() { return {Code::kNotFound, "The operation cannot be found.", "name"}; }

Error NoFurtherTrials() {
  return {Code::kResourceExhausted,
          "The study is COMPLETED: every point of its search space has been suggested.", "parent"};
}

std::vector<StoredTrial> OfClient(std::vector<StoredTrial> trials, const std::string& client_id) {
  std::erase_if(trials, [&](const StoredTrial& trial) { return trial.trial.client_id() != client_id; });
  return trials;
}

/// Existing trials, at most `count`, that the client gets before new ones are made.
struct Handout {
  std::vector<StoredTrial> active;     ///< its own
  std::vector<StoredTrial> requested;  ///< not assigned to a client
  [[nodiscard]] int size() const { return static_cast<int>(active.size() + requested.size()); }
};

Result<Handout> ReadHandout(StudyStore& store, std::int64_t study_uid, const std::string& client_id,
                            int count) {
  Handout handout;
  TY_TRY(std::vector<StoredTrial> active, store.ListTrials(study_uid, Trial::ACTIVE));
  TY_TRY(handout.requested, store.ListTrials(study_uid, Trial::REQUESTED));
  handout.active = OfClient(std::move(active), client_id);
  const auto most = static_cast<std::size_t>(count);
  if (handout.active.size() > most) handout.active.resize(most);
  if (handout.requested.size() > most - handout.active.size())
    handout.requested.resize(most - handout.active.size());
  return handout;
}

Status CheckSuggest(StudyStore& store, const StoredStudy& study, const ml::v1::SuggestTrialsRequest& asked) {
  if (asked.client_id().empty())
    return std::unexpected(InvalidArgument("client_id", "This field is required."));
  if (asked.suggestion_count() < 1)
    return std::unexpected(InvalidArgument("suggestion_count", "The value must be at least 1."));
  if (asked.suggestion_count() > kSuggestionsMax)
    return std::unexpected(InvalidArgument(
        "suggestion_count", "The value must not be greater than " + std::to_string(kSuggestionsMax) + "."));
  if (study.study.state() != ml::v1::Study::COMPLETED) return {};
  TY_TRY(const Handout handout, ReadHandout(store, study.uid, asked.client_id(), asked.suggestion_count()));
  if (handout.size() == 0) return std::unexpected(NoFurtherTrials());
  return {};
}

/// The pending operation; absent if there is nothing to do.
Result<std::optional<StoredOperation>> FindPending(StudyStore& store, std::int64_t id) {
  TY_TRY(std::optional<StoredOperation> operation, store.FindOperation(id));
  if (operation && operation->operation.done()) operation.reset();
  return operation;
}

Status Finish(StudyStore& store, StoredOperation& operation, const google::protobuf::Message& response) {
  operation.operation.set_done(true);
  operation.operation.mutable_response()->PackFrom(response);
  return store.PutOperation(operation);
}

Status Fail(StudyStore& store, StoredOperation& operation, const Error& error) {
  operation.operation.set_done(true);
  operation.operation.mutable_error()->set_code(static_cast<int>(error.code));
  operation.operation.mutable_error()->set_message(error.message);
  return store.PutOperation(operation);
}

StudyName NameOf(const StoredStudy& study, const StoredOperation& operation) {
  const std::string& name = study.study.name();
  return {.project = operation.project,
          .location = operation.location,
          .study_id = name.substr(name.rfind('/') + 1)};
}

/// Takes the client's trials from the store, and makes new trials from the points.
Result<std::vector<StoredTrial>> HandOut(StudyStore& store, StoredStudy& study, Handout handout,
                                         std::span<const tuning::Point> points,
                                         const StoredOperation& operation, SysTime now) {
  std::vector<StoredTrial> given = std::move(handout.active);
  for (StoredTrial& trial : handout.requested) {
    Assign(trial.trial, operation.client_id, now);
    TY_RETURN_IF_ERROR(store.PutTrial(study.uid, trial));
    given.push_back(std::move(trial));
  }
  const tuning::StudySpec spec = SpecOf(study.study.study_config(), study.seed);
  for (const tuning::Point& point : points) {
    StoredTrial made;
    made.id = study.next_trial++;
    made.trial.set_name(TrialName{.study = NameOf(study, operation), .id = made.id}.ToString());
    TY_RETURN_IF_ERROR(SetParameters(spec.space, point, made.trial));
    Assign(made.trial, operation.client_id, now);
    TY_RETURN_IF_ERROR(store.PutTrial(study.uid, made));
    given.push_back(std::move(made));
  }
  return given;
}

}  // namespace

Result<StoredOperation> BeginSuggest(StudyStore& store, const StudyName& name,
                                     const ml::v1::SuggestTrialsRequest& asked, SysTime now) {
  TY_TRY(sqlite::Transaction transaction, store.Begin());
  TY_TRY(const StoredStudy study, RequireStudy(store, name, "parent"));
  TY_RETURN_IF_ERROR(CheckSuggest(store, study, asked));
  TY_RETURN_IF_ERROR(store.DropOperations(now - kOperationsKeptFor));
  StoredOperation made{.kind = Kind::kSuggest,
                       .study_uid = study.uid,
                       .project = name.project,
                       .location = name.location,
                       .client_id = asked.client_id(),
                       .count = asked.suggestion_count(),
                       .created = now,
                       .operation = {}};
  original::SuggestTrialsMetadata metadata;
  metadata.set_client_id(asked.client_id());
  *metadata.mutable_create_time() = wire::ToProto(now);
  metadata.set_study(name.ToString());
  metadata.set_suggestion_count(asked.suggestion_count());
  made.operation.mutable_metadata()->PackFrom(metadata);
  TY_RETURN_IF_ERROR(store.AddOperation(made));
  TY_RETURN_IF_ERROR(transaction.Commit());
  return made;
}

Result<StoredOperation> BeginCheckStopping(StudyStore& store, const TrialName& name, SysTime now) {
  TY_TRY(sqlite::Transaction transaction, store.Begin());
  TY_TRY(const TrialOfStudy found, RequireTrial(store, name));
  if (found.trial.trial.state() == Trial::COMPLETED)
    return std::unexpected(FailedPrecondition("The trial is COMPLETED: it has stopped.", "name"));
  TY_RETURN_IF_ERROR(store.DropOperations(now - kOperationsKeptFor));
  StoredOperation made{.kind = Kind::kCheckStopping,
                       .study_uid = found.study.uid,
                       .project = name.study.project,
                       .location = name.study.location,
                       .trial = found.trial.id,
                       .created = now,
                       .operation = {}};
  original::CheckTrialEarlyStoppingStateMetatdata metadata;
  *metadata.mutable_create_time() = wire::ToProto(now);
  metadata.set_study(name.study.ToString());
  metadata.set_trial(name.ToString());
  made.operation.mutable_metadata()->PackFrom(metadata);
  TY_RETURN_IF_ERROR(store.AddOperation(made));
  TY_RETURN_IF_ERROR(transaction.Commit());
  return made;
}

Result<std::optional<OperationTask>> ReadOperation(StudyStore& store, std::int64_t id, std::int64_t study_uid,
                                                   TunerState known) {
  TY_TRY(std::optional<StoredOperation> operation, FindPending(store, id));
  if (!operation) return std::nullopt;
  TY_TRY(std::optional<StoredStudy> study, store.FindStudy(study_uid));
  if (!study) {
    TY_RETURN_IF_ERROR(Fail(store, *operation, NotFound("The study was deleted.")));
    return std::nullopt;
  }
  OperationTask task{.operation = *std::move(operation), .study = *std::move(study), .changes = {}};
  if (task.operation.kind == Kind::kSuggest) {
    TY_TRY(const Handout handout,
           ReadHandout(store, study_uid, task.operation.client_id, task.operation.count));
    task.needed = task.operation.count - handout.size();
    if (task.needed == 0) return task;
  } else {
    TY_TRY(std::optional<StoredTrial> trial, store.FindTrial(study_uid, task.operation.trial));
    if (!trial || trial->trial.state() == Trial::COMPLETED) {
      TY_RETURN_IF_ERROR(Fail(store, task.operation, NotFound("The trial has ended or was deleted.")));
      return std::nullopt;
    }
    task.judging = trial->trial.state() != Trial::STOPPING;
    if (!task.judging) return task;
  }
  task.anew = known.deletions != task.study.deletions;
  TY_TRY(task.changes, store.TrialsChanged(study_uid, task.anew ? 0 : known.revision));
  return task;
}

Result<bool> FinishSuggest(StudyStore& store, std::int64_t id, const std::vector<tuning::Point>& points,
                           bool last, SysTime started, SysTime now) {
  TY_TRY(sqlite::Transaction transaction, store.Begin());
  TY_TRY(std::optional<StoredOperation> operation, FindPending(store, id));
  if (!operation) return true;
  TY_TRY(std::optional<StoredStudy> study, store.FindStudy(operation->study_uid));
  if (!study) return false;  // it was deleted: reading it again finds that
  TY_TRY(Handout handout, ReadHandout(store, study->uid, operation->client_id, operation->count));
  const auto needed = static_cast<std::size_t>(operation->count - handout.size());
  if (needed > points.size() && !last) return false;
  const std::span<const tuning::Point> taken(points.data(), std::min(needed, points.size()));
  TY_TRY(std::vector<StoredTrial> given, HandOut(store, *study, std::move(handout), taken, *operation, now));
  // Points beyond the number needed are dropped.
  if (last && taken.size() == points.size()) study->study.set_state(ml::v1::Study::COMPLETED);
  TY_RETURN_IF_ERROR(store.PutStudy(*study));
  if (given.empty()) {  // another client was given the last point after this operation began
    TY_RETURN_IF_ERROR(Fail(store, *operation, NoFurtherTrials()));
    TY_RETURN_IF_ERROR(transaction.Commit());
    return true;
  }
  original::SuggestTrialsResponse response;
  *response.mutable_start_time() = wire::ToProto(started);
  *response.mutable_end_time() = wire::ToProto(now);
  response.set_study_state(study->study.state());
  for (StoredTrial& trial : given) *response.add_trials() = std::move(trial.trial);
  TY_RETURN_IF_ERROR(Finish(store, *operation, response));
  TY_RETURN_IF_ERROR(transaction.Commit());
  return true;
}

Status FinishCheckStopping(StudyStore& store, std::int64_t id, bool should_stop, SysTime started,
                           SysTime now) {
  TY_TRY(sqlite::Transaction transaction, store.Begin());
  TY_TRY(std::optional<StoredOperation> operation, FindPending(store, id));
  if (!operation) return {};
  TY_TRY(std::optional<StoredTrial> trial, store.FindTrial(operation->study_uid, operation->trial));
  if (trial && should_stop && Stop(trial->trial))
    TY_RETURN_IF_ERROR(store.PutTrial(operation->study_uid, *trial));
  original::CheckTrialEarlyStoppingStateResponse response;
  *response.mutable_start_time() = wire::ToProto(started);
  *response.mutable_end_time() = wire::ToProto(now);
  response.set_should_stop(should_stop);
  TY_RETURN_IF_ERROR(Finish(store, *operation, response));
  return transaction.Commit();
}

Status FailOperation(StudyStore& store, std::int64_t id, const Error& error) {
  TY_TRY(std::optional<StoredOperation> operation, FindPending(store, id));
  return operation ? Fail(store, *operation, error) : Status();
}

Result<longrunning::Operation> GetOperation(StudyStore& store, const OperationName& name) {
  TY_TRY(std::optional<StoredOperation> operation, store.FindOperation(name.id));
  if (!operation || operation->project != name.project || operation->location != name.location)
    return std::unexpected(NoSuchOperation());
  return std::move(operation->operation);
}

Status CancelOperation(StudyStore& store, const OperationName& name) {
  TY_TRY(std::optional<StoredOperation> operation, store.FindOperation(name.id));
  if (!operation || operation->project != name.project || operation->location != name.location)
    return std::unexpected(NoSuchOperation());
  if (operation->operation.done()) return {};
  return Fail(store, *operation, Error{Code::kCancelled, "The operation was cancelled.", {}});
}

}  // namespace trainyard::studies
