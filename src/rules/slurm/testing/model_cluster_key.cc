#include <algorithm>
#include <array>
#include <bit>

#include "rules/slurm/testing/gangs_key.h"
#include "rules/slurm/testing/model_cluster.h"

namespace trainyard::slurm {

namespace {

using Agent = ModelCluster::Agent;
using Call = ModelCluster::Call;
using GangState = ModelCluster::GangState;
using Job = ModelCluster::Job;
using Question = ModelCluster::Question;
using Record = ModelCluster::Record;

constexpr std::array<const char*, kClusterFaults> kFaultNames{"the server is killed and starts again",
                                                              "sbatch does not respond",
                                                              "Slurm takes no more jobs for now",
                                                              "squeue does not respond",
                                                              "a list lacks a job",
                                                              "a list names each job twice",
                                                              "squeue is slow",
                                                              "sbatch is slow",
                                                              "scancel has no effect",
                                                              "Slurm requeues the job",
                                                              "somebody cancels the job in Slurm",
                                                              "a node is lost",
                                                              "the job reaches its time limit",
                                                              "the controller is killed and forgets the job",
                                                              "the agent is killed",
                                                              "the agent's connection breaks",
                                                              "the agent is silent",
                                                              "the agent of slot 0 is started twice",
                                                              "the agent is late",
                                                              "a user cancels the waiting job",
                                                              "the job wants room again"};

constexpr std::array kStepNames{"the job wants room",
                                "the job returns its room",
                                "the grant is recorded",
                                "the submission is stored",
                                "Slurm takes the job",
                                "sbatch answers",
                                "squeue reads the jobs",
                                "squeue answers",
                                "Slurm starts the job",
                                "the agent connects",
                                "the agent leaves",
                                "the agent ends with its job",
                                "the job is over",
                                "Slurm takes a job late",
                                "a lost sbatch gives up",
                                "scancel cancels",
                                "the node is back",
                                "time passes",
                                "fault"};

void AddKey(KeyWriter& key, const Call& call) {
  key.Add(static_cast<int>(call.stage));
  if (call.stage == Call::Stage::kNone) return;
  key.Add(call.whose.number);
  key.Add(call.ticket);
  key.Add(call.id);
  key.Add(int{call.is_late});
}

void AddKey(KeyWriter& key, const Record& record) {
  key.Add(record.submission);
  key.Add(int{record.is_wanted} + 2 * int{record.is_granted});
  key.Add(record.ticket);
  for (const int holder : record.holders) key.Add(holder);
  for (const int node : record.nodes) key.Add(node);
}

void AddKey(KeyWriter& key, const GangState& gang) {
  key.Add(int{gang.is_begun} + 2 * int{gang.is_over} + 4 * int{gang.had_room} + 8 * int{gang.lost_room} +
          16 * int{gang.grant_is_told} + 32 * int{gang.loss_is_told});
  key.Add(int{gang.is_forgotten} + 2 * int{gang.record != gang.disk});
  key.Add(gang.next_id);
  AddKey(key, gang.record);
  if (gang.record != gang.disk) AddKey(key, gang.disk);
  AddKey(key, gang.call);
  if (gang.call.is_late) key.AddTime(gang.call.began, kCallMax);
  key.Add(int{gang.lost_call.has_value()});
  if (!gang.lost_call) return;
  AddKey(key, *gang.lost_call);
  key.AddTime(gang.lost_call->began, kCallMax);
}

void AddKey(KeyWriter& key, const Job& job) {
  key.Add(job.id);
  key.Add(job.whose.gang.job_uid);
  key.Add(job.whose.number);
  key.Add(job.ticket);
  key.Add(static_cast<int>(job.state));
  key.Add(static_cast<int>(job.ends_as));
  key.Add(int{job.is_known});
  for (const int node : job.nodes) key.Add(node);
  for (const Agent& agent : job.agents) {
    key.Add(static_cast<int>(agent.stage));
    key.Add(agent.instance);
    key.Add(int{agent.is_told_to_leave} + 2 * int{agent.is_late} + 4 * int{agent.is_dying} +
            8 * int{agent.is_cut_off} + 16 * int{agent.was_in});
  }
}

void AddKey(KeyWriter& key, const Question& question) {
  key.Add(question.id.value_or(0));
  key.AddTime(question.asked, kCallMax + std::chrono::seconds(1));
  key.Add(int{question.is_late} + 2 * int{question.seen.has_value()});
  if (!question.seen) return;
  key.Add(std::ssize(*question.seen));
  for (const ModelCluster::Seen& job : *question.seen) {
    key.Add(job.id);
    key.Add(job.whose.gang.job_uid);
    key.Add(job.whose.number);
    key.Add(static_cast<int>(job.state));
    for (const int node : job.nodes) key.Add(node);
  }
}

}  // namespace

std::string Describe(const ClusterStep& step) {
  std::string text = kStepNames[static_cast<std::size_t>(step.kind)];
  if (step.fault != 0)
    text = "FAULT: " + std::string(kFaultNames[static_cast<std::size_t>(std::countr_zero(step.fault))]);
  return text + " (" + std::to_string(step.what) + ", " + std::to_string(step.who) + ")";
}

std::string Describe(const ModelCluster& world) {
  std::string text;
  for (const GangState& gang : world.gangs) {
    text += "gang: submission " + std::to_string(gang.record.submission) +
            (gang.record.ticket != 0 ? ", ticket" : "") + (gang.record.is_granted ? ", granted" : "") +
            (gang.is_over ? ", over" : "") + (gang.is_forgotten ? ", forgotten" : "") + ", holders";
    for (const int holder : gang.record.holders) text += " " + std::to_string(holder);
    text += ", call " + std::to_string(static_cast<int>(gang.call.stage)) + "\n";
  }
  for (const Job& job : world.jobs) {
    text += "job " + std::to_string(job.id) + " of gang " + std::to_string(job.whose.gang.job_uid - 1) + "/" +
            std::to_string(job.whose.number) + ": state " + std::to_string(static_cast<int>(job.state)) +
            (job.is_known ? "" : ", forgotten") + ", agents";
    for (const Agent& agent : job.agents)
      text += " " + std::to_string(agent.instance) + ":" + std::to_string(static_cast<int>(agent.stage)) +
              (agent.is_dying ? "d" : "") + (agent.is_cut_off ? "c" : "") + (agent.is_late ? "l" : "");
    text += "\n";
  }
  return text + std::to_string(world.questions.size()) + " questions, " + std::to_string(world.rules.size()) +
         " gangs in the rules\n";
}

std::string KeyOf(const ModelCluster& world) {
  KeyWriter key(world.now);
  SysTime asked = world.now;
  for (const Question& question : world.questions) asked = std::min(asked, question.asked);
  AddState(key, world.rules, asked);
  AddState(key, world.claims);
  for (const GangState& gang : world.gangs) AddKey(key, gang);
  key.Add(std::ssize(world.questions));
  for (const Question& question : world.questions) AddKey(key, question);
  key.Add(std::ssize(world.cancels));
  for (const ModelCluster::Cancel& cancel : world.cancels) {
    key.Add(cancel.gang.job_uid);
    for (const std::int64_t id : cancel.ids) key.Add(id);
    key.Add(-1);
  }
  key.Add(std::ssize(world.jobs));
  for (const Job& job : world.jobs) AddKey(key, job);
  key.Add(world.free_id);
  key.Add(world.up);
  key.Add(world.faults);
  return key.Finish();
}

}  // namespace trainyard::slurm
