#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/thread_pool.hpp>
#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "control/runtime_choice.h"
#include "image/image.h"
#include "jobs/prepare.h"
#include "trainyard/control/v1/record.pb.h"
#include "trainyard/ml/v1/ml.pb.h"

/// Which image each role of a new job runs, and what those images are now
/// (docs/adr/0016-image-resolution.md).
namespace trainyard::control {

/// For all images of one job together. A registry that does not answer must not hold a client longer.
inline constexpr std::chrono::seconds kImageLookUpMax{30};

/// A role's own image, or the master's. What does not appear runs in the job's runtime version: roles without
/// an image, and, where the job has a Python package and `runtimes` maps the master's image to a runtime
/// version, every role whose image it maps. Pure: any thread.
[[nodiscard]] jobs::RoleImages ContainerImages(const std::vector<ImageRuntime>& runtimes,
                                               const ml::v1::TrainingInput& input);

/// What an image is now; blocks, at most the time given (image::ResolveImage).
using ImageResolver =
    std::function<Result<image::ResolvedImage>(const std::string& image, std::chrono::milliseconds timeout)>;

/// Fills `record.images` with what the images of its replicas are now, each looked up once, on the pool.
/// Errors name the field of the role that brought the image ("worker_config.image_uri"): kInvalidArgument,
/// kFailedPrecondition (no such image, no credentials, another architecture), kUnavailable (the registry does
/// not answer, or not within kImageLookUpMax). `resolver`, `pool` and `record` outlive the call. Loop thread.
boost::asio::awaitable<Status> LookUpImages(const ImageResolver& resolver, boost::asio::thread_pool& pool,
                                            v1::JobRecord& record);

}  // namespace trainyard::control
