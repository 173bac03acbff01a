#include "rules/vertex/training_pipeline.h"

#include <google/protobuf/struct.pb.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>
#include <utility>
#include <vector>

#include "base/wire/json.h"
#include "base/wire/json_tree.h"
#include "base/wire/utf8.h"
#include "rules/jobs/trial.h"
#include "rules/vertex/error_fields.h"
#include "rules/vertex/findings.h"
#include "rules/vertex/model.h"
#include "rules/vertex/renamed_fields.h"
#include "rules/vertex/tuning_job.h"

namespace trainyard::vertex {
namespace {

using google::protobuf::Value;
using ml::v1::Job;
using wire::JsonValue;

constexpr std::string_view kCustomTask = "custom_task_1.0.0.yaml";
constexpr std::string_view kTuningTask = "hyperparameter_tuning_task_1.0.0.yaml";
constexpr const char* kInputs = "training_task_inputs";
constexpr double kExactMax = 9007199254740992.0;  // 2^53: doubles up to it represent all whole numbers

std::string_view TaskOf(const aip::TrainingPipeline& asked) {
  const std::string_view path = asked.training_task_definition();
  return path.substr(path.rfind('/') + 1);
}

/// The name of a field of the job behind the pipeline in the request.
std::string InputsField(std::string_view field) {
  constexpr std::string_view kJobSpec = "job_spec";
  constexpr std::array<std::string_view, 5> kMembers = {"trial_job_spec", "study_spec", "max_trial_count",
                                                        "parallel_trial_count", "max_failed_trial_count"};
  if (field.starts_with(kJobSpec)) return kInputs + std::string(field.substr(kJobSpec.size()));
  const bool is_input =
      std::ranges::any_of(kMembers, [&](std::string_view member) { return field.starts_with(member); });
  return is_input ? std::string(kInputs).append(".").append(field) : std::string(field);
}

std::string SameField(std::string_view field) { return std::string(field); }

/// All numbers of a free JSON value are doubles. "1" for 1.0: it may be meant for an integer, or for a
/// program's arguments.
std::string NumberText(double number) {
  if (std::trunc(number) == number && std::abs(number) < kExactMax)
    return std::to_string(static_cast<std::int64_t>(number));
  return jobs::MetricText(number);
}

/// The value as a document, without the members that are null: clients send one for each unset field.
JsonValue TreeOf(const Value& value) {
  switch (value.kind_case()) {
    case Value::kNumberValue:
      return {
          .kind = std::isfinite(value.number_value()) ? JsonValue::Kind::kNumber : JsonValue::Kind::kString,
          .text = NumberText(value.number_value())};
    case Value::kStringValue: return {.kind = JsonValue::Kind::kString, .text = value.string_value()};
    case Value::kBoolValue:
      return {.kind = JsonValue::Kind::kBool, .text = value.bool_value() ? "true" : "false"};
    case Value::kStructValue: {
      JsonValue tree{.kind = JsonValue::Kind::kObject};
      for (const auto& [name, member] : value.struct_value().fields()) {
        if (member.has_null_value()) continue;
        tree.children.push_back(TreeOf(member));
        tree.children.back().name = name;
      }
      std::ranges::sort(tree.children, {}, &JsonValue::name);  // members have no order, but errors do
      return tree;
    }
    case Value::kListValue: {
      JsonValue tree{.kind = JsonValue::Kind::kArray};
      for (const Value& element : value.list_value().values())
        if (!element.has_null_value()) tree.children.push_back(TreeOf(element));
      return tree;
    }
    case Value::kNullValue:
    case Value::KIND_NOT_SET: break;
  }
  return {};
}

/// Reads the task's inputs into `spec`; mistakes are added to `findings`.
void ReadInputs(const aip::TrainingPipeline& asked, google::protobuf::Message& spec, Findings& findings) {
  if (!asked.training_task_inputs().has_struct_value())
    return findings.Add(kInputs, "This field is required, and must be an object.");
  const std::string json = wire::PrintJsonTree(TreeOf(asked.training_task_inputs()));
  if (const Status read = wire::ParseJson(json, spec, kInputs); !read)
    AddRenamed(read.error(), SameField, findings);
}

void CheckTask(const aip::TrainingPipeline& asked, std::string_view task, Findings& findings) {
  if (TaskOf(asked) == task) return;
  findings.Add("training_task_definition", asked.training_task_definition().empty()
                                               ? "This field is required."
                                               : "The task '" + asked.training_task_definition() +
                                                     "' is not supported by this server: it runs " +
                                                     std::string(kCustomTask) + " and " +
                                                     std::string(kTuningTask) + ".");
}

/// What a pipeline can have besides its job.
void CheckExtras(const aip::TrainingPipeline& asked, Findings& findings) {
  if (asked.has_input_data_config())
    findings.Add("input_data_config",
                 "Managed datasets are not supported by this server. Leave out this field, and pass the "
                 "location of the data to the program as an argument.");
  if (asked.has_model_to_upload()) CheckModel(asked.model_to_upload(), findings);
}

/// Copies what a pipeline and the job behind it have in common.
template <class BackingJob>
void SetCommon(const aip::TrainingPipeline& asked, BackingJob& job) {
  job.set_display_name(asked.display_name());
  *job.mutable_labels() = asked.labels();
  if (asked.has_encryption_spec()) *job.mutable_encryption_spec() = asked.encryption_spec();
}

/// The job behind the pipeline under the pipeline's own name, which is the one that has a maximum length.
aip::CustomJob CustomJobIn(const aip::TrainingPipeline& asked, Findings& findings) {
  aip::CustomJob job;
  SetCommon(asked, job);
  ReadInputs(asked, *job.mutable_job_spec(), findings);
  return job;
}

aip::HyperparameterTuningJob TuningJobIn(const aip::TrainingPipeline& asked, Findings& findings) {
  aip::HyperparameterTuningJob read;
  ReadInputs(asked, read, findings);
  aip::HyperparameterTuningJob job;
  SetCommon(asked, job);
  *job.mutable_study_spec() = read.study_spec();
  *job.mutable_trial_job_spec() = read.trial_job_spec();
  job.set_max_trial_count(read.max_trial_count());
  job.set_parallel_trial_count(read.parallel_trial_count());
  job.set_max_failed_trial_count(read.max_failed_trial_count());
  return job;
}

/// At most as long as a display name may be: the pipeline's own is cut.
std::string BackingName(const aip::TrainingPipeline& asked) {
  constexpr std::size_t kBytesMax = 128;
  const std::string_view suffix = IsTuning(asked) ? "-hyperparameter-tuning-job" : "-custom-job";
  const std::string& own = asked.display_name();
  return own.substr(0, wire::Utf8Prefix(own, kBytesMax - suffix.size())).append(suffix);
}

template <class BackingJob>
void Translate(const BackingJob& job, const std::string& location, std::int64_t number,
               Translated& translated, Findings& findings) {
  auto made = JobOf(job, location, number);
  if (!made) return AddRenamed(made.error(), InputsField, findings);
  translated = *std::move(made);
  RenameRemarks(InputsField, translated.remarks);
}

aip::PipelineState PipelineStateOf(Job::State state) {
  switch (state) {
    case Job::QUEUED: return aip::PIPELINE_STATE_QUEUED;
    case Job::PREPARING: return aip::PIPELINE_STATE_PENDING;
    case Job::RUNNING: return aip::PIPELINE_STATE_RUNNING;
    case Job::SUCCEEDED: return aip::PIPELINE_STATE_SUCCEEDED;
    case Job::FAILED: return aip::PIPELINE_STATE_FAILED;
    case Job::CANCELLING: return aip::PIPELINE_STATE_CANCELLING;
    case Job::CANCELLED: return aip::PIPELINE_STATE_CANCELLED;
    default: return aip::PIPELINE_STATE_UNSPECIFIED;
  }
}

}  // namespace

bool IsTuning(const aip::TrainingPipeline& asked) { return TaskOf(asked) == kTuningTask; }

Result<Translated> JobOf(const aip::TrainingPipeline& asked, const std::string& location,
                         std::int64_t number) {
  Findings findings;
  CheckTask(asked, IsTuning(asked) ? kTuningTask : kCustomTask, findings);
  CheckExtras(asked, findings);
  if (!findings.empty()) return std::unexpected(std::move(findings).ToError());

  Translated translated;
  if (IsTuning(asked)) {
    const aip::HyperparameterTuningJob job = TuningJobIn(asked, findings);
    if (findings.empty()) Translate(job, location, number, translated, findings);
  } else {
    const aip::CustomJob job = CustomJobIn(asked, findings);
    if (findings.empty()) Translate(job, location, number, translated, findings);
  }
  if (!findings.empty()) return std::unexpected(std::move(findings).ToError());
  translated.job.set_display_name(BackingName(asked));
  for (const auto& [text, field] :
       {std::pair{asked.parent_model(), "parent_model"}, std::pair{asked.model_id(), "model_id"}})
    if (!text.empty()) translated.remarks.push_back(std::string(field) + " has no effect on this server.");
  return translated;
}

aip::TrainingPipeline PipelineOf(const aip::TrainingPipeline& asked, const Job& now, PipelineNames names) {
  const aip::CustomJob shown = CustomJobOf(aip::CustomJob(), now, std::move(names.pipeline));
  aip::TrainingPipeline answer = asked;
  answer.set_name(shown.name());
  answer.set_state(PipelineStateOf(now.state()));
  *answer.mutable_labels() = shown.labels();
  *answer.mutable_create_time() = shown.create_time();
  *answer.mutable_update_time() = shown.update_time();
  answer.clear_start_time();
  answer.clear_end_time();
  answer.clear_error();
  if (shown.has_start_time()) *answer.mutable_start_time() = shown.start_time();
  if (shown.has_end_time()) *answer.mutable_end_time() = shown.end_time();
  if (shown.has_error()) *answer.mutable_error() = shown.error();
  answer.clear_training_task_metadata();
  auto& metadata = *answer.mutable_training_task_metadata()->mutable_struct_value()->mutable_fields();
  metadata[IsTuning(asked) ? "backingHyperparameterTuningJob" : "backingCustomJob"].set_string_value(
      std::move(names.backing_job));
  if (answer.has_model_to_upload()) {
    const bool is_there = HasModel(asked, now);
    answer.mutable_model_to_upload()->set_name(is_there ? std::move(names.model) : "");
    answer.mutable_model_to_upload()->set_version_id(is_there ? std::string(kModelVersion) : "");
  }
  return answer;
}

Result<aip::CustomJob> BackingJobOf(const aip::TrainingPipeline& asked) {
  Findings findings;
  CheckTask(asked, kCustomTask, findings);
  aip::CustomJob job = CustomJobIn(asked, findings);
  if (!findings.empty()) return std::unexpected(std::move(findings).ToError());
  job.set_display_name(BackingName(asked));
  return job;
}

Result<aip::HyperparameterTuningJob> BackingTuningJobOf(const aip::TrainingPipeline& asked) {
  Findings findings;
  CheckTask(asked, kTuningTask, findings);
  aip::HyperparameterTuningJob job = TuningJobIn(asked, findings);
  if (!findings.empty()) return std::unexpected(std::move(findings).ToError());
  job.set_display_name(BackingName(asked));
  return job;
}

Error InTrainingPipeline(const aip::TrainingPipeline& asked, Error error) {
  Error named =
      IsTuning(asked)
          ? InTuningJob(BackingTuningJobOf(asked).value_or(aip::HyperparameterTuningJob()), std::move(error))
          : InCustomJob(BackingJobOf(asked).value_or(aip::CustomJob()).job_spec(), std::move(error));
  return Renamed(std::move(named), InputsField);
}

}  // namespace trainyard::vertex
