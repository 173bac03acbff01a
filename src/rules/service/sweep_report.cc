#include "rules/service/sweep_report.h"

#include "base/text/number.h"
#include "rules/retention/clock_jumps.h"
#include "rules/retention/disk_marks.h"

namespace trainyard::service {

namespace {

using text::Counted;

std::string OlderThan(const char* since, retention::Keep keep) {
  return keep ? " " + std::string(since) + " more than " + retention::AgeText(*keep) + " ago" : "";
}

}  // namespace

std::string SweepText(const SweepReport& report, const retention::Policy& policy) {
  std::string text;
  const auto add = [&text](std::int64_t number, const std::string& what) {
    if (number > 0) text += (text.empty() ? "removed " : ", ") + what;
  };
  add(report.jobs, Counted(report.jobs, "job") + OlderThan("that ended", policy.jobs) + " (" +
                       retention::SpaceText(report.job_log_bytes) + " of logs)");
  add(report.logs, Counted(report.logs, "log") + OlderThan("whose jobs wrote last", policy.logs) + " (" +
                       retention::SpaceText(report.log_bytes) + ")");
  add(report.attempts, "what " + Counted(report.attempts, "attempt") + " left");
  add(report.builds,
      Counted(report.builds, "unfinished build") + " (" + retention::SpaceText(report.build_bytes) + ")");
  add(report.environments, Counted(report.environments, "environment") + " (" +
                               retention::SpaceText(report.environment_bytes) + ")");
  return text;
}

std::string DoubtText(const SweepDoubt& doubt) {
  const auto share = [](const retention::Share& one, const std::string& name) {
    return std::to_string(one.going) + " of " + Counted(one.all, name);
  };
  return "by the machine's clock, which went forward by " + retention::AboutText(doubt.ahead) + ", " +
         share(doubt.jobs, "job") + ", " + share(doubt.logs, "log") + " and " +
         share(doubt.environments, "environment") +
         " would be too old to keep. Nothing is removed by that time. If the clock is wrong, set it right; "
         "if it "
         "is right, say so: trainyard admin retention --confirm --data " +
         doubt.data_dir;
}

}  // namespace trainyard::service
