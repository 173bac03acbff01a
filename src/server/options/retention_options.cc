#include "server/options/retention_options.h"

#include <CLI/CLI.hpp>
#include <cstdint>
#include <optional>

#include "rules/placement/quota.h"

namespace trainyard::server {

namespace {

constexpr double kGigabyte = 1e9;
constexpr double kGigabytesMax = 1e6;

Status ReadKeep(const char* flag, const std::string& text, retention::Keep& keep) {
  const Result<retention::Keep> read = retention::ParseKeep(text);
  if (!read) return std::unexpected(InvalidArgument(flag, read.error().message));
  keep = *read;
  return {};
}

Status ReadMark(const char* flag, const std::string& text, std::int64_t& bytes) {
  const std::optional<std::int64_t> read = placement::ParseByteCount(text);
  if (!read)
    return std::unexpected(
        InvalidArgument(flag, "'" + text + "' is no number of bytes, as 512MiB, 2GB or 0 (never)"));
  bytes = *read;
  return {};
}

}  // namespace

void RetentionFlags::AddTo(CLI::App& app) {
  const auto add = [&app](const char* name, std::string& text, const char* metavar, const char* help) {
    app.add_option(name, text, help)->type_name(metavar)->capture_default_str();
  };
  add("--keep-jobs", jobs_, "AGE",
      "how long jobs that have ended are kept, with their logs and trials: 90d, 12h, 30m, 45s, or never "
      "(none "
      "is removed)");
  add("--keep-logs", logs_, "AGE",
      "how long logs of jobs that have ended are kept, since their last line: 30d, 12h, or never (none is "
      "removed)");
  add("--keep-environments", environments_, "AGE",
      "how long runtime versions and layers of packages are kept, since a program last began in them: 90d, "
      "12h, or never (none is removed)");
  add("--keep-scratch", scratch_, "AGE",
      "how long what killed builds and ended attempts left is kept, since it changed: 7d, 12h, or never");
  app.add_option("--environments-max-gb", environments_gb_max_,
                 "size of runtime versions and layers above which those that have not run for longest are "
                 "removed; 0: no limit")
      ->check(CLI::Range(0.0, kGigabytesMax).description(""))
      ->type_name("GIGABYTES")
      ->capture_default_str();
  add("--queue-below-free", queue_below_, "BYTES",
      "free space on the disk of --data below which no job and no replica begins: jobs stay QUEUED, restarts "
      "wait, and both say why; what runs goes on; 0: never");
  add("--refuse-below-free", refuse_below_, "BYTES",
      "free space below which jobs are not created (429) and uploads are refused (507), and /readyz is 503; "
      "0: never");
}

Status RetentionFlags::ReadInto(RetentionOptions& options) const {
  retention::Policy& policy = options.policy;
  TY_RETURN_IF_ERROR(ReadKeep("--keep-jobs", jobs_, policy.jobs));
  TY_RETURN_IF_ERROR(ReadKeep("--keep-logs", logs_, policy.logs));
  TY_RETURN_IF_ERROR(ReadKeep("--keep-scratch", scratch_, policy.scratch));
  TY_RETURN_IF_ERROR(ReadKeep("--keep-environments", environments_, policy.environments));
  policy.environments_bytes.reset();
  if (environments_gb_max_ > 0)
    policy.environments_bytes = static_cast<std::int64_t>(environments_gb_max_ * kGigabyte);
  TY_RETURN_IF_ERROR(ReadMark("--queue-below-free", queue_below_, options.marks.queue_below));
  TY_RETURN_IF_ERROR(ReadMark("--refuse-below-free", refuse_below_, options.marks.refuse_below));
  if (options.marks.queue_below > 0 && options.marks.queue_below < options.marks.refuse_below)
    return std::unexpected(
        InvalidArgument("--queue-below-free", "'" + queue_below_ + "' is less than --refuse-below-free (" +
                                                  refuse_below_ + "): jobs wait before anything is refused"));
  return {};
}

}  // namespace trainyard::server
