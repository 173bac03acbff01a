#include "control/testing/simulated_clients.h"

#include <utility>

#include "rules/cluster/task_name.h"

namespace trainyard::control {

using boost::asio::awaitable;
using ml::v1::Job;

namespace {

constexpr int kStepsMax = 200'000;

Job MakeJob(const std::string& job_id, int workers) {
  Job job;
  job.set_job_id(job_id);
  ml::v1::TrainingInput& input = *job.mutable_training_input();
  input.set_region("us-central1");
  input.set_python_module("trainer.task");
  input.add_package_uris("gs://packages/trainer.tar.gz");
  input.set_scale_tier(ml::v1::TrainingInput::CUSTOM);
  input.set_master_type("n1-standard-4");
  if (workers > 0) {
    input.set_worker_type("n1-standard-4");
    input.set_worker_count(workers);
  }
  return job;
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

void SimulatedClients::Create(const std::string& job_id, int workers, const JobLedger& ledger) {
  around_.story.Say("a client creates ", job_id, " with ", std::to_string(workers), " workers");
  around_.ledgers[job_id] = ledger;
  server_.Call(CreateOne(MakeJob(job_id, workers)));
}

awaitable<void> SimulatedClients::CreateOne(Job job) {
  const Waiting waiting(*this);
  const std::string job_id = job.job_id();
  const Result<Job> made = co_await server_.service().Create("p", std::move(job));
  if (made) around_.ledgers[job_id].is_created = true;
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

void SimulatedClients::Relabel(const std::string& job_id, const std::string& label) {
  around_.story.Say("a client changes a label of ", job_id);
  around_.ledgers[job_id].asked_labels.insert(label);
  server_.Call(RelabelOne(job_id, label));
}

awaitable<void> SimulatedClients::RelabelOne(std::string job_id, std::string label) {
  const Waiting waiting(*this);
  Job labels;
  (*labels.mutable_labels())["at"] = label;
  const Result<Job> patched = co_await server_.service().Patch({"p", job_id}, std::move(labels), "labels");
  if (patched) around_.ledgers[job_id].label = label;
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
