#include "rules/vertex/model.h"

#include <algorithm>

#include "rules/validation/validate.h"

namespace trainyard::vertex {
namespace {

using ml::v1::Job;

constexpr std::string_view kDefaultAlias = "default";

/// The folder of AIP_MODEL_DIR, without a slash at its end; empty if the pipeline has no output directory.
std::string ArtifactUri(const Job& now) {
  std::string folder = now.training_input().output_uri_prefix();
  while (folder.ends_with('/')) folder.pop_back();
  if (folder.empty()) return folder;
  if (now.training_input().has_hyperparameters()) {
    // Ended tuning jobs of ml v1 have the best trial first.
    if (now.training_output().trials().empty()) return {};
    folder += "/" + now.training_output().trials(0).trial_id();
  }
  return folder + "/model";
}

/// Source: the description of Model.version_aliases in aiplatform v1; a number would be a version's id.
bool IsAlias(std::string_view alias) {
  constexpr std::size_t kMin = 2;
  constexpr std::size_t kMax = 128;
  constexpr std::string_view kLetters = "abcdefghijklmnopqrstuvwxyz";
  constexpr std::string_view kAll = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-";
  return alias.size() >= kMin && alias.size() <= kMax && kLetters.contains(alias.front()) &&
         !std::string_view("-ABCDEFGHIJKLMNOPQRSTUVWXYZ").contains(alias.back()) &&
         alias.find_first_not_of(kAll) == std::string_view::npos;
}

}  // namespace

void CheckModel(const aip::Model& asked, Findings& findings) {
  if (const std::string wrong = WrongDisplayName(asked.display_name()); !wrong.empty())
    findings.Add("model_to_upload.display_name", wrong);
  if (asked.container_spec().image_uri().empty())
    findings.Add("model_to_upload.container_spec.image_uri", "This field is required.");
  if (!std::ranges::all_of(asked.version_aliases(), IsAlias))
    findings.Add(
        "model_to_upload.version_aliases",
        "An alias has 2 to 128 letters, digits and hyphens; it begins with a lower-case letter and does "
        "not end with a hyphen or a capital letter.");
  if (asked.has_explanation_spec())
    findings.Add("model_to_upload.explanation_spec",
                 "Explanations are not supported by this server, which does not serve models. Leave out this "
                 "field.");
  Job job;
  *job.mutable_labels() = asked.labels();
  if (const Status good = jobs::ValidateLabels(job); !good)
    findings.Add("model_to_upload.labels", good.error().message);
}

bool HasModel(const aip::TrainingPipeline& asked, const Job& now) {
  return asked.has_model_to_upload() && now.state() == Job::SUCCEEDED;
}

aip::Model ModelOf(const aip::TrainingPipeline& asked, const Job& now, std::string_view pipeline_name,
                   std::string_view name) {
  const aip::Model& described = asked.model_to_upload();
  aip::Model model;
  model.set_name(std::string(name));
  model.set_display_name(described.display_name());
  model.set_description(described.description());
  model.set_metadata_schema_uri(described.metadata_schema_uri());
  if (described.has_metadata()) *model.mutable_metadata() = described.metadata();
  if (described.has_predict_schemata()) *model.mutable_predict_schemata() = described.predict_schemata();
  *model.mutable_container_spec() = described.container_spec();
  *model.mutable_labels() = described.labels();
  if (described.has_encryption_spec()) *model.mutable_encryption_spec() = described.encryption_spec();
  model.set_artifact_uri(ArtifactUri(now));
  model.set_training_pipeline(std::string(pipeline_name));
  model.mutable_model_source_info()->set_source_type(aip::ModelSourceInfo::CUSTOM);
  *model.mutable_create_time() = now.end_time();
  *model.mutable_update_time() = now.end_time();

  model.set_version_id(std::string(kModelVersion));
  model.set_version_description(described.version_description());
  *model.mutable_version_aliases() = described.version_aliases();
  if (!HasVersion(model, kDefaultAlias)) model.add_version_aliases(std::string(kDefaultAlias));
  *model.mutable_version_create_time() = now.end_time();
  *model.mutable_version_update_time() = now.end_time();
  return model;
}

ModelId SplitModelId(std::string_view text) {
  const std::size_t at = text.find('@');
  if (at == std::string_view::npos) return {.number = text};
  return {.number = text.substr(0, at), .version = text.substr(at + 1)};
}

bool HasVersion(const aip::Model& model, std::string_view version) {
  return version.empty() || version == model.version_id() ||
         std::ranges::find(model.version_aliases(), version) != model.version_aliases().end();
}

}  // namespace trainyard::vertex
