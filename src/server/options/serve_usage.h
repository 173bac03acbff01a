#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/ascii.h"
#include "base/result.h"
#include "cli/commands.h"

namespace CLI {
class App;
class Option;
class ParseError;
}  // namespace CLI

/// Messages of `trainyard serve` about its flags: in the words that all commands use, instead of CLI11's.
namespace trainyard::server {

/// Makes a CLI::Validator's function: a choice's name, in upper or lower case, becomes its value. For other
/// text the error names the nearest choice, or all of them. The option lists its choices itself:
/// ->type_name("on|off").
[[nodiscard]] std::string RefuseChoice(const std::string& text, const std::vector<std::string>& names);
template <class Value>
[[nodiscard]] std::function<std::string(std::string&)> OneOf(
    std::vector<std::pair<std::string, Value>> choices) {
  return [choices = std::move(choices)](std::string& text) -> std::string {
    std::vector<std::string> names;
    for (const auto& [name, value] : choices) {
      if (name == ToLower(text)) {
        text = std::to_string(static_cast<int>(value));
        return {};
      }
      names.push_back(name);
    }
    return RefuseChoice(text, names);
  };
}

/// Converts CLI11's error into our words. The field is the flag; empty for words that are not flags.
[[nodiscard]] Error ExplainUsage(const CLI::App& app, const CLI::ParseError& error);

/// The exit status if the command line, or the file that it names, is wrong and nothing was done.
inline constexpr int kUsageStatus = 2;

/// Prints "ERROR: (trainyard.serve) ..." and where the flags are listed. Returns kUsageStatus.
[[nodiscard]] int RefuseUsage(const Error& error, std::string_view command = "serve");

/// "--listen".
[[nodiscard]] std::string FlagName(const CLI::Option& option);
/// "folder that holds jobs" as a sentence.
[[nodiscard]] std::string HelpOf(const CLI::Option& option);

[[nodiscard]] std::vector<cli::ServeFlag> FlagsOf(const CLI::App& app);

}  // namespace trainyard::server
