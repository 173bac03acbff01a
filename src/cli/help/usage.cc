#include "cli/help/usage.h"

#include <algorithm>
#include <vector>

#include "cli/commands.h"
#include "cli/gcloud/common_flags.h"

namespace trainyard::cli {
namespace {

constexpr std::size_t kIndent = 25;
constexpr std::size_t kWidth = 80;

std::vector<std::string_view> OwnFlags(const CommandSpec& command) {
  std::vector<std::string_view> names;
  for (const FlagSpec& flag : command.flags)
    if (!flag.everywhere && !flag.beta) names.push_back(flag.name);
  std::ranges::sort(names);
  return names;
}

/// Words after a prefix, wrapped at the line width; further lines start below the first word.
std::string Fold(std::string_view prefix, const std::vector<std::string_view>& words,
                 std::string_view joint) {
  std::string out;
  std::string line(prefix);
  line.resize(std::max(kIndent, line.size()), ' ');
  bool fresh = true;
  for (std::size_t i = 0; i < words.size(); ++i) {
    std::string word(words[i]);
    if (i + 1 < words.size()) word += joint;
    if (!fresh && line.size() + 1 + word.size() > kWidth) {
      out += line + "\n";
      line = std::string(kIndent, ' ');
      fresh = true;
    }
    line += (fresh ? "" : " ") + word;
    fresh = false;
  }
  return out + line + "\n";
}

std::string FoldText(std::string_view text, std::size_t indent) {
  std::string out;
  std::string line(indent, ' ');
  bool fresh = true;
  while (!text.empty()) {
    std::size_t end = std::min(text.find(' '), text.size());
    std::string_view word = text.substr(0, end);
    if (!fresh && line.size() + 1 + word.size() > kWidth) {
      out += line + "\n";
      line = std::string(indent, ' ');
      fresh = true;
    }
    line += (fresh ? "" : " ") + std::string(word);
    fresh = false;
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return out + line + "\n";
}

std::string Title(std::string_view name, std::string_view metavar) {
  return "     " + std::string(name) + (metavar.empty() ? "" : "=" + std::string(metavar)) + "\n";
}

/// gcloud's way to keep them short: names only.
std::string GlobalFlagNames(std::string_view program) {
  std::string names;
  for (const FlagSpec& flag : kCommonFlags) names += (names.empty() ? "" : ", ") + std::string(flag.name);
  return FoldText(names, 4) + "\n    Run `" + std::string(program) + " help` for their descriptions.\n";
}

std::string Examples(std::string_view examples, std::string_view program) {
  std::string out;
  for (std::string_view rest = examples; !rest.empty();) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    out += "    $ " + std::string(program) + " " + std::string(rest.substr(0, end)) + "\n";
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return out.empty() ? out : "\nEXAMPLES\n" + out;
}

}  // namespace

std::string Synopsis(const CommandSpec& command) {
  std::string out(command.path);
  if (command.program)  // its flags come before the program; what follows is the program's
    return out + " [optional flags] " + std::string(command.positional) + " [ARGS ...]";
  if (!command.positional.empty())
    out += " " + std::string(command.positional) + (command.repeats ? " ..." : "");
  if (!command.second.empty()) out += " " + std::string(command.second);
  out += " [optional flags]";
  return out + (command.passthrough ? " [-- USER_ARGS ...]" : "");
}

std::string PrintUsage(const CommandSpec& command, std::string_view program) {
  return "Usage: " + std::string(program) + " " + Synopsis(command) + "\n" +
         Fold("  optional flags may be  ", OwnFlags(command), " |") +
         "\nFor detailed information on this command and its flags, run:\n  " + std::string(program) + " " +
         std::string(command.path) + " --help\n";
}

std::string PrintHelp(const CommandSpec& command, std::string_view program) {
  std::string out = "NAME\n    " + std::string(program) + " " + std::string(command.path) + " - " +
                    std::string(command.summary) + "\n\nSYNOPSIS\n    " + std::string(program) + " " +
                    Synopsis(command) + "\n" + Examples(command.examples, program);
  std::string own;
  for (const FlagSpec& flag : command.flags)
    if (!flag.everywhere && flag.name != "--help")
      own += "\n" + Title(flag.name, flag.metavar) + FoldText(flag.help, 8);
  if (command.path == "config show")
    out += "\nFLAGS\n    The flags of `" + std::string(program) + " serve`.\n";
  if (!own.empty()) out += "\nFLAGS" + own;
  const bool has_global = std::ranges::any_of(command.flags, &FlagSpec::everywhere);
  return has_global ? out + "\nGLOBAL FLAGS\n" + GlobalFlagNames(program) : out;
}

std::string PrintServeHelp(const std::vector<configuration::Key>& flags) {
  std::string out = "NAME\n    trainyard serve\n" + FoldText(kServeSummary, 8) +
                    "\nSYNOPSIS\n    trainyard serve [optional flags]\n" +
                    Examples(kServeExamples, "trainyard") + "\nFLAGS";
  for (const configuration::Key& flag : flags) {
    const std::string fallback = flag.fallback.empty() ? "" : " Default: " + flag.fallback + ".";
    out += "\n" + Title(flag.flag, flag.metavar) + FoldText(flag.help + fallback, 8);
  }
  return out;
}

std::string PrintGlobalFlags() {
  std::string out = "Flags of all commands:\n";
  for (const FlagSpec& flag : kCommonFlags)
    out += "\n" + Title(flag.name, flag.metavar) + FoldText(flag.help, 8);
  return out;
}

std::string PrintGroup(std::string_view group, std::string_view program) {
  std::string path = std::string(program) + (group.empty() ? "" : " " + std::string(group));
  std::string groups;
  std::string commands;
  for (const Choice& choice : ChoicesIn(group)) {
    std::string line = "      " + std::string(choice.name);
    if (!choice.summary.empty()) {
      line.resize(std::max<std::size_t>(30, line.size() + 2), ' ');
      line += choice.summary;
    }
    (choice.is_group ? groups : commands) += line + "\n";
  }
  if (group.empty())
    commands += "      serve                   Run the server. `trainyard serve --help` lists its flags.\n";
  std::string out;
  if (!groups.empty()) out += "Available groups for " + path + ":\n\n" + groups + "\n";
  out += "Available commands for " + path + ":\n\n" + commands;
  return out + "\nFor detailed information on a command and its flags, run:\n  " + path + " COMMAND --help\n";
}

}  // namespace trainyard::cli
