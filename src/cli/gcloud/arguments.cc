#include "cli/gcloud/arguments.h"
#include "base/text/suggestion.h"

#include <algorithm>
#include <utility>

namespace trainyard::cli {
namespace {

const FlagSpec* FindFlag(const CommandSpec& command, std::string_view name) {
  for (const FlagSpec& flag : command.flags)
    if (flag.name == name) return &flag;
  return nullptr;
}

bool IsNumber(std::string_view text) {
  return text.size() > 1 && text.front() == '-' &&
         text.find_first_not_of("0123456789.", 1) == std::string_view::npos;
}

std::string_view LongName(std::string_view word) {
  if (word == "-q") return "--quiet";
  if (word == "-r" || word == "-R") return "--recursive";
  if (word == "-l") return "--long";
  return word;
}

/// argparse's rule for what can be a flag's value or a positional.
bool LooksLikeFlag(std::string_view word) {
  return word.size() > 1 && word.front() == '-' && !IsNumber(word) &&
         word.find(' ') == std::string_view::npos;
}

Error ArgumentError(std::string_view flag, std::string_view reason) {
  return InvalidArgument("", "argument " + std::string(flag) + ": " + std::string(reason));
}

/// Choices in gcloud's words.
Status CheckChoice(std::string_view metavar, std::string_view value) {
  const std::vector<std::string_view> choices = ChoicesOf(metavar);
  if (choices.empty() || std::ranges::find(choices, value) != choices.end()) return {};
  std::string message = "Invalid choice: '" + std::string(value) + "'.";
  if (const std::string_view meant = text::Suggest(value, choices); !meant.empty())
    return std::unexpected(InvalidArgument("", message + " Did you mean '" + std::string(meant) + "'?"));
  std::string all;
  for (std::string_view choice : choices) all += (all.empty() ? "" : ", ") + std::string(choice);
  return std::unexpected(InvalidArgument("", message + " Valid choices are [" + all + "]."));
}

Error Unrecognized(const CommandSpec& command, std::string_view program,
                   const std::vector<std::string>& words) {
  std::vector<std::string_view> names;
  for (const FlagSpec& flag : command.flags) names.push_back(flag.name);
  std::vector<std::string> lines;
  for (const std::string& word : words) {
    if (std::ranges::find(lines, word) != lines.end()) continue;
    std::size_t equals = word.find('=');
    bool suggests = word.starts_with("--") || (equals != std::string::npos && equals + 1 < word.size());
    std::string_view meant = suggests ? text::Suggest(word.substr(0, equals), names) : std::string_view();
    lines.push_back(meant.empty() ? word : word + " (did you mean '" + std::string(meant) + "'?)");
  }
  bool many = lines.size() > 1;
  std::string text = "unrecognized arguments:";
  for (const std::string& line : lines) text += (many ? "\n  " : " ") + line;
  std::string hint = "To see what this command takes, run:\n  " + std::string(program) + " " +
                     std::string(command.path) + " --help";
  return InvalidArgument("", text + (many ? "\n  " : " \n\n") + hint);
}

Status CheckGroup(const FlagGroup& group, const Arguments& arguments) {
  std::vector<std::string_view> given;
  std::vector<std::string_view> missing;
  std::string all;
  for (std::string_view flag : group.flags) {
    (arguments.Has(flag) ? given : missing).push_back(flag);
    all += (all.empty() ? "" : " | ") + std::string(flag);
  }
  if (given.empty()) return {};
  switch (group.rule) {
    case FlagGroup::Rule::kExclusive:
      if (given.size() > 1)
        return std::unexpected(ArgumentError(given.front(), "At most one of " + all + " can be specified."));
      return {};
    case FlagGroup::Rule::kAllOrNone: {
      if (missing.empty()) return {};
      std::string names;
      for (std::string_view flag : missing) names += (names.empty() ? "" : " ") + std::string(flag);
      return std::unexpected(ArgumentError(names, "Must be specified."));
    }
    case FlagGroup::Rule::kFirstNeeded: {
      if (missing.empty() || missing.front() != group.flags.front()) return {};
      std::string names;
      for (std::string_view flag : given) names += (names.empty() ? "" : " ") + std::string(flag);
      return std::unexpected(ArgumentError(names, std::string(group.flags.front()) + " must be specified."));
    }
  }
  return {};
}

class ArgumentParser {
 public:
  ArgumentParser(const CommandSpec& command, const std::vector<std::string>& words)
      : command_(command), words_(words) {}

  /// Parses all words. Unknown words are collected; a bad value is returned immediately.
  Status Run() {
    for (; next_ < words_.size(); ++next_) {
      const std::string& word = words_[next_];
      if (word == "--") return Rest();
      if (word == "-h" || word == "--help") {
        arguments.flags["--help"] = {"true"};
        return {};
      }
      if (command_.program && (word == "-m" || !LooksLikeFlag(word))) {
        arguments.positionals.push_back(word);
        return Rest();
      }
      if (LooksLikeFlag(word) ||
          FindFlag(command_, std::string_view(word).substr(0, word.find('='))) != nullptr) {
        TY_RETURN_IF_ERROR(Flag(std::string(LongName(word))));
      } else if (!command_.positional.empty() &&
                 (arguments.positionals.size() < PositionalsMax() || command_.repeats)) {
        arguments.positionals.push_back(word);
      } else {
        unknown.push_back(word);
      }
    }
    return {};
  }

