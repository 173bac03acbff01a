#include "control/intake/algorithm_choice.h"

#include <algorithm>
#include <string>

#include "rules/cluster/machine_type.h"
#include "rules/jobs/algorithm_output.h"

namespace trainyard::control {

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
                     " stands for the built-in algorithm " + algorithm.name() +
                     ", which runs in runtime version " + record.runtime_version() + ".");
  const auto has_more = [&algorithm](const v1::ReplicaRecord& replica) {
    return cluster::IsGpu(replica.accelerators().type()) &&
           replica.accelerators().count() > algorithm.gpus_max();
  };
  if (std::ranges::none_of(record.replicas(), has_more)) return;
  record.add_notes("The algorithm " + algorithm.name() +
                   (algorithm.gpus_max() == 0
                        ? " uses no GPUs: those of its machines have nothing to do."
                        : " uses one GPU of a machine: the others have nothing to do."));
}

}  // namespace trainyard::control
