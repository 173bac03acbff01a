#include "cli/commands.h"

#include <algorithm>
#include <array>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "base/text/suggestion.h"
#include "cli/command_session.h"
#include "cli/gcloud/common_flags.h"
#include "cli/help/completion.h"
#include "cli/help/meant_commands.h"
#include "cli/help/usage.h"
#include "cli/nearest_name.h"

namespace trainyard {
namespace {

using namespace cli;

constexpr int kUsageStatus = 2;

using Words = std::vector<std::string>;

/// The command's words without gcloud's group, and the program's name with it.
struct Invocation {
  std::string program = "trainyard";    ///< with "alpha" and "ai-platform", if given
  std::string untracked = "trainyard";  ///< without "alpha" or "beta": for suggested commands
  Words words;
};

/// Takes the flags in front of the command: "--project=x jobs list" means "jobs list --project=x".
Words TakeLeadingFlags(Words& words) {
  Words flags;
  while (!words.empty() && words.front().starts_with("--") && words.front().size() > 2) {
    std::string name = words.front().substr(0, words.front().find('='));
    auto spec = std::ranges::find(kCommonFlags, name, &FlagSpec::name);
    bool takes_next = spec != kCommonFlags.end() && !spec->is_switch() && name == words.front();
    std::size_t count = takes_next && words.size() > 1 ? 2 : 1;
    std::move(words.begin(), words.begin() + static_cast<std::ptrdiff_t>(count), std::back_inserter(flags));
    words.erase(words.begin(), words.begin() + static_cast<std::ptrdiff_t>(count));
  }
  return flags;
}

Invocation ReadInvocation(int argc, char** argv) {
  Invocation invocation{.words = Words(argv + 1, argv + argc)};
  const Words flags = TakeLeadingFlags(invocation.words);
  auto take = [&words = invocation.words](std::initializer_list<std::string_view> names) -> std::string {
    if (words.empty() || std::ranges::find(names, words.front()) == names.end()) return {};
    std::string taken = " " + words.front();
    words.erase(words.begin());
    return taken;
  };
  invocation.program += take({"alpha", "beta"});
  std::string group = take({"ai-platform", "ml-engine"});
  invocation.program += group;
  invocation.untracked += group;
  Words& words = invocation.words;
  const CommandMatch found = FindCommand(words);
  // The words after "--", or after a program's name, belong to the program.
  const auto place = found.command != nullptr && found.command->spec.program
                         ? words.begin() + static_cast<std::ptrdiff_t>(found.depth)
                         : std::ranges::find(words, "--");
  words.insert(place, flags.begin(), flags.end());
  return invocation;
}

std::string Dotted(std::string text) {
  std::ranges::replace(text, ' ', '.');
  return text;
}

std::string PathOf(const Words& words, std::size_t depth) {
  std::string path;
  for (std::size_t i = 0; i < depth; ++i) path += (i == 0 ? "" : " ") + words[i];
  return path;
}

void PrintError(const Console& console, const std::string& program, std::string_view path,
                const std::string& message) {
  console.Fail("(" + Dotted(program + (path.empty() ? "" : " ") + std::string(path)) + ") " + message);
}

/// What follows an error in the command line: gcloud's list of flags, or on a terminal, where it would push
/// the error out of sight, the command that prints it.
void PrintUsageHint(const Console& console, const CommandSpec& command, const std::string& program) {
  if (Console::ErrIsTerminal())
    console.Status("For its flags and examples, run:\n  " + program + " " + std::string(command.path) +
                   " --help\n");
  else
    console.Status(PrintUsage(command, program));
}

/// Commands of all groups that have a word like this one, at most five: "rerun" is "jobs rerun".
std::vector<std::string> CommandsLike(std::string_view word) {
  constexpr std::size_t kShownMax = 5;
  constexpr double kLikenessMin = 0.75;
  std::vector<std::string> paths;
  double best = kLikenessMin;
  for (const Command* command : Commands()) {
    const std::string path(command->spec.path);
    double likeness = 0;
    for (std::size_t start = 0; start < path.size();) {
      const std::size_t end = std::min(path.find_first_of(" -", start), path.size());
      likeness = std::max(likeness, text::Likeness(std::string_view(path).substr(start, end - start), word));
      start = end + 1;
    }
    if (likeness > best) paths.clear();
    if (likeness >= best) paths.push_back(path);
    best = std::max(best, likeness);
  }
  if (paths.size() > kShownMax) paths.resize(kShownMax);
  return paths;
}

/// Reports a group without a command, or with an unknown word.
int RefuseWords(const Invocation& invocation, std::size_t depth) {
  Console console({});
  std::string group = PathOf(invocation.words, depth);
  const Words& words = invocation.words;
  if (words.size() == depth || words[depth] == "--help" || words[depth] == "-h") {
    if (words.size() > depth) {
      console.Out(PrintGroup(group, invocation.program) + (depth == 0 ? "\n" + PrintGlobalFlags() : ""));
      return 0;
    }
    PrintError(console, invocation.program, group, "Command name argument expected.\n");
    console.Status(PrintGroup(group, invocation.program));
    return kUsageStatus;
  }
  PrintError(console, invocation.program, group, "Invalid choice: '" + words[depth] + "'.");
  std::vector<std::string_view> names;
  std::vector<Choice> choices = ChoicesIn(group);
  for (const Choice& choice : choices) names.push_back(choice.name);
  if (depth == 0) names.push_back("serve");
  const std::string prefix = group.empty() ? "" : group + " ";
  const std::string_view near = text::Suggest(words[depth], names);
  std::vector<std::string> meant = CommandsMeantBy(words[depth]);
  std::erase_if(meant, [&](const std::string& path) { return !path.starts_with(prefix); });
  if (meant.empty() && !near.empty()) meant.push_back(prefix + std::string(near));
  if (meant.empty()) meant = CommandsLike(words[depth]);
  if (meant.empty())
    for (std::string_view name : names) meant.push_back(prefix + std::string(name));
  std::string text = "Maybe you meant:\n";
  for (const std::string& path : meant) text += "  " + invocation.program + " " + path + "\n";
  console.Status(text + "\nTo see all commands, run:\n  " + invocation.program + " help\n");
  return kUsageStatus;
}

/// Runs a command that needs the server.
ExitStatus RunWithServer(const CommandSpec& command, ServerCommand run, const Invocation& invocation,
                         const Arguments& arguments, const SettingSources& sources, const Console& console) {
  std::optional<std::string> asked = arguments.Value("--format");
  const bool own = command.path == "jobs trials" && (asked == "csv" || asked == "table");
  if (own) asked.reset();  // a format that only this command has
  TY_TRY(OutputFormat format, ParseOutputFormat(asked));
  TY_TRY(ClientSession opened, OpenSession({arguments, sources, console}, invocation.untracked));
  opened.session.format = std::move(format);
  ExitStatus status = run(opened.session);
  if (status) return status;
  return std::unexpected(WithNearestName(std::move(status).error(), command, opened.session));
}

ExitStatus RunLocally(LocalCommand run, const Arguments& arguments, const SettingSources& sources,
                      const Console& console) {
  ExitStatus status = run({arguments, sources, console});
  if (status) return status;
  return std::unexpected(WithNearestName(std::move(status).error(), arguments, sources));
}

Console MakeConsole(const Arguments& arguments) {
  std::string verbosity = arguments.Value("--verbosity").value_or("warning");
  bool quiet = verbosity == "error" || verbosity == "critical" || verbosity == "none";
  return Console({.user_output = arguments.Value("--user-output-enabled") != "false", .warnings = !quiet});
}

ExitStatus RunCommand(const Command& command, const Invocation& invocation, const Arguments& arguments,
                      const Console& console) {
  for (const char* flag :
       {"--account", "--billing-project", "--impersonate-service-account", "--trace-token"})
    if (arguments.Has(flag))
      console.Warn(std::string(flag) + " has no effect on a Trainyard server and is not sent");
  SettingSources sources = ProcessSettingSources();
  if (const std::optional<std::string> data = arguments.Value("--data")) {
    sources.variable = [data, variable = std::move(sources.variable)](const char* name) {
      if (std::string_view(name) == "TRAINYARD_SERVER") return std::optional<std::string>();
      return std::string_view(name) == "TRAINYARD_DATA" ? data : variable(name);
    };
  }
  if (const auto* local = std::get_if<LocalCommand>(&command.run))
    return RunLocally(*local, arguments, sources, console);
  return RunWithServer(command.spec, std::get<ServerCommand>(command.run), invocation, arguments, sources,
                       console);
}

/// `help`, `help jobs`, `help jobs list`, `help --man`.
int ShowHelp(const Invocation& invocation, const Words& about, ServeFlags serve_flags) {
  if (about == Words{"--man"}) {
    Console({}).Out(PrintManPage(serve_flags()));
    return 0;
  }
  if (about == Words{"serve"}) {
    Console({}).Out(PrintServeHelp(serve_flags()));
    return 0;
  }
  CommandMatch found = FindCommand(about);
  if (found.command == nullptr && found.depth != about.size())
    return RefuseWords({invocation.program, invocation.untracked, about}, found.depth);
  Console console({});
  if (about.empty()) {
    console.Out(PrintGroup("", invocation.program) + "\n" + PrintGlobalFlags());
    return 0;
  }
  console.Out(found.command != nullptr ? PrintHelp(found.command->spec, invocation.program)
                                       : PrintGroup(PathOf(about, found.depth), invocation.program));
  return 0;
}

}  // namespace

int RunCommandLine(int argc, char** argv, const ServerSide& server) {
  if (argc > 2 && std::string_view(argv[1]) == "__complete")  // and "--": the line as it was typed
    return PrintCompletions(Words(argv + 3, argv + std::max(argc, 3)), server.flags(),
                            ProcessSettingSources(), Console({}));
  Invocation invocation = ReadInvocation(argc, argv);
  if (invocation.words.size() == 1 && invocation.words.front() == "--version") invocation.words = {"version"};
  CommandMatch found = FindCommand(invocation.words);
  if (found.command == nullptr) return RefuseWords(invocation, found.depth);
  Words rest(invocation.words.begin() + static_cast<std::ptrdiff_t>(found.depth), invocation.words.end());
  const CommandSpec& command = found.command->spec;
  if (command.path == "help") return ShowHelp(invocation, rest, server.flags);
  if (command.path == "config show") {  // its flags are those of `serve`
    if (std::ranges::find(rest, "--help") == rest.end()) return server.show_config(rest);
    return ShowHelp(invocation, {"config", "show"}, server.flags);
  }
  Result<Arguments> arguments = ParseArguments(command, invocation.program, rest);
  if (!arguments) {
    Console console({});
    const std::string& message = arguments.error().message;
    PrintError(console, invocation.program, command.path, message);
    if (message.find('\n') == std::string::npos) PrintUsageHint(console, command, invocation.program);
    return kUsageStatus;
  }
  if (arguments->Has("--help"))
    return ShowHelp(
        invocation,
        Words(invocation.words.begin(), invocation.words.begin() + static_cast<std::ptrdiff_t>(found.depth)),
        server.flags);
  if (command.path == "config check")
    return server.check_config(arguments->positionals.empty() ? "" : arguments->positionals.front());
  Console console = MakeConsole(*arguments);
  ExitStatus status = RunCommand(*found.command, invocation, *arguments, console);
  if (status) return *status;
  PrintError(Console({}), invocation.program, command.path, status.error().message);
  if (!IsUsageError(status.error())) return 1;
  PrintUsageHint(Console({}), command, invocation.program);
  return kUsageStatus;
}

}  // namespace trainyard
