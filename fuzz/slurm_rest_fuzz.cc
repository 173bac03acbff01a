// What slurmrestd answers. Names and comments of jobs are other people's words.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "rules/slurm/commands.h"
#include "rules/slurm/gang.h"
#include "rules/slurm/rest_answers.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  namespace slurm = trainyard::slurm;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (const auto jobs = slurm::ParseRestJobs(text, {.number = 0, .name = "root"})) {
    for (const slurm::ListedJob& job : *jobs) {
      TY_CHECK(job.id > 0);
      TY_CHECK(!slurm::MeaningOf(job.reason, "main").reason.empty());
    }
  }
  const std::size_t line = text.find('\n');  // the second line: partitions
  const std::string_view rest = line == std::string_view::npos ? "" : text.substr(line + 1);
  if (const auto nodes = slurm::ParseRestNodes(text.substr(0, line), rest)) {
    for (const slurm::Node& node : *nodes) TY_CHECK(node.cpus >= 0 && node.time_limit_minutes >= 0);
  }
  const std::int64_t id = slurm::ParseRestSubmitted(text);
  TY_CHECK(id == -1 || id > 0);
  (void)slurm::FailureOf(slurm::ParseRestError(text));
  return 0;
}
