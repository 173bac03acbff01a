// What Slurm's tools print: lists, refusals, ids. Names and comments in lists are other people's words.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "rules/slurm/commands.h"
#include "rules/slurm/gang.h"
#include "rules/slurm/job_list.h"
#include "rules/slurm/job_name.h"
#include "rules/slurm/node_list.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  namespace slurm = trainyard::slurm;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (const auto jobs = slurm::ParseJobList(text)) {
    for (const slurm::ListedJob& job : *jobs) {
      TY_CHECK(job.id > 0 && !job.name.contains('|'));
      TY_CHECK(!slurm::MeaningOf(job.reason, "main").reason.empty());
      const auto ours = slurm::ParseNames("1f3a", job.name, job.comment);
      if (!ours) continue;
      TY_CHECK(slurm::JobName("1f3a", ours->gang) == job.name);
      TY_CHECK(slurm::Comment(*ours) == job.comment);
    }
  }
  if (const auto nodes = slurm::ParseNodeList(text)) {
    for (const slurm::Node& node : *nodes) TY_CHECK(node.cpus >= 0 && node.time_limit_minutes >= 0);
  }
  TY_CHECK(slurm::WordsOf(text).size() <= size);
  const std::int64_t id = slurm::ParseSubmitted(text);
  TY_CHECK(id == -1 || id > 0);
  (void)slurm::FailureOf(text);
  return 0;
}
