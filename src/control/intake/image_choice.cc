#include "control/intake/image_choice.h"

#include <algorithm>

#include "base/async/on_pool.h"
#include "rules/cluster/role.h"

namespace trainyard::control {

using ml::v1::TrainingInput;
using std::chrono::steady_clock;

std::string ImageField(const TrainingInput& input, replica::v1::TaskType type) {
  for (const cluster::Role& role : cluster::Roles(input)) {
    if (role.type == type && !role.config.image_uri().empty())
      return std::string(role.field) + "_config.image_uri";
  }
  return "master_config.image_uri";
}

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

boost::asio::awaitable<Status> LookUpImages(const ImageRegistries& registries, v1::JobRecord& record) {
  std::vector<std::string> names;
  for (const v1::ReplicaRecord& replica : record.replicas()) {
    const std::string& image = replica.image();
    if (!image.empty() && std::ranges::find(names, image) == names.end()) names.push_back(image);
  }
  if (names.empty()) co_return Status{};
  // Counted from now: a look-up that waited for its turn has less time left. A timeout then says nothing
  // about the registry, so no pulled image is used instead: the queued look-up, which begins immediately,
  // decides that.
  const auto deadline = steady_clock::now() + kImageLookUpMax;
  auto find = [registries, names, deadline] {  // the caller may be gone before the pool runs this
    const LookUpOptions options{.timeout = [deadline] {
      using std::chrono::milliseconds;
      return std::max(std::chrono::duration_cast<milliseconds>(deadline - steady_clock::now()),
                      milliseconds{1});
    }};
    return FindImages(registries, names, options, {});
  };
  ImagesFound found = co_await OnPool(*registries.at_create, std::move(find));
  if (found.refusal) {
    const auto brings = [&found](const auto& replica) { return replica.image() == found.refusal->image; };
    const auto replica = std::ranges::find_if(record.replicas(), brings);
    found.refusal->error.field = ImageField(record.job().training_input(), replica->id().type());
    co_return std::unexpected(std::move(found.refusal->error));
  }
  for (v1::ImageRecord& image : found.images) *record.add_images() = std::move(image);
  for (std::string& note : found.notes) record.add_notes(std::move(note));
  co_return Status{};
}

}  // namespace trainyard::control
