#include "rules/slurm/batch_script.h"

#include <algorithm>

#include "base/wire/time.h"

namespace trainyard::slurm {

namespace {

using placement::ShellQuoted;

constexpr std::string_view kInterpreter = "#!/bin/bash\n";
constexpr int kPriorityMax = 1000;  // docs/spec, Scheduling.priority

void Line(std::string& script, std::string_view option) { script += "#SBATCH " + std::string(option) + "\n"; }

/// The form that sbatch reads with TZ=UTC.
std::string InUtc(SysTime time) {
  std::string text = wire::PrintTime(std::chrono::floor<std::chrono::seconds>(time));
  text.pop_back();  // the Z
  return text;
}

void Given(std::string& script, std::string_view option, const std::string& value) {
  if (!value.empty()) Line(script, std::string(option) + "=" + value);
}

void Name(std::string& script, const Options& options) {
  Given(script, "--partition", options.partition);
  Given(script, "--account", options.account);
  Given(script, "--qos", options.qos);
  Given(script, "--constraint", options.constraint);
  for (const std::string& line : options.lines) Line(script, line);
}

/// All lines of one component: Slurm does not copy them from the previous component.
void Describe(std::string& script, const BatchJob& batch, const Component& component) {
  Line(script, "--job-name=" + JobName(batch.installation, batch.submission.gang));
  Line(script, "--comment=" + Comment(batch.submission));
  Line(script, "--no-requeue --chdir=/ --output=/dev/null");
  Line(script, "--signal=" + std::string(kEndSignal) + "@" + std::to_string(kEndNotice.count()));
  if (batch.times.limit) Line(script, "--time=" + std::to_string(batch.times.limit->count()));
  if (batch.times.deadline) Line(script, "--deadline=" + InUtc(*batch.times.deadline));
  if (batch.nice > 0) Line(script, "--nice=" + std::to_string(batch.nice));
  Line(script, "--ntasks=" + std::to_string(component.replicas.size()) +
                   " --cpus-per-task=" + std::to_string(component.cpus));
  if (const std::int64_t memory = MemoryPerCpu(component); memory > 0)
    Line(script, "--mem-per-cpu=" + std::to_string(memory));
  Given(script, "--gpus-per-task", GpusPerTask(component));
  Name(script, component.options);
}

}  // namespace

std::string BootScript(const Boot& boot) {
  return "mine=" + ShellQuoted(boot.program_path) + "\n" +
         "dir=" + (boot.node_dir.empty() ? "/var/tmp/trainyard-$UID" : ShellQuoted(boot.node_dir)) + R"sh(
slot=$SLURM_PROCID node=$SLURMD_NODENAME gpus=${CUDA_VISIBLE_DEVICES-}
unset ${!SLURM*} ${!SRUN*} ${!SBATCH*} ${!PMI*} ${!CUDA*}
)sh" + placement::FindAgentScript(boot.source) +
         placement::ExecAgentScript(boot.source);
}

std::string JobScript(const BatchJob& batch, const GangRequest& request) {
  const std::size_t groups = request.components.size();
  const std::string step = groups > 1 ? " --het-group=0-" + std::to_string(groups - 1) : " --no-kill";
  // The shell must survive the signals, because the job ends with the step. The ticket is not an argument,
  // because all users of a node can read arguments.
  std::string script = std::string(kInterpreter) + "trap : TERM\n";
  script += "unset SLURM_CPUS_PER_TASK\n";
  // The job has its GPUs. A step of 22.05 that names their type gives none of them to two tasks of a node.
  script += "for gpus in ${!SLURM_GPUS_PER_TASK*}; do export \"$gpus=${!gpus##*:}\"; done\n";
  script += "export PATH=/usr/local/bin:/usr/bin:/bin TRAINYARD_TICKET=" + batch.boot.ticket + "\n";
  script += "[[ ${HOME-} ]] || unset HOME; export HOME=~\n";  // the account's home, if it is not set
  if (batch.times.limit)
    script += "export TRAINYARD_UNTIL=$((EPOCHSECONDS + " + std::to_string(batch.times.limit->count() * 60) +
              "))\n";
  script += "srun" + step +
            " --export=ALL --kill-on-bad-exit=0 --wait=0 --cpu-bind=none --input=none --mpi=none"
            " --propagate=NONE bash -c " +
            ShellQuoted(BootScript(batch.boot)) + " agent\n";
  return script;
}

std::string BatchScript(const BatchJob& batch, const GangRequest& request) {
  std::string script(kInterpreter);
  if (request.components.size() == 1) Line(script, "--no-kill");
  for (std::size_t i = 0; i < request.components.size(); ++i) {
    if (i > 0) Line(script, "hetjob");
    Describe(script, batch, request.components[i]);
  }
  return script + JobScript(batch, request).substr(kInterpreter.size());
}

std::string TestScript(const Options& options) {
  std::string script(kInterpreter);
  Name(script, options);
  return script;
}

std::int64_t MemoryPerCpu(const Component& component) {
  return component.memory_mib > 0 ? std::max<std::int64_t>(1, component.memory_mib / component.cpus) : 0;
}

std::string GpusPerTask(const Component& component) {
  if (component.gpus == 0) return {};
  return component.gpu_type + (component.gpu_type.empty() ? "" : ":") + std::to_string(component.gpus);
}

int NiceOf(int priority, int nice_of_lowest) {
  return nice_of_lowest * (kPriorityMax - std::clamp(priority, 0, kPriorityMax)) / kPriorityMax;
}

}  // namespace trainyard::slurm
