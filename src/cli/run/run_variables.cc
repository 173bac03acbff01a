#include "cli/run/run_variables.h"

#include <unistd.h>

#include <utility>

#include "cli/terminal_input.h"

namespace trainyard::cli {

Result<RunVariable> ReadSecret(const CommandSession& session, const std::string& name) {
  if (name.find('=') != std::string::npos)
    return std::unexpected(
        UsageError("--secret", "give the name alone; the value is that of your own variable of this name"));
  if (std::optional<std::string> value = session.sources.variable(name.c_str()))
    return RunVariable{name, *std::move(value), true};
  if (::isatty(STDIN_FILENO) == 0)
    return std::unexpected(
        InvalidArgument("", "The secret " + name +
                                " has no value: the variable is not set here, and there is "
                                "no terminal to ask on. Set it: export " +
                                name + "=..."));
  session.console.Status("Value of the secret " + name + ": ");
  Result<std::string> value = ReadSilentLine();
  session.console.Status("\n");
  if (!value) return std::unexpected(InvalidArgument("", "The secret " + name + " needs a value."));
  return RunVariable{name, *std::move(value), true};
}

Result<std::vector<RunVariable>> ReadRunVariables(const CommandSession& session) {
  std::vector<RunVariable> variables;
  const auto& flags = session.arguments.flags;
  if (const auto given = flags.find("--env"); given != flags.end()) {
    for (const std::string& text : given->second) {
      TY_TRY(RunVariable variable, ParseVariable(text));
      variables.push_back(std::move(variable));
    }
  }
  if (const auto given = flags.find("--secret"); given != flags.end()) {
    for (const std::string& name : given->second) {
      TY_TRY(RunVariable variable, ReadSecret(session, name));
      variables.push_back(std::move(variable));
    }
  }
  return variables;
}

}  // namespace trainyard::cli
