#pragma once

#include <string_view>

namespace trainyard::jobs {

/// Whether an image is meant by a pattern: '*' stands for any characters, slashes too. A pattern without a
/// tag and digest means all of them: "gcr.io/p/training" and "gcr.io/p/training:v1". Pure: any thread.
[[nodiscard]] bool MatchesImage(std::string_view pattern, std::string_view image);

}  // namespace trainyard::jobs
