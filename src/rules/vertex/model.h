#pragma once

#include <string>
#include <string_view>

#include "google/cloud/aiplatform/v1/aiplatform.pb.h"
#include "rules/vertex/findings.h"
#include "trainyard/ml/v1/ml.pb.h"

/// The models of training pipelines. A model is a record: where the program's files are, and the container
/// that the pipeline's request named for them. Nothing is served from it. Pure: any thread. Source: spec
/// vertex.md section 7.
namespace trainyard::vertex {

namespace aip = google::cloud::aiplatform::v1;

/// The version of each model: a pipeline makes one.
inline constexpr std::string_view kModelVersion = "1";

/// Adds what is wrong with the pipeline's "model_to_upload", which is set.
void CheckModel(const aip::Model& asked, Findings& findings);

/// Whether the pipeline has made its model: it was asked to, and `now` has succeeded.
[[nodiscard]] bool HasModel(const aip::TrainingPipeline& asked, const ml::v1::Job& now);

/// The model as methods answer it: as the pipeline's request describes it, with the location of the files
/// that the program saved in AIP_MODEL_DIR; those of the best trial, if the pipeline tuned hyperparameters.
/// For a pipeline that HasModel.
///
/// @param now  the job as ml v1 shows it
/// @param pipeline_name  "projects/P/locations/L/trainingPipelines/N"
/// @param name  "projects/P/locations/L/models/N"
[[nodiscard]] aip::Model ModelOf(const aip::TrainingPipeline& asked, const ml::v1::Job& now,
                                 std::string_view pipeline_name, std::string_view name);

/// A model's id in a path: "7110512376444053982", or with a version or one of its aliases, "711...@default".
struct ModelId {
  std::string_view number;
  std::string_view version{};  ///< empty: the default one
  friend bool operator==(const ModelId&, const ModelId&) = default;
};
/// A view of `text`.
[[nodiscard]] ModelId SplitModelId(std::string_view text);

/// Whether the version, as a path names it, is the model's. Empty is the default one.
[[nodiscard]] bool HasVersion(const aip::Model& model, std::string_view version);

}  // namespace trainyard::vertex
