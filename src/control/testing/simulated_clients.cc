#include "control/testing/simulated_clients.h"

#include <utility>

#include "control/testing/simulated_registry.h"
#include "rules/cluster/task_name.h"

namespace trainyard::control {

using boost::asio::awaitable;
using ml::v1::Job;

namespace {

constexpr int kStepsMax = 200'000;

ml::v1::HyperparameterSpec MakeSpec(const JobLedger& asked) {
  constexpr int kTrials = 3;
  ml::v1::HyperparameterSpec spec;
  spec.set_max_trials(kTrials);
  spec.set_max_parallel_trials(asked.parallel_trials);
  spec.set_hyperparameter_metric_tag("accuracy");
  ml::v1::ParameterSpec& x = *spec.add_params();
  x.set_parameter_name("x");
  if (asked.values == 0) {
    spec.set_algorithm(ml::v1::HyperparameterSpec::RANDOM_SEARCH);
    x.set_type(ml::v1::ParameterSpec::DOUBLE);
    x.set_max_value(1);
  } else {
    spec.set_algorithm(ml::v1::HyperparameterSpec::GRID_SEARCH);
    x.set_type(ml::v1::ParameterSpec::CATEGORICAL);
    for (int value = 0; value < asked.values; ++value) x.add_categorical_values("v" + std::to_string(value));
  }
  return spec;
}

Job MakeJob(const std::string& job_id, const JobLedger& asked) {
  Job job;
  job.set_job_id(job_id);
  ml::v1::TrainingInput& input = *job.mutable_training_input();
  input.set_region("us-central1");
  input.set_scale_tier(ml::v1::TrainingInput::CUSTOM);
  input.set_master_type("n1-standard-4");
  if (asked.workers > 0) {
    input.set_worker_type("n1-standard-4");
    input.set_worker_count(asked.workers);
  }
  const bool is_missing = asked.kind == JobLedger::Kind::kMissingImage;
  if (is_missing || asked.kind == JobLedger::Kind::kImage) {
    input.mutable_master_config()->set_image_uri(is_missing ? SimulatedRegistry::kMissing
                                                            : SimulatedRegistry::kImage);
  } else {
    input.set_python_module("trainer.task");
    input.add_package_uris("gs://packages/trainer.tar.gz");
  }
  if (asked.kind == JobLedger::Kind::kTuning) *input.mutable_hyperparameters() = MakeSpec(asked);
  if (asked.running_seconds_max > 0)
    input.mutable_scheduling()->mutable_max_running_time()->set_seconds(asked.running_seconds_max);
  if (asked.waiting_seconds_max > 0)
    input.mutable_scheduling()->mutable_max_wait_time()->set_seconds(asked.waiting_seconds_max);
  return job;
}

std::string Describe(const JobLedger& asked) {
  std::string text = " with " + std::to_string(asked.workers) + " workers";
  if (asked.kind == JobLedger::Kind::kImage) text += ", in an image";
  if (asked.kind == JobLedger::Kind::kMissingImage) text += ", in an image that does not exist";
  if (asked.kind == JobLedger::Kind::kTuning) text += ", with trials";
  if (asked.running_seconds_max > 0)
    text += ", maxRunningTime " + std::to_string(asked.running_seconds_max) + " s";
  if (asked.waiting_seconds_max > 0)
    text += ", maxWaitTime " + std::to_string(asked.waiting_seconds_max) + " s";
  return text;
}

logging::v2::ListLogEntriesRequest LogRequest(const std::string& job_id) {
  logging::v2::ListLogEntriesRequest request;
  request.add_resource_names("projects/p");
  request.set_filter("resource.type=\"ml_job\" AND resource.labels.job_id=\"" + job_id + "\"");
  request.set_page_size(1000);
  return request;
}

std::vector<std::string> MessagesOf(const logs::LogPage& page) {
  std::vector<std::string> messages;
  for (const logging::v2::LogEntry& entry : page.entries) {
    messages.push_back(entry.has_json_payload() ? entry.json_payload().fields().at("message").string_value()
                                                : entry.text_payload());
  }
  return messages;
}

awaitable<void> List(logs::LogStore& logs, logging::v2::ListLogEntriesRequest what,
                     std::optional<Result<logs::LogPage>>& out) {
  out = co_await logs.List(std::move(what));
}

}  // namespace

/// A call counts as unanswered until it returns or its server is killed.
struct SimulatedClients::Waiting {
  explicit Waiting(SimulatedClients& owner) : clients(owner) { ++clients.unanswered_; }
  ~Waiting() { --clients.unanswered_; }
  Waiting(const Waiting&) = delete;
  Waiting& operator=(const Waiting&) = delete;
  SimulatedClients& clients;
};

std::vector<std::string> SimulatedClients::Jobs() const {
  std::vector<std::string> jobs;
  for (const auto& [job_id, ledger] : around_.ledgers) jobs.push_back(job_id);
  return jobs;
}

void SimulatedClients::Create(const std::string& job_id, JobLedger asked) {
  around_.story.Say("a client creates ", job_id, Describe(asked));
  asked.asked_at = around_.time.TrueNow();
  Job job = MakeJob(job_id, asked);
  around_.ledgers.emplace(job_id, std::move(asked));
  server_.Call(CreateOne(std::move(job)));
}

awaitable<void> SimulatedClients::CreateOne(Job job) {
  const Waiting waiting(*this);
  const std::string job_id = job.job_id();
  const Result<Job> made = co_await server_.service().Create("p", std::move(job));
  if (made) around_.ledgers.at(job_id).is_created = true;
  around_.story.Say(job_id, made ? " is created" : " is not created: " + made.error().message);
}

void SimulatedClients::Cancel(const std::string& job_id) {
  around_.story.Say("a client cancels ", job_id);
  around_.ledgers[job_id].asked_cancel = true;
  server_.Call(CancelOne(job_id));
}

awaitable<void> SimulatedClients::CancelOne(std::string job_id) {
  const Waiting waiting(*this);
  const Status cancelled = co_await server_.service().Cancel({"p", job_id});
  around_.story.Say(job_id, cancelled ? " is cancelled" : " is not cancelled: " + cancelled.error().message);
}

void SimulatedClients::Delete(const std::string& job_id) {
  around_.story.Say("a client deletes ", job_id);
  server_.Call(DeleteOne(job_id));
}

awaitable<void> SimulatedClients::DeleteOne(std::string job_id) {
  const Waiting waiting(*this);
  JobLedger& ledger = around_.ledgers.at(job_id);
  const bool asked_before = std::exchange(ledger.asked_delete, true);
  const Status deleted = co_await server_.service().removal().Delete({"p", job_id});
  around_.story.Say(job_id, deleted ? " is deleted" : " is not deleted: " + deleted.error().message);
  if (deleted) ledger.is_deleted = true;
  // It runs: the answer says that nothing was done.
  if (!deleted && deleted.error().code == Code::kFailedPrecondition) ledger.asked_delete = asked_before;
}

/// A call that sets a value, until it returns or its server is killed.
struct SimulatedClients::Setting {
  Setting(ExpectedValue& expected, const std::string& value)
      : expected_value(expected), set_value(value), replaced(expected.Begin(value)) {}
  ~Setting() { expected_value.End(set_value); }
  Setting(const Setting&) = delete;
  Setting& operator=(const Setting&) = delete;
  ExpectedValue& expected_value;
  std::string set_value;
  std::set<std::string> replaced;
};

void SimulatedClients::Relabel(const std::string& job_id, const std::string& label, bool with_etag) {
  around_.story.Say("a client changes a label of ", job_id);
  server_.Call(RelabelOne(job_id, label, with_etag));
}

awaitable<void> SimulatedClients::RelabelOne(std::string job_id, std::string label, bool with_etag) {
  const Waiting waiting(*this);
  Job labels;
  if (with_etag) {
    const Result<Job> read = co_await server_.service().Get({"p", job_id});
    if (!read) co_return;
    labels.set_etag(read->etag());
  }
  (*labels.mutable_labels())["at"] = label;
  ExpectedValue& expected = around_.ledgers.at(job_id).label;
  const Setting setting(expected, label);
  const Result<Job> patched = co_await server_.service().Patch({"p", job_id}, std::move(labels),
                                                               with_etag ? "labels,etag" : "labels");
  if (patched) expected.Succeed(setting.replaced);
  around_.story.Say(job_id, patched ? " has" : " may have", " the label ", label);
}

void SimulatedClients::SetPolicy(const std::string& job_id, const std::string& member) {
  around_.story.Say("a client changes the policy of ", job_id);
  server_.Call(SetPolicyOne(job_id, member));
}

awaitable<void> SimulatedClients::SetPolicyOne(std::string job_id, std::string member) {
  const Waiting waiting(*this);
  iam::v1::SetIamPolicyRequest request;
  iam::v1::Binding& binding = *request.mutable_policy()->add_bindings();
  binding.set_role("roles/ml.jobOwner");
  binding.add_members(member);
  ExpectedValue& expected = around_.ledgers.at(job_id).member;
  const Setting setting(expected, member);
  const Result<iam::v1::Policy> set =
      co_await server_.service().SetPolicy({"p", job_id}, std::move(request), Creator{});
  if (set) expected.Succeed(setting.replaced);
  around_.story.Say(job_id, set ? " has the policy with " : " may have the policy with ", member,
                    set ? std::string() : ": " + set.error().message);
}

void SimulatedClients::Maintain(const std::string& job_id, const std::string& attempt_id) {
  around_.story.Say("an operator moves the replica of ", attempt_id);
  server_.Call(MaintainOne(job_id, cluster::ParseAttemptId(attempt_id)->task_name));
}

awaitable<void> SimulatedClients::MaintainOne(std::string job_id, std::string task_name) {
  (void)co_await server_.service().Maintain({"p", std::move(job_id)}, std::move(task_name));
}

std::vector<std::string> SimulatedClients::LinesOf(const std::string& job_id) {
  std::optional<Result<logs::LogPage>> page;
  server_.Call(List(server_.logs(), LogRequest(job_id), page));
  for (int step = 0; step < kStepsMax && !page; ++step) around_.time.Step(std::chrono::seconds(1));
  if (page && *page) return MessagesOf(**page);
  around_.story.Violate("the log of " + job_id + " cannot be read");
  return {};
}

}  // namespace trainyard::control
