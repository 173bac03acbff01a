#include "stores/metrics/machine_samples.h"

#include <algorithm>

namespace trainyard::metrics {
namespace {

/// The mean of the known values in each part.
class Means {
 public:
  explicit Means(std::size_t parts) : sums_(parts), counts_(parts) {}

  void Add(std::size_t part, double value) {
    if (value < 0) return;
    sums_[part] += value;
    ++counts_[part];
    any_ = true;
  }
  [[nodiscard]] bool any() const noexcept { return any_; }
  [[nodiscard]] std::vector<float> Take() const {
    std::vector<float> means;
    for (std::size_t part = 0; part < sums_.size(); ++part)
      means.push_back(counts_[part] == 0 ? -1 : static_cast<float>(sums_[part] / counts_[part]));
    return means;
  }

 private:
  std::vector<double> sums_;
  std::vector<int> counts_;
  bool any_ = false;
};

}  // namespace

MachineSpan SpanOf(SysTime now, std::chrono::hours hours) {
  const auto minutes = std::chrono::duration_cast<std::chrono::minutes>(hours);
  const auto per_part = (minutes.count() + static_cast<std::int64_t>(kMachinePartsMax) - 1) /
                        static_cast<std::int64_t>(kMachinePartsMax);
  MachineSpan span{.step = std::chrono::minutes(std::max<std::int64_t>(1, per_part))};
  span.parts = static_cast<std::size_t>(std::chrono::duration_cast<std::chrono::seconds>(hours) / span.step);
  const auto since = std::chrono::duration_cast<std::chrono::seconds>(now.time_since_epoch());
  const auto end = (since / span.step + 1) * span.step;  // of the current part
  span.start = SysTime(end - span.step * static_cast<std::int64_t>(span.parts));
  return span;
}

MachineColumns ColumnsOf(std::span<const MachineSample> samples, const MachineSpan& span) {
  Means cpu(span.parts);
  Means memory(span.parts);
  Means gpu(span.parts);
  Means replicas(span.parts);
  for (const MachineSample& sample : samples) {
    if (sample.time < span.start) continue;
    const auto part = static_cast<std::size_t>((sample.time - span.start) / span.step);
    if (part >= span.parts) continue;
    cpu.Add(part, sample.cpu_utilization);
    memory.Add(part, sample.memory_utilization);
    gpu.Add(part, sample.gpu_utilization);
    replicas.Add(part, sample.replicas);
  }
  MachineColumns columns{.cpu = cpu.Take(), .memory = memory.Take(), .gpu = {}, .replicas = replicas.Take()};
  if (gpu.any()) columns.gpu = gpu.Take();
  return columns;
}

}  // namespace trainyard::metrics
