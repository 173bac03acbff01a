#include "api/vertex/job_collections.h"

#include <optional>
#include <utility>

#include "google/cloud/aiplatform/v1/aiplatform.pb.h"
#include "rules/vertex/error_fields.h"
#include "rules/vertex/model.h"
#include "rules/vertex/training_pipeline.h"
#include "rules/vertex/tuning_job.h"

namespace trainyard::api {

namespace {

namespace aip = google::cloud::aiplatform::v1;
using control::v1::JobRecord;
using google::protobuf::Message;
using Shown = std::unique_ptr<Message>;

std::string NameIn(std::string_view collection, const JobRecord& record, const std::string& location_name) {
  return location_name + "/" + std::string(collection) + "/" + std::to_string(NumberOf(record));
}

template <class Resource>
std::optional<Resource> AskedOf(const JobRecord& record, const JobCollection& in) {
  Resource asked;
  const control::v1::SubmittedAs& submitted = record.submitted_as();
  if (submitted.collection() != in.name || !asked.ParseFromString(submitted.resource())) return std::nullopt;
  return asked;
}

/// A pipeline of the custom task has a custom job behind it, which is the same job.
Shown ShowCustomJob(const JobRecord& record, const ml::v1::Job& now, const std::string& location_name) {
  std::string name = NameIn(kCustomJobs.name, record, location_name);
  const auto show = [&](const Result<aip::CustomJob>& asked) -> Shown {
    return asked ? std::make_unique<aip::CustomJob>(vertex::CustomJobOf(*asked, now, std::move(name)))
                 : nullptr;
  };
  if (!record.has_submitted_as())
    return record.has_tuning() ? nullptr
                               : std::make_unique<aip::CustomJob>(vertex::CustomJobOf(now, std::move(name)));
  if (const auto pipeline = AskedOf<aip::TrainingPipeline>(record, kTrainingPipelines))
    return vertex::IsTuning(*pipeline) ? nullptr : show(vertex::BackingJobOf(*pipeline));
  const auto asked = AskedOf<aip::CustomJob>(record, kCustomJobs);
  return asked ? show(*asked) : nullptr;
}

Shown ShowTuningJob(const JobRecord& record, const ml::v1::Job& now, const std::string& location_name) {
  std::string name = NameIn(kTuningJobs.name, record, location_name);
  const auto show = [&](const Result<aip::HyperparameterTuningJob>& asked) -> Shown {
    return asked ? std::make_unique<aip::HyperparameterTuningJob>(
                       vertex::TuningJobOf(*asked, now, std::move(name)))
                 : nullptr;
  };
  if (!record.has_submitted_as())
    return record.has_tuning()
               ? std::make_unique<aip::HyperparameterTuningJob>(vertex::TuningJobOf(now, std::move(name)))
               : nullptr;
  if (const auto pipeline = AskedOf<aip::TrainingPipeline>(record, kTrainingPipelines))
    return vertex::IsTuning(*pipeline) ? show(vertex::BackingTuningJobOf(*pipeline)) : nullptr;
  const auto asked = AskedOf<aip::HyperparameterTuningJob>(record, kTuningJobs);
  return asked ? show(*asked) : nullptr;
}

Shown ShowPipeline(const JobRecord& record, const ml::v1::Job& now, const std::string& location_name) {
  const auto asked = AskedOf<aip::TrainingPipeline>(record, kTrainingPipelines);
  if (!asked) return nullptr;
  const JobCollection& behind = vertex::IsTuning(*asked) ? kTuningJobs : kCustomJobs;
  return std::make_unique<aip::TrainingPipeline>(
      vertex::PipelineOf(*asked, now,
                         {.pipeline = NameIn(kTrainingPipelines.name, record, location_name),
                          .backing_job = NameIn(behind.name, record, location_name),
                          .model = NameIn(kModels.name, record, location_name)}));
}

Shown ShowModel(const JobRecord& record, const ml::v1::Job& now, const std::string& location_name) {
  const auto asked = AskedOf<aip::TrainingPipeline>(record, kTrainingPipelines);
  if (!asked || !vertex::HasModel(*asked, now)) return nullptr;
  return std::make_unique<aip::Model>(vertex::ModelOf(*asked, now,
                                                      NameIn(kTrainingPipelines.name, record, location_name),
                                                      NameIn(kModels.name, record, location_name)));
}

template <class Resource>
Result<vertex::Translated> Translate(const Message& asked, const std::string& location, std::int64_t number) {
  return vertex::JobOf(static_cast<const Resource&>(asked), location, number);
}

}  // namespace

std::int64_t NumberOf(const JobRecord& record) {
  return record.has_submitted_as() ? record.submitted_as().number() : vertex::kMlNumbers + record.uid();
}

const JobCollection kCustomJobs = {
    .name = "customJobs",
    .type = "CustomJob",
    .permissions = "aiplatform.customJobs.",
    .resource = aip::CustomJob::default_instance(),
    .page = aip::ListCustomJobsResponse::default_instance(),
    .translate = Translate<aip::CustomJob>,
    .in_its_fields =
        [](const Message& asked, Error error) {
          return vertex::InCustomJob(static_cast<const aip::CustomJob&>(asked).job_spec(), std::move(error));
        },
    .show = ShowCustomJob};

const JobCollection kTuningJobs = {.name = "hyperparameterTuningJobs",
                                   .type = "HyperparameterTuningJob",
                                   .permissions = "aiplatform.hyperparameterTuningJobs.",
                                   .resource = aip::HyperparameterTuningJob::default_instance(),
                                   .page = aip::ListHyperparameterTuningJobsResponse::default_instance(),
                                   .translate = Translate<aip::HyperparameterTuningJob>,
                                   .in_its_fields =
                                       [](const Message& asked, Error error) {
                                         return vertex::InTuningJob(
                                             static_cast<const aip::HyperparameterTuningJob&>(asked),
                                             std::move(error));
                                       },
                                   .show = ShowTuningJob};

const JobCollection kTrainingPipelines = {.name = "trainingPipelines",
                                          .type = "TrainingPipeline",
                                          .permissions = "aiplatform.trainingPipelines.",
                                          .resource = aip::TrainingPipeline::default_instance(),
                                          .page = aip::ListTrainingPipelinesResponse::default_instance(),
                                          .translate = Translate<aip::TrainingPipeline>,
                                          .in_its_fields =
                                              [](const Message& asked, Error error) {
                                                return vertex::InTrainingPipeline(
                                                    static_cast<const aip::TrainingPipeline&>(asked),
                                                    std::move(error));
                                              },
                                          .show = ShowPipeline};

const JobCollection kModels = {.name = "models",
                               .type = "Model",
                               .permissions = "aiplatform.models.",
                               .resource = aip::Model::default_instance(),
                               .page = aip::ListModelsResponse::default_instance(),
                               .translate = nullptr,
                               .in_its_fields = nullptr,
                               .show = ShowModel};

}  // namespace trainyard::api
