#include "rules/vertex/custom_job.h"

#include <algorithm>
#include <charconv>
#include <chrono>

#include "base/wire/time.h"
#include "rules/validation/validate.h"
#include "rules/vertex/findings.h"
#include "rules/vertex/pools.h"

namespace trainyard::vertex {
namespace {

using ml::v1::TrainingInput;

constexpr std::ptrdiff_t kDisplayNameMax = 128;
constexpr std::chrono::seconds kTimeoutDefault{604'800};
/// What jobs::Validate accepts as max_wait_time.
constexpr std::chrono::seconds kWaitMin{1800};
constexpr std::string_view kJobIdPrefix = "vertex_";

std::ptrdiff_t Characters(const std::string& text) {
  return std::ranges::count_if(text, [](unsigned char c) { return (c & 0xC0U) != 0x80U; });
}

void CheckNames(const aip::CustomJob& asked, Findings& findings) {
  if (const std::string wrong = WrongDisplayName(asked.display_name()); !wrong.empty())
    findings.Add("display_name", wrong);
  ml::v1::Job job;
  *job.mutable_labels() = asked.labels();
  if (const Status good = jobs::ValidateLabels(job); !good) findings.Add("labels", good.error().message);
}

/// What changes a job so much that it must not be ignored.
void CheckServices(const aip::CustomJobSpec& spec, Findings& findings) {
  if (!spec.tensorboard().empty()) {
    findings.Add(
        "job_spec.tensorboard",
        "This server has no TensorBoard instances. Leave out this field: the program's event files are "
        "read from its output directory, and the console shows their curves.");
  }
  if (!spec.persistent_resource_id().empty()) {
    findings.Add(
        "job_spec.persistent_resource_id",
        "This server has no persistent resources. Leave out this field: the job runs on the server's "
        "own machines.");
  }
}

void AddRemarks(const aip::CustomJob& asked, std::vector<std::string>& remarks) {
  const aip::CustomJobSpec& spec = asked.job_spec();
  const auto unused = [&](bool is_set, std::string_view field) {
    if (is_set) remarks.push_back(std::string(field) + " has no effect on this server.");
  };
  unused(!spec.network().empty(), "job_spec.network");
  unused(!spec.reserved_ip_ranges().empty(), "job_spec.reserved_ip_ranges");
  unused(spec.has_psc_interface_config(), "job_spec.psc_interface_config");
  unused(spec.enable_dashboard_access(), "job_spec.enable_dashboard_access");
  unused(!spec.experiment().empty(), "job_spec.experiment");
  unused(!spec.experiment_run().empty(), "job_spec.experiment_run");
  unused(!spec.protected_artifact_location_id().empty(), "job_spec.protected_artifact_location_id");
  unused(!spec.models().empty(), "job_spec.models");
  unused(asked.has_encryption_spec(), "encryption_spec");
}

void CheckScheduling(const aip::Scheduling& asked, Findings& findings) {
  const std::string field = "job_spec.scheduling.";
  if (wire::FromProto(asked.timeout()) < std::chrono::nanoseconds{0})
    findings.Add(field + "timeout", "The duration must not be negative.");
  if (wire::FromProto(asked.max_wait_duration()) < std::chrono::nanoseconds{0})
    findings.Add(field + "max_wait_duration", "The duration must not be negative. 0 waits for ever.");
}

void AddScheduling(const aip::Scheduling& asked, ml::v1::Scheduling& scheduling,
                   std::vector<std::string>& remarks) {
  *scheduling.mutable_max_running_time() =
      asked.has_timeout() ? asked.timeout() : wire::ToProto(kTimeoutDefault);
  const auto wait = wire::FromProto(asked.max_wait_duration());
  if (wait != std::chrono::nanoseconds{0}) {  // 0: for ever
    *scheduling.mutable_max_wait_time() = wire::ToProto(std::max<std::chrono::nanoseconds>(wait, kWaitMin));
    if (wait < kWaitMin)
      remarks.push_back(
          "job_spec.scheduling.max_wait_duration is less than the minimum of this server: the job waits " +
          wire::PrintDuration(kWaitMin) + " for its resources.");
  }
  if (asked.restart_job_on_worker_restart())
    remarks.emplace_back(
        "job_spec.scheduling.restart_job_on_worker_restart has no effect on this server: a replica that "
        "was killed or lost starts again alone; the whole job starts again after too many such restarts.");
  if (asked.disable_retries())
    remarks.emplace_back(
        "job_spec.scheduling.disable_retries has no effect on this server: a replica that was killed or lost "
        "starts again. A program that exits with the status 1 or 2 ends its job.");
  if (asked.strategy() == aip::Scheduling::SPOT || asked.strategy() == aip::Scheduling::LOW_COST ||
      asked.strategy() == aip::Scheduling::FLEX_START)
    remarks.push_back("job_spec.scheduling.strategy " + aip::Scheduling::Strategy_Name(asked.strategy()) +
                      " has no effect on this server: the job waits for the server's own machines.");
}

void AddOutput(const aip::CustomJobSpec& spec, TrainingInput& input) {
  const std::string& prefix = spec.base_output_directory().output_uri_prefix();
  if (prefix.empty()) return;
  input.set_output_uri_prefix(prefix);
  input.set_job_dir(prefix);
  input.set_job_dir_as_variable(true);
}

}  // namespace

Result<Translated> JobOf(const aip::CustomJob& asked, const std::string& location, std::int64_t number) {
  Translated translated;
  Findings findings;
  const aip::CustomJobSpec& spec = asked.job_spec();
  CheckNames(asked, findings);
  CheckServices(spec, findings);
  CheckScheduling(spec.scheduling(), findings);
  ml::v1::Job& job = translated.job;
  TrainingInput& input = *job.mutable_training_input();
  AddPools(spec, input, findings, translated.remarks);
  if (!findings.empty()) return std::unexpected(std::move(findings).ToError());

  job.set_job_id(JobIdOf(number));
  job.set_display_name(asked.display_name());
  *job.mutable_labels() = asked.labels();
  input.set_region(location);
  input.set_program_variables(TrainingInput::VERTEX_AI);
  input.set_use_chief_in_tf_config(true);
  input.set_service_account(spec.service_account());
  input.set_enable_web_access(spec.enable_web_access());
  AddScheduling(spec.scheduling(), *input.mutable_scheduling(), translated.remarks);
  AddOutput(spec, input);
  AddRemarks(asked, translated.remarks);
  return translated;
}

std::string WrongDisplayName(const std::string& name) {
  if (name.empty()) return "This field is required.";
  const std::ptrdiff_t characters = Characters(name);
  if (characters <= kDisplayNameMax) return {};
  return "The display name has " + std::to_string(characters) + " characters, at most " +
         std::to_string(kDisplayNameMax) + ".";
}

std::string JobIdOf(std::int64_t number) { return std::string(kJobIdPrefix) + std::to_string(number); }

std::optional<std::int64_t> NumberOf(std::string_view job_id) {
  if (!job_id.starts_with(kJobIdPrefix)) return std::nullopt;
  const std::string_view digits = job_id.substr(kJobIdPrefix.size());
  std::int64_t number = 0;
  const auto read = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (read.ec != std::errc{} || JobIdOf(number) != job_id) return std::nullopt;
  if (number < kNumberMin || number >= kMlNumbers) return std::nullopt;
  return number;
}

}  // namespace trainyard::vertex
