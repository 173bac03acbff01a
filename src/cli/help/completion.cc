#include "cli/help/completion.h"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "cli/gcloud/common_flags.h"
#include "rules/cluster/machine_type.h"

namespace trainyard::cli {
namespace {

using Names = Completion::Names;
using Words = std::vector<std::string>;

void Offer(Completion& completion, std::string_view word, std::string_view help) {
  if (word.starts_with(completion.begun))
    completion.candidates.push_back({completion.ahead + std::string(word), std::string(help)});
}

/// What a metavar or positional names.
Names NamesOf(std::string_view metavar) {
  static constexpr std::pair<std::string_view, Names> kNames[] = {
      {"JOB", Names::kJobs},       {"URL", Names::kObjects},       {"JOB_DIR", Names::kObjects},
      {"BUCKET", Names::kObjects}, {"FILE", Names::kFiles},        {"PATH", Names::kFiles},
      {"CONFIG", Names::kFiles},   {"PACKAGE,...", Names::kFiles}, {"DIR", Names::kDirectories},
      {"PROGRAM", Names::kFiles},  {"VERSION", Names::kRuntimes},  {"[FILE]", Names::kFiles}};
  for (const auto& [name, names] : kNames)
    if (name == metavar) return names;
  return Names::kNone;
}

/// Offers the values of a flag or positional.
void OfferValues(Completion& completion, std::string_view metavar, std::string_view flag) {
  for (std::string_view choice : ChoicesOf(metavar)) Offer(completion, choice, "");
  completion.names = NamesOf(metavar);
  if (metavar == "SOURCE")
    completion.names = completion.begun.starts_with("g") ? Names::kObjects : Names::kFiles;
  if (flag.ends_with("-version") && flag != "--runtime-version") completion.names = Names::kNone;
  if (flag == "--format")
    for (const char* format : {"json", "yaml", "value("}) Offer(completion, format, "");
  if (flag.ends_with("-machine-type"))
    for (const cluster::MachineType& machine : cluster::MachineTypes()) Offer(completion, machine.name, "");
}

/// Offers flags that the line does not have yet.
void OfferFlags(Completion& completion, std::span<const FlagSpec> flags) {
  for (const FlagSpec& flag : flags)
    if (!completion.arguments.Has(flag.name) || flag.repeated) Offer(completion, flag.name, flag.help);
}

void OfferCommands(Completion& completion, const std::string& group) {
  for (const Choice& choice : ChoicesIn(group))
    Offer(completion, choice.name, choice.is_group ? "a group of commands" : choice.summary);
  if (group.empty()) Offer(completion, "serve", kServeSummary);
}

/// The words before the last one, read as far as they can be.
struct Line {
  CommandMatch found;
  Words plain;                        ///< words that are no flags
  const FlagSpec* pending = nullptr;  ///< the last flag, if its value comes next
  bool after_dashes = false;
};

std::span<const FlagSpec> FlagsOf(const Line& line) {
  return line.found.command != nullptr ? line.found.command->spec.flags
                                       : std::span<const FlagSpec>(kCommonFlags);
}

const FlagSpec* FindFlag(std::span<const FlagSpec> flags, std::string_view name) {
  const auto found = std::ranges::find(flags, name, &FlagSpec::name);
  return found == flags.end() ? nullptr : &*found;
}

Line ReadLine(const Words& words, Arguments& arguments) {
  Line line;
  for (const std::string& word : words) {
    if (line.after_dashes) continue;
    if (line.pending != nullptr) {
      arguments.flags[std::string(line.pending->name)] = {word};
      line.pending = nullptr;
    } else if (word == "--") {
      line.after_dashes = true;
    } else if (word.starts_with("-")) {
      const std::size_t equals = word.find('=');
      const FlagSpec* flag = FindFlag(FlagsOf(line), word.substr(0, equals));
      if (flag == nullptr) continue;
      const bool has_value = equals != std::string::npos;
      arguments.flags[std::string(flag->name)] = {has_value ? word.substr(equals + 1) : "true"};
      if (!flag->is_switch() && !has_value) line.pending = flag;
    } else {
      line.plain.push_back(word);
      line.found = FindCommand(line.plain);
      const Command* command = line.found.command;
      const bool is_program = command != nullptr && command->spec.program;
      line.after_dashes = is_program && line.plain.size() > line.found.depth;
    }
  }
  if (line.pending != nullptr) arguments.flags.erase(std::string(line.pending->name));
  return line;
}

std::string PathOf(const Words& words) {
  std::string path;
  for (const std::string& word : words) path += (path.empty() ? "" : " ") + word;
  return path;
}

void OfferPositional(Completion& completion, const Line& line) {
  const CommandSpec& command = line.found.command->spec;
  const std::size_t given = line.plain.size() - line.found.depth;
  if (command.path == "help") {
    const Words about(line.plain.begin() + 1, line.plain.end());
    if (FindCommand(about).depth == about.size()) OfferCommands(completion, PathOf(about));
  } else if (command.path == "jobs submit training") {
    return;  // the name of a new job
  } else if (given == 0 || command.repeats) {
    OfferValues(completion, command.positional, "");
  } else if (given == 1) {
    OfferValues(completion, command.second, "");
  }
}

/// `serve`: its flags have a table of their own.
void OfferServe(Completion& completion, const Words& words, const std::vector<configuration::Key>& flags) {
  const std::string before = words.size() > 1 ? words.back() : "";
  const auto pending = std::ranges::find(flags, before, &configuration::Key::flag);
  if (pending != flags.end() && !pending->metavar.empty())
    return OfferValues(completion, pending->metavar, "");
  for (const configuration::Key& flag : flags) Offer(completion, flag.flag, flag.help);
}

/// `config show`: a file, then the flags of `serve`.
void OfferConfigShow(Completion& completion, const Words& words,
                     const std::vector<configuration::Key>& flags) {
  if (words.size() == 2 && !completion.begun.starts_with("-"))
    completion.names = Names::kFiles;
  else
    OfferServe(completion, words, flags);
}

/// "--flag=val" becomes "val" behind "--flag=".
const FlagSpec* SplitFlag(Completion& completion, std::span<const FlagSpec> flags) {
  const std::size_t equals = completion.begun.find('=');
  if (!completion.begun.starts_with("--") || equals == std::string::npos) return nullptr;
  const FlagSpec* flag = FindFlag(flags, completion.begun.substr(0, equals));
  completion.ahead = completion.begun.substr(0, equals + 1);
  completion.begun.erase(0, equals + 1);
  return flag;
}

}  // namespace

Completion Complete(Words words, const std::vector<configuration::Key>& serve_flags) {
  Completion completion;
  if (words.empty()) words.emplace_back();
  completion.begun = std::move(words.back());
  words.pop_back();
  for (std::string_view version : {"alpha", "beta", "ai-platform", "ml-engine"})
    if (!words.empty() && words.front() == version) words.erase(words.begin());
  if (!words.empty() && words.front() == "serve") {
    OfferServe(completion, words, serve_flags);
    return completion;
  }
  if (words.size() > 1 && words[0] == "config" && words[1] == "show") {
    OfferConfigShow(completion, words, serve_flags);
    return completion;
  }
  const Line line = ReadLine(words, completion.arguments);
  const bool is_value = line.pending != nullptr;
  const FlagSpec* flag = is_value ? line.pending : SplitFlag(completion, FlagsOf(line));
  if (line.after_dashes)
    completion.names = Names::kFiles;  // the program's own arguments
  else if (flag != nullptr && (is_value || !flag->is_switch()))
    OfferValues(completion, flag->metavar, flag->name);
  else if (completion.begun.starts_with("-") && completion.ahead.empty())
    OfferFlags(completion, FlagsOf(line));
  else if (line.found.command != nullptr)
    OfferPositional(completion, line);
  else if (line.found.depth == line.plain.size())
    OfferCommands(completion, PathOf(line.plain));
  return completion;
}

}  // namespace trainyard::cli
