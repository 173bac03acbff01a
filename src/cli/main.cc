#include "cli/commands.h"

#include <algorithm>
#include <array>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "async/file.h"
#include "cli/command_session.h"
#include "cli/gcloud/common_flags.h"
#include "cli/usage.h"
#include "cli/version.h"
#include "text/suggestion.h"

namespace trainyard {
namespace {

using namespace cli;

constexpr int kUsageStatus = 2;
constexpr std::size_t kTokenBytesMax = std::size_t{64} << 10;

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
    bool takes_next = spec != kCommonFlags.end() && spec->kind == FlagKind::kValue && name == words.front();
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
  const FoundCommand found = FindCommand(words);
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
  console.Status("ERROR: (" + Dotted(program + (path.empty() ? "" : " ") + std::string(path)) + ") " +
                 message + "\n");
}

/// Reports a group without a command, or with an unknown word.
int RefuseWords(const Invocation& invocation, std::size_t depth) {
  Console console({});
  std::string group = PathOf(invocation.words, depth);
  const Words& words = invocation.words;
  if (words.size() == depth || words[depth] == "--help" || words[depth] == "-h") {
    bool asked = words.size() > depth;
    if (asked) {
      console.Out(PrintGroup(group, invocation.program));
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
  std::string prefix = "  " + invocation.program + " " + (group.empty() ? "" : group + " ");
  std::string_view meant = text::Suggest(words[depth], names);
  std::string text = "Maybe you meant:\n";
  for (std::string_view name : names)
    if (meant.empty() || name == meant) text += prefix + std::string(name) + "\n";
  console.Status(text + "\nTo see all commands, run:\n  " + invocation.program + " help\n");
  return kUsageStatus;
}

Result<std::string> ReadToken(const Arguments& arguments, const SettingSources& sources) {
  std::optional<std::string> path = arguments.Value("--access-token-file");
  if (!path) path = sources.variable("CLOUDSDK_AUTH_ACCESS_TOKEN_FILE");
  if (!path) return std::string();
  TY_TRY(std::string token, ReadFile(*path, kTokenBytesMax));
  token.erase(token.find_last_not_of(" \r\n\t") + 1);
  return token;
}

/// Runs a command that needs the server.
ExitStatus RunWithServer(const CommandSpec& command, ServerCommand run, const Invocation& invocation,
                         const Arguments& arguments, const SettingSources& sources, const Console& console) {
  std::optional<std::string> asked = arguments.Value("--format");
  const bool own = command.path == "jobs trials" && (asked == "csv" || asked == "table");
  if (own) asked.reset();  // a format that only this command has
  TY_TRY(OutputFormat format, ParseOutputFormat(asked));
  ClientSetting server = FindServer(sources, arguments.Value("--server"));
  TY_TRY(std::string token, ReadToken(arguments, sources));
  std::optional<ServerNote> note = ReadServerNote(sources, DefaultDataDir(sources));
  bool noted_tls = note && server.value.starts_with("https://") && server.value == note->tls_url;
  ApiEndpoint endpoint{
      .url = server.value,
      .ca_file = noted_tls ? note->ca_file : "",
      .token = std::move(token),
      .hidden = server.source == "default" ? WhyNoteIsForbidden(sources, DefaultDataDir(sources)) : ""};
  endpoint.on_wait = [&console] { console.Status(std::string(kServerAway)); };
  Result<std::unique_ptr<ApiClient>> client = MakeApiClient(endpoint);
  if (!client)
    return std::unexpected(InvalidArgument("", "The server's address [" + server.value +
                                                   "] (from: " + server.source +
                                                   ") is not valid: " + client.error().message));
  ClientSetting project =
      FindProject(sources, arguments.Value("--project"), arguments.Value("--configuration"));
  CommandSession session{.arguments = arguments,
                         .sources = sources,
                         .console = console,
                         .client = **client,
                         .program = invocation.untracked,
                         .server = server,
                         .project = project,
                         .format = format};
  return run(session);
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
  if (command.spec.path == "version") {
    console.Out("trainyard " + std::string(kVersion) + "\n");
    return 0;
  }
  if (const auto* local = std::get_if<LocalCommand>(&command.run))
    return (*local)(arguments, sources, console);
  return RunWithServer(command.spec, std::get<ServerCommand>(command.run), invocation, arguments, sources,
                       console);
}

/// `help`, `help jobs`, `help jobs list`.
int ShowHelp(const Invocation& invocation, const Words& about) {
  FoundCommand found = FindCommand(about);
  if (found.command == nullptr && found.depth != about.size())
    return RefuseWords({invocation.program, invocation.untracked, about}, found.depth);
  Console console({});
  console.Out(found.command != nullptr ? PrintHelp(found.command->spec, invocation.program)
                                       : PrintGroup(PathOf(about, found.depth), invocation.program));
  return 0;
}

}  // namespace

int RunCommandLine(int argc, char** argv) {
  Invocation invocation = ReadInvocation(argc, argv);
  if (invocation.words.size() == 1 && invocation.words.front() == "--version") invocation.words = {"version"};
  FoundCommand found = FindCommand(invocation.words);
  if (found.command == nullptr) return RefuseWords(invocation, found.depth);
  Words rest(invocation.words.begin() + static_cast<std::ptrdiff_t>(found.depth), invocation.words.end());
  const CommandSpec& command = found.command->spec;
  if (command.path == "help") return ShowHelp(invocation, rest);
  Result<Arguments> arguments = ParseArguments(command, invocation.program, rest);
  if (!arguments) {
    Console console({});
    const std::string& message = arguments.error().message;
    PrintError(console, invocation.program, command.path, message);
    if (message.find('\n') == std::string::npos) console.Status(PrintUsage(command, invocation.program));
    return kUsageStatus;
  }
  if (arguments->Has("--help"))
    return ShowHelp(invocation, Words(invocation.words.begin(),
                                      invocation.words.begin() + static_cast<std::ptrdiff_t>(found.depth)));
  Console console = MakeConsole(*arguments);
  ExitStatus status = RunCommand(*found.command, invocation, *arguments, console);
  if (status) return *status;
  PrintError(Console({}), invocation.program, command.path, status.error().message);
  return 1;
}

}  // namespace trainyard
