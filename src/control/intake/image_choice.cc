#include "control/intake/image_choice.h"

#include <algorithm>
#include <string>

#include "base/async/on_pool.h"
#include "rules/cluster/machine_type.h"
#include "rules/cluster/role.h"
#include "rules/jobs/prepare.h"

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

void UseAlgorithm(const algorithms::v1::Algorithm& algorithm, v1::JobRecord& record) {
  ml::v1::BuiltInAlgorithmOutput output;
  output.set_framework(algorithm.framework());
  output.set_runtime_version(algorithm.runtime_version());
  output.set_python_version(algorithm.python_version());
  const auto has_tpu = [](const v1::ReplicaRecord& replica) {
    return cluster::IsTpu(replica.accelerators().type());
  };
  if (std::ranges::any_of(record.replicas(), has_tpu))
    record.add_notes("The trainer of the algorithm " + algorithm.name() +
                     " uses no TPU: it trains on the CPU of the master, and waits for no TPU.");
  jobs::SetAlgorithm(algorithm.name(), algorithm.model(), output, record);
  record.add_remarks("The image " + record.job().training_input().master_config().image_uri() +
                     " is the built-in algorithm " + algorithm.name() + ", which runs in runtime version " +
                     record.runtime_version() + ".");
  const auto has_more = [&algorithm](const v1::ReplicaRecord& replica) {
    return cluster::IsGpu(replica.accelerators().type()) &&
           replica.accelerators().count() > algorithm.gpus_max();
  };
  if (std::ranges::none_of(record.replicas(), has_more)) return;
  record.add_notes("The algorithm " + algorithm.name() +
                   (algorithm.gpus_max() == 0 ? " uses no GPUs: the GPUs of its machines stay idle."
                                              : " uses one GPU of a machine: the other GPUs stay idle."));
}

}  // namespace trainyard::control
