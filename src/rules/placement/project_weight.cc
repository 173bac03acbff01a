#include "rules/placement/project_weight.h"

#include <charconv>
#include <string_view>

namespace trainyard::placement {
namespace {

std::unexpected<Error> Wrong(std::string_view text, std::string_view why) {
  return std::unexpected(
      InvalidArgument("--project-weight", "'" + std::string(text) + "' " + std::string(why)));
}

}  // namespace

Result<ProjectWeights> ParseProjectWeights(std::span<const std::string> texts) {
  ProjectWeights weights;
  for (const std::string& text : texts) {
    const std::size_t equals = text.rfind('=');
    if (equals == std::string::npos || equals == 0)
      return Wrong(text, "is not PROJECT=WEIGHT, as research=2");
    const std::string_view digits = std::string_view(text).substr(equals + 1);
    double weight = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), weight);
    const bool is_number = error == std::errc{} && end == digits.data() + digits.size();
    if (!is_number || !(weight >= kProjectWeightMin && weight <= kProjectWeightMax))
      return Wrong(text, "has no weight between 0.001 and 1000");
    if (!weights.emplace(text.substr(0, equals), weight).second) return Wrong(text, "weighs a project twice");
  }
  return weights;
}

}  // namespace trainyard::placement
