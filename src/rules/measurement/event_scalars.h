#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace trainyard::tensorflow {
class Tensor;
}

namespace trainyard::measurement {

/// A number in a program's summaries, as in TensorBoard's scalar charts.
struct Scalar {
  std::string tag;
  std::int64_t step = 0;
  double time_s = 0;  ///< since 1970
  double value = 0;
  friend bool operator==(const Scalar&, const Scalar&) = default;
};

/// The scalars of one record of an event file: TensorFlow 1's simple values and TensorFlow 2's tensors of one
/// number of any type. Empty for a record that is not an event. Pure: any thread. Source: spec
/// hyperparameter-tuning.md section 6; TensorFlow's event.proto, summary.proto, tensor.proto.
[[nodiscard]] std::vector<Scalar> ScalarsOf(std::string_view record);

/// The number in a tensor of one number of any type; nullopt for other tensors. Pure: any thread.
[[nodiscard]] std::optional<double> NumberOf(const tensorflow::Tensor& tensor);

}  // namespace trainyard::measurement
