#pragma once

#include <boost/asio/awaitable.hpp>
#include <vector>

#include "base/result.h"
#include "control/intake/image_lookups.h"
#include "control/intake/runtime_choice.h"
#include "rules/jobs/prepare.h"
#include "trainyard/algorithms/v1/algorithm.pb.h"
#include "trainyard/control/v1/record.pb.h"
#include "trainyard/ml/v1/ml.pb.h"

/// The image that each role of a new job runs, and the present versions of those images
/// (docs/adr/0016-image-resolution.md).
namespace trainyard::control {

/// The field that names the image of a role's replicas: its own config's, or the master's.
[[nodiscard]] std::string ImageField(const ml::v1::TrainingInput& input, replica::v1::TaskType type);

/// Each role's own image, or the master's. Roles that are not in the result run in the job's runtime version:
/// roles without an image, and, if the job has a Python package and `runtimes` maps the master's image to a
/// runtime version, every role whose image it maps. Pure: any thread.
[[nodiscard]] jobs::RoleImages ContainerImages(const std::vector<ImageRuntime>& runtimes,
                                               const ml::v1::TrainingInput& input);

/// Fills `record.images` with the present versions of its replicas' images, each looked up once. An image
/// without an answer within kImageLookUpMax is replaced by what was pulled under that name before, with a
/// note, or stays unresolved. Errors name the field of the role with the image ("worker_config.image_uri"):
/// kInvalidArgument, kFailedPrecondition (no such image, no credentials, another architecture). `registries`
/// and `record` outlive the call. Loop thread.
boost::asio::awaitable<Status> LookUpImages(const ImageRegistries& registries, v1::JobRecord& record);

/// Makes the record of a new job one that runs the algorithm: sets what the API shows of it
/// (jobs::SetAlgorithm), a remark that says what runs instead of the image, and a note if its machines have
/// more GPUs than the algorithm uses, or a TPU, which it does not use. Pure: any thread.
void UseAlgorithm(const algorithms::v1::Algorithm& algorithm, v1::JobRecord& record);

}  // namespace trainyard::control