  Arguments arguments;
  std::vector<std::string> unknown;

 private:
  [[nodiscard]] std::size_t PositionalsMax() const { return command_.second.empty() ? 1 : 2; }

  Status Rest() {
    std::vector<std::string> rest(words_.begin() + static_cast<std::ptrdiff_t>(next_) + 1, words_.end());
    if (command_.passthrough || command_.program)
      arguments.passthrough = std::move(rest);
    else if (command_.repeats)
      arguments.positionals.insert(arguments.positionals.end(), rest.begin(), rest.end());
    else
      unknown.insert(unknown.end(), rest.begin(), rest.end());
    next_ = words_.size();
    return {};
  }

  Status Flag(const std::string& word) {
    std::size_t equals = word.find('=');
    std::string name = word.substr(0, equals);
    const FlagSpec* flag = FindFlag(command_, name);
    if (flag == nullptr && name.starts_with("--no-") && equals == std::string::npos) {
      const FlagSpec* turned_off = FindFlag(command_, "--" + name.substr(5));
      if (turned_off != nullptr && turned_off->is_switch()) {
        arguments.flags[std::string(turned_off->name)] = {"false"};
        return {};
      }
    }
    if (flag == nullptr) {
      unknown.push_back(word);
      return {};
    }
    if (flag->is_switch()) {
      if (equals != std::string::npos)
        return std::unexpected(
            ArgumentError(name, "ignored explicit argument '" + word.substr(equals + 1) + "'"));
      arguments.flags[name] = {"true"};
      return {};
    }
    bool has_next =
        next_ + 1 < words_.size() && words_[next_ + 1] != "--" && !LooksLikeFlag(words_[next_ + 1]);
    if (equals == std::string::npos && !has_next)
      return std::unexpected(ArgumentError(name, "expected one argument"));
    std::string value = equals == std::string::npos ? words_[++next_] : word.substr(equals + 1);
    const Status ok = flag->check != nullptr ? flag->check(value) : CheckChoice(flag->metavar, value);
    if (!ok) return std::unexpected(ArgumentError(name, ok.error().message));
    std::vector<std::string>& values = arguments.flags[name];
    if (!flag->repeated) values.clear();
    values.push_back(std::move(value));
    return {};
  }

  const CommandSpec& command_;
  const std::vector<std::string>& words_;
  std::size_t next_ = 0;
};

}  // namespace

Error UsageError(std::string_view argument, std::string_view reason) {
  Error error = ArgumentError(argument, reason);
  error.field = "argument " + std::string(argument);
  return error;
}

bool IsUsageError(const Error& error) {
  return error.code == Code::kInvalidArgument && error.field.starts_with("argument ");
}

std::vector<std::string_view> ChoicesOf(std::string_view metavar) {
  static constexpr std::string_view kPlain = "abcdefghijklmnopqrstuvwxyz0123456789-|";
  std::vector<std::string_view> choices;
  if (metavar.find('|') == std::string_view::npos ||
      metavar.find_first_not_of(kPlain) != std::string_view::npos)
    return choices;
  while (!metavar.empty()) {
    const std::size_t end = std::min(metavar.find('|'), metavar.size());
    choices.push_back(metavar.substr(0, end));
    metavar.remove_prefix(std::min(end + 1, metavar.size()));
  }
  return choices;
}

std::optional<std::string> Arguments::Value(std::string_view flag) const {
  const std::vector<std::string>& values = Values(flag);
  return values.empty() ? std::nullopt : std::optional(values.back());
}

const std::vector<std::string>& Arguments::Values(std::string_view flag) const {
  static const std::vector<std::string> kNone;
  const auto found = flags.find(flag);
  return found == flags.end() ? kNone : found->second;
}

Result<Arguments> ParseArguments(const CommandSpec& command, std::string_view program,
                                 const std::vector<std::string>& words) {
  ArgumentParser parser(command, words);
  TY_RETURN_IF_ERROR(parser.Run());
  if (parser.arguments.Has("--help")) return std::move(parser.arguments);
  if (!parser.unknown.empty()) return std::unexpected(Unrecognized(command, program, parser.unknown));
  for (const FlagSpec& flag : command.flags)
    if (flag.required && !parser.arguments.Has(flag.name))
      return std::unexpected(ArgumentError(flag.name, "Must be specified."));
  for (const FlagGroup& group : command.groups) TY_RETURN_IF_ERROR(CheckGroup(group, parser.arguments));
  if (!command.positional.empty() && !command.optional && parser.arguments.positionals.empty())
    return std::unexpected(ArgumentError(command.positional, "Must be specified."));
  const bool second_needed = !command.second.empty() && !command.second.starts_with('[');
  if (second_needed && parser.arguments.positionals.size() < 2)
    return std::unexpected(ArgumentError(command.second, "Must be specified."));
  for (const std::string& word : parser.arguments.positionals)
    if (Status ok = CheckChoice(command.positional, word); !ok)
      return std::unexpected(ArgumentError(command.positional, ok.error().message));
  return std::move(parser.arguments);
}

}  // namespace trainyard::cli
