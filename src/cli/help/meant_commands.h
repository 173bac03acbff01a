#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace trainyard::cli {

/// The commands that a word of another program's command line means here: "kill" is "jobs cancel". Paths of
/// Commands() and "serve"; empty: the word is none of these. Pure: any thread.
[[nodiscard]] std::vector<std::string> CommandsMeantBy(std::string_view word);

}  // namespace trainyard::cli
