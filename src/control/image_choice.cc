#include "control/image_choice.h"

#include <algorithm>

#include "async/on_pool.h"
#include "cluster/role.h"

namespace trainyard::control {

namespace {

using ml::v1::TrainingInput;
using std::chrono::milliseconds;
using std::chrono::steady_clock;

/// Of the role whose config has the image: its own, or the master's.
std::string FieldOf(const TrainingInput& input, replica::v1::TaskType type) {
  for (const cluster::Role& role : cluster::Roles(input)) {
    if (role.type == type && !role.config.image_uri().empty())
      return std::string(role.field) + "_config.image_uri";
  }
  return "master_config.image_uri";
}

milliseconds LeftUntil(steady_clock::time_point deadline) {
  return std::max(std::chrono::duration_cast<milliseconds>(deadline - steady_clock::now()), milliseconds{1});
}

/// A job's error tells of the job: an image that is not there is no 404 of the job, and credentials that the
/// server lacks are not the client's.
Error Refusal(const Error& why, const std::string& image, std::string field) {
  Code code = why.code;
  if (code == Code::kNotFound || code == Code::kPermissionDenied || code == Code::kUnauthenticated)
    code = Code::kFailedPrecondition;
  if (code == Code::kDeadlineExceeded) code = Code::kUnavailable;
  std::string_view reason = why.message;
  const std::string said_already = "image " + image + ": ";
  if (reason.starts_with(said_already)) reason.remove_prefix(said_already.size());
  return {code, "The image " + image + " cannot be used: " + std::string(reason), std::move(field)};
}

}  // namespace

jobs::RoleImages ContainerImages(const std::vector<ImageRuntime>& runtimes, const TrainingInput& input) {
  jobs::RoleImages images = jobs::NamedImages(input);
  const auto is_mapped = [&runtimes](const std::string& image) {
    return !RuntimeFor(runtimes, image).empty();
  };
  const bool has_package = !input.package_uris().empty() && !input.python_module().empty();
  if (!has_package || !is_mapped(input.master_config().image_uri())) return images;
  std::erase_if(images, [&is_mapped](const auto& role) { return is_mapped(role.second); });
  return images;
}

boost::asio::awaitable<Status> LookUpImages(const ImageResolver& resolver, boost::asio::thread_pool& pool,
                                            v1::JobRecord& record) {
  const auto deadline = steady_clock::now() + kImageLookUpMax;
  for (const v1::ReplicaRecord& replica : record.replicas()) {
    const std::string image = replica.image();
    const auto is_image = [&image](const v1::ImageRecord& known) { return known.image() == image; };
    if (image.empty() || std::ranges::any_of(record.images(), is_image)) continue;
    auto look_up = [&resolver, image, deadline] { return resolver(image, LeftUntil(deadline)); };
    const Result<image::ResolvedImage> found = co_await OnPool(pool, std::move(look_up));
    if (!found) {
      const std::string field = FieldOf(record.job().training_input(), replica.id().type());
      co_return std::unexpected(Refusal(found.error(), image, field));
    }
    v1::ImageRecord& known = *record.add_images();
    known.set_image(image);
    known.set_reference(found->reference);
    known.set_digest(found->digest);
    known.set_size_bytes(found->size_bytes);
  }
  co_return Status{};
}

}  // namespace trainyard::control
