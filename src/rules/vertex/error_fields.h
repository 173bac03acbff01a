#pragma once

#include <string>
#include <string_view>

#include "base/error.h"
#include "google/cloud/aiplatform/v1/aiplatform.pb.h"

/// Errors about the ml v1 job of a custom job, as Vertex AI would report them. Pure: any thread. Source: spec
/// vertex.md section 3.
namespace trainyard::vertex {

namespace aip = google::cloud::aiplatform::v1;

/// "job_spec.worker_pool_specs[1].machine_spec.accelerator_type" for
/// "worker_config.accelerator_config.type"; a field without a counterpart is returned unchanged.
///
/// @param spec  of the request: whether a pool has a container or a package decides where its variables are
[[nodiscard]] std::string CustomJobField(const aip::CustomJobSpec& spec, std::string_view ml_field);

/// The error with the fields of the custom job. One of kInvalidArgument becomes the list of found errors that
/// JobOf returns, with one entry for each violation, or one for the field; other codes keep their message.
[[nodiscard]] Error InCustomJob(const aip::CustomJobSpec& spec, Error error);

}  // namespace trainyard::vertex
