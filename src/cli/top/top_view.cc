#include "cli/top/top_view.h"

#include <cmath>
#include <cstdlib>
#include <map>
#include <string_view>

#include "cli/gcloud/output_format.h"

namespace trainyard::cli {
namespace {

constexpr double kGibibyte = 1024.0 * 1024.0 * 1024.0;
constexpr double kHundred = 100;
constexpr double kSecondsPerHour = 3'600;

double NumberAt(const Json& object, std::string_view path) {
  return std::strtod(TextAt(object, path).c_str(), nullptr);
}

/// At most one decimal.
std::string Short(double value) {
  constexpr double kTenths = 10;
  const auto tenths = std::llround(value * kTenths);
  std::string text = std::to_string(tenths / 10);
  if (tenths % 10 != 0) text += "." + std::to_string(tenths % 10);
  return text;
}

std::string Gibibytes(double bytes) { return Short(bytes / kGibibyte); }

std::string Percent(double part) { return std::to_string(std::llround(part * kHundred)) + " %"; }

std::string MachineLine(const Json& report) {
  std::string line = "CPUs " + Short(NumberAt(report, "machine.cpusHeld")) + " of " +
                     Short(NumberAt(report, "machine.cpus")) + " held, memory " +
                     Gibibytes(NumberAt(report, "machine.memoryBytesHeld")) + " of " +
                     Gibibytes(NumberAt(report, "machine.memoryBytes")) + " GiB";
  std::map<std::string, std::pair<int, int>> types;  // held, all
  for (const Json& device : ListAt(report, "machine.devices")) {
    auto& [held, all] = types[TextAt(device, "type")];
    ++all;
    if (!TextAt(device, "jobId").empty()) ++held;
  }
  for (const auto& [type, counts] : types)
    line += ", " + type + " " + std::to_string(counts.first) + " of " + std::to_string(counts.second);
  return line;
}

std::string NameOf(const Json& job) {
  const std::string trial = TextAt(job, "trialId");
  return TextAt(job, "jobId") + (trial.empty() ? "" : "/" + trial);
}

/// "ann@example.com"; "-": nobody was asked.
std::string WhoOf(const Json& job) {
  const std::string creator = TextAt(job, "creator");
  return creator.empty() ? "-" : creator.substr(creator.find(':') + 1);
}

/// "node1, node2"; empty: the job holds none of a cluster.
std::string NodesOf(const Json& job) {
  std::string text;
  for (const Json& node : ListAt(job, "nodes")) text += (text.empty() ? "" : ", ") + node.text;
  return text;
}

/// "nvidia-tesla-t4 0,1", "nvidia-tesla-t4 node1:0,node2:0".
std::string DevicesOf(const Json& job) {
  std::map<std::string, std::string> by_type;
  for (const Json& device : ListAt(job, "devices")) {
    std::string& indexes = by_type[TextAt(device, "type")];
    const std::string node = TextAt(device, "node");
    indexes += (indexes.empty() ? "" : ",") + (node.empty() ? "" : node + ":") + TextAt(device, "index");
  }
  std::string text;
  for (const auto& [type, indexes] : by_type)
    text += (text.empty() ? "" : "; ") + type + (type.empty() ? "" : " ") + indexes;
  return text.empty() ? TextAt(job, "accelerators") : text;
}

std::string SinceOf(const Json& job) { return LocalTime(TextAt(job, "since"), kDateFormat); }

std::vector<std::string> RunningRow(const Json& job) {
  const std::string nodes = NodesOf(job);
  const std::string reason = TextAt(job, "reason");
  return {NameOf(job),
          TextAt(job, "project"),
          WhoOf(job),
          TextAt(job, "state"),
          SinceOf(job),
          TextAt(job, "replicas"),
          Short(NumberAt(job, "cpus")),
          Gibibytes(NumberAt(job, "memoryBytes")),
          nodes.empty() ? Percent(NumberAt(job, "machineShare")) : "-",
          DevicesOf(job),
          reason.empty() && !nodes.empty() ? "on " + nodes : reason};
}

std::vector<std::string> WaitingRow(const Json& job) {
  const std::string position = TextAt(job, "position");
  return {position.empty() ? "-" : position, NameOf(job),    TextAt(job, "project"), WhoOf(job), SinceOf(job),
          Short(NumberAt(job, "cpus")),      DevicesOf(job), TextAt(job, "reason")};
}

std::string QuotasOf(const Json& project) {
  std::string text;
  for (const Json& quota : ListAt(project, "quotas")) {
    const std::string limit = TextAt(quota, "limit");
    const std::string engine = TextAt(quota, "engine");
    text += (text.empty() ? "" : " ") + TextAt(quota, "resource") + (engine.empty() ? "" : "@" + engine) +
            "=" + (limit.empty() ? "0" : limit);
  }
  return text;
}

std::string OrZero(std::string text) { return text.empty() ? "0" : text; }

std::vector<std::string> ProjectRow(const Json& project) {
  return {TextAt(project, "project"),
          OrZero(TextAt(project, "running")),
          OrZero(TextAt(project, "queued")),
          Percent(NumberAt(project, "share")),
          Short(NumberAt(project, "use.cpuSeconds") / kSecondsPerHour),
          Short(NumberAt(project, "use.acceleratorSeconds") / kSecondsPerHour),
          OrZero(TextAt(project, "weight")),
          Gibibytes(NumberAt(project, "bucketBytes")),
          Gibibytes(NumberAt(project, "logBytes")),
          QuotasOf(project)};
}

}  // namespace

TopView MakeTopView(const Json& report, std::size_t waiting_max) {
  TopView view{.machine = MachineLine(report),
               .running = {{"JOB", "PROJECT", "WHO", "STATE", "SINCE", "REPLICAS", "CPUS", "GIB", "SHARE",
                            "GPUS", "NOTE"}},
               .waiting = {{"POSITION", "JOB", "PROJECT", "WHO", "SINCE", "CPUS", "GPUS", "REASON"}},
               .projects = {{"PROJECT", "RUNNING", "QUEUED", "RECENT_USE", "CPU_HOURS", "GPU_HOURS", "WEIGHT",
                             "BUCKETS_GIB", "LOGS_GIB", "QUOTAS"}}};
  for (const Json& job : ListAt(report, "jobs")) {
    if (TextAt(job, "holds") == "true") {
      view.running.push_back(RunningRow(job));
    } else if (view.waiting.size() <= waiting_max) {
      view.waiting.push_back(WaitingRow(job));
    } else {
      ++view.left_out;
    }
  }
  for (const Json& project : ListAt(report, "projects")) view.projects.push_back(ProjectRow(project));
  return view;
}

}  // namespace trainyard::cli
