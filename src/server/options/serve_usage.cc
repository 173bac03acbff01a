#include "server/options/serve_usage.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cctype>
#include <string_view>
#include <utility>

#include "base/text/suggestion.h"
#include "cli/console.h"

namespace trainyard::server {
namespace {

std::string Nearest(const std::string& word, const std::vector<std::string>& names) {
  const std::vector<std::string_view> choices(names.begin(), names.end());
  return std::string(text::Suggest(word, choices));
}

Error ExplainUnknown(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options()) names.push_back(FlagName(*option));
  std::string text = "unrecognized arguments:";
  for (const std::string& word : app.remaining()) {
    const std::string meant = Nearest(word.substr(0, word.find('=')), names);
    text += " " + word + (meant.empty() || !word.starts_with("--") ? "" : " (did you mean '" + meant + "'?)");
  }
  return InvalidArgument("", text);
}

}  // namespace

std::string FlagName(const CLI::Option& option) {
  return option.get_lnames().empty() ? "" : "--" + option.get_lnames().front();
}

std::string RefuseChoice(const std::string& text, const std::vector<std::string>& names) {
  std::string all;
  for (const std::string& name : names) all += (all.empty() ? "" : ", ") + name;
  const std::string meant = Nearest(text, names);
  return "Invalid choice: '" + text + "'. " + (meant.empty() ? "" : "Did you mean '" + meant + "'? ") +
         "Valid choices are [" + all + "].";
}

Error ExplainUsage(const CLI::App& app, const CLI::ParseError& error) {
  if (dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr) return ExplainUnknown(app);
  const std::string text = error.what();  // "--flag: reason"
  const std::size_t colon = text.find(": ");
  if (!text.starts_with("--") || colon == std::string::npos) return InvalidArgument("", text);
  const std::string flag = text.substr(0, colon);
  if (dynamic_cast<const CLI::ArgumentMismatch*>(&error) != nullptr)
    return InvalidArgument(flag, "expected one argument");
  return InvalidArgument(flag, text.substr(colon + 2));
}

int RefuseUsage(const Error& error, std::string_view command) {
  const std::string argument = error.field.empty() ? "" : "argument " + error.field + ": ";
  const cli::Console console({});
  console.Fail("(trainyard." + std::string(command) + ") " + argument + error.message);
  console.Status("For all flags, run:\n  trainyard serve --help\n");
  return kUsageStatus;
}

std::string HelpOf(const CLI::Option& option) {
  std::string text = option.get_description();
  if (text.empty()) return text;
  text.front() = static_cast<char>(std::toupper(static_cast<unsigned char>(text.front())));
  return text.ends_with('.') ? text : text + ".";
}

std::vector<cli::ServeFlag> FlagsOf(const CLI::App& app) {
  std::vector<cli::ServeFlag> flags;
  for (const CLI::Option* option : app.get_options()) {
    const bool takes_value = option->get_type_size_max() > 0;
    std::string value = takes_value ? option->get_type_name() : "";
    flags.push_back({.name = FlagName(*option),
                     .metavar = std::move(value),
                     .help = HelpOf(*option),
                     .fallback = option->get_default_str()});
  }
  std::ranges::sort(flags, {}, &cli::ServeFlag::name);
  return flags;
}

}  // namespace trainyard::server
