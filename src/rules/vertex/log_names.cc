#include "rules/vertex/log_names.h"

#include <re2/re2.h>

#include "rules/vertex/custom_job.h"
#include "rules/vertex/task_names.h"

namespace trainyard::vertex {

std::optional<std::string> FilterInMlNames(std::string_view filter) {
  static const RE2 kNumber(R"re((resource\.labels\.job_id\s*=\s*)(?:"(\d{19})"|(\d{19})\b))re");
  static const RE2 kTask(R"re((resource\.labels\.task_name\s*=\s*)"?(workerpool[0-3]-\d+)"?)re");
  std::string named(filter);
  if (RE2::GlobalReplace(&named, kNumber, R"(\1"vertex_\2\3")") == 0) return std::nullopt;
  std::string begin;
  std::string task;
  while (RE2::PartialMatch(named, kTask, &begin, &task))
    RE2::Replace(&named, kTask, begin + '"' + TaskNameOf(task) + '"');
  return named;
}

void NameForVertex(logging::v2::LogEntry& entry) {
  auto& labels = *entry.mutable_resource()->mutable_labels();
  const auto job = labels.find("job_id");
  if (job == labels.end()) return;
  const std::optional<std::int64_t> number = NumberOf(job->second);
  if (!number) return;
  job->second = std::to_string(*number);
  const auto task = labels.find("task_name");
  if (task != labels.end()) task->second = PoolTaskName(task->second);
}

}  // namespace trainyard::vertex
